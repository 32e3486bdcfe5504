using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;

namespace Corfu.Simulation.Workload.Log;

/// <summary>Fills positions that some client knows to be granted.</summary>
internal sealed class FillWorkload(World world, ClusterMonitor monitor, Ledger ledger, PageNotes notes)
    : IWorkload<LogClient>
{
    public IEnumerable<WorkloadAction<LogClient>> Actions =>
    [
        new(static p => p.Fill, (client, random) => FillAsync(client, ledger.SomeGranted(random)))
        {
            IsPossible = () => ledger.AnyGranted,
        },
    ];

    public async Task FillAsync(LogClient client, LogPosition position)
    {
        long start = world.Steps;
        monitor.FillAskedFor(position);
        try
        {
            notes.Add(client.Number, start, await client.Log.FillAsync(position), ReadDetail.Full);
        }
        catch (PositionNotGrantedException)
        {
            // R10: granted by an epoch that ended before a client wrote there, and not yet by the next one.
            monitor.Mark("fill of a grant that died with its epoch");
        }
    }
}
