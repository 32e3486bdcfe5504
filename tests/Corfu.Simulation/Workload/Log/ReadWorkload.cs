using System.Collections.Immutable;
using Corfu.Simulation.Kernel;

namespace Corfu.Simulation.Workload.Log;

/// <summary>Reads of a few positions at once.</summary>
internal sealed class ReadWorkload(World world, Ledger ledger, PageNotes notes) : IWorkload<LogClient>
{
    public IEnumerable<WorkloadAction<LogClient>> Actions => [new(static p => p.Read, ReadAsync)];

    private async Task ReadAsync(LogClient client, SimRandom random)
    {
        int count = random.Between(1, 5);
        ImmutableArray<LogPosition> positions = [.. Enumerable.Range(0, count)
            .Select(_ => new LogPosition(ledger.SomePosition(random))).Distinct()];
        // A read of what is not granted yet must say so; holes are closed only in the other mode.
        ReadMode mode = random.Chance(0.3) ? ReadMode.Observe : ReadMode.CloseHoles;
        ReadDetail detail = random.Chance(0.8) ? ReadDetail.Full : ReadDetail.Headers;
        long start = world.Steps;
        ImmutableArray<LogReadResult> results = await client.Log.ReadManyAsync(positions, detail, mode);
        for (int i = 0; i < results.Length; i++)
        {
            if (results[i].Position != positions[i])
                world.Fail($"read of {positions[i]} answered {results[i].Position}");
            notes.Add(client.Number, start, results[i], detail);
        }
    }
}
