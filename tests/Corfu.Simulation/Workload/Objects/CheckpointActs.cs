using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Tango;

namespace Corfu.Simulation.Workload.Objects;

/// <summary>Checkpoints and trims on demand, where runtimes make checkpoints by themselves: clients start again from
/// these.</summary>
internal sealed class CheckpointActs(ClusterMonitor monitor)
{
    private const double ShareOfCheckpoints = 0.3;

    public async Task CheckpointOrTrimAsync(TangoClient client, SimRandom random)
    {
        try
        {
            if (random.Chance(ShareOfCheckpoints)) await CheckpointAsync(client);
            else await TrimAsync(client, random);
        }
        catch (Exception e) when (LogRefusal.Is(e) || e is TangoInDoubtException or TangoDirectoryException
            or TangoClaimedException or TangoFormatException)
        {
            monitor.Mark("checkpoint or trim given up");
        }
        catch (TangoTrimmedException)
        {
            monitor.Mark("client fell behind a trim");
        }
        catch (TangoObjectStoppedException e) when (Stumbles.Explains(e))
        {
            monitor.Mark("object stopped by its code");
        }
    }

    private async Task CheckpointAsync(TangoClient client)
    {
        if (client.IsOld) return;
        await client.Runtime.Checkpoints.WriteAsync(client.CellsObject);
        foreach (string solo in client.HostedSolos) await client.Runtime.Checkpoints.WriteAsync(client.SoloOf(solo));
        await client.Runtime.Checkpoints.WriteDirectoryAsync();
        monitor.Mark("object checkpointed");
    }

    // A client that has not played so far loads checkpoints (R22).
    private static async Task TrimAsync(TangoClient client, SimRandom random)
    {
        TangoTrimPoint point = await client.Runtime.Log.ReadTrimPointAsync();
        long below = point.Claims.Min(static claim => claim.Position).Offset - random.Next(10);
        if (below > 0) await client.Runtime.Log.TrimBelowAsync(new LogPosition(below));
    }
}
