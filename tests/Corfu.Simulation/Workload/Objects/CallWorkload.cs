using Corfu.Simulation.Kernel;

namespace Corfu.Simulation.Workload.Objects;

/// <summary>Updates and reads of one key, each a call of its own.</summary>
internal sealed class CallWorkload(RecordedCalls calls) : ITangoWorkload
{
    public IEnumerable<WorkloadAction<TangoClient>> Actions =>
    [
        new(7, (client, random) => calls.UpdateAsync(client, random.Pick(client.WritableKeys)), writes: true),
        new(7, (client, random) => calls.ReadAsync(client, random.Pick(client.ReadableKeys))),
    ];
}
