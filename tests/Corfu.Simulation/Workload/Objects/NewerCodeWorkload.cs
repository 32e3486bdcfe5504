namespace Corfu.Simulation.Workload.Objects;

/// <summary>Updates of the lone registers that older code cannot read (R23).</summary>
internal sealed class NewerCodeWorkload(RecordedCalls calls) : ITangoWorkload
{
    public IEnumerable<Detour> Detours =>
    [
        new(0.04, static client => !client.IsOld, (client, random) =>
            calls.UpdateAsync(client, random.Pick(TangoClient.SoloKeys), WrittenValue.NewerMark)),
    ];
}
