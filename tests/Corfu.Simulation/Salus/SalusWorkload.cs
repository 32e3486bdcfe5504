using Corfu.Simulation.Kernel;
using Corfu.Simulation.Workload;
using Salus;

namespace Corfu.Simulation.Salus;

/// <summary>The calls of a run's writers: each mounts the volume, reads what is there, reads and writes for a while,
/// and lets the next one mount.</summary>
internal sealed class SalusWorkload(SalusCluster cluster, SalusHistory history, Ledger ledger)
{
    private const int AuditBlocks = 16;
    private const int MostSnapshots = 3;

    private SalusPlan Plan => cluster.Plan;

    private int Blocks => (int)Plan.Geometry.Blocks;

    public async Task RunAsync(SimVolumeWriter writer)
    {
        var random = cluster.World.Random.Split($"salus work {writer.Name} {writer.Process!.Id}");
        while (!ledger.Exhausted)
        {
            if (await MountAsync(writer) is not { } user) continue;
            await using (user.Mounted)
            {
                await ReadSomeAsync(user, random);
                var left = random.Between(1, 2 * Plan.Tenure);
                await Task.WhenAll(Enumerable.Range(0, Plan.Workers).Select(worker => LoopAsync(user,
                    cluster.World.Random.Split($"{writer.Name} {writer.Process.Id} {user.Mount.Name} {worker}"),
                    () => --left >= 0)));
                // A tenure that ends in order leaves no write in doubt.
                if (Plan.IsOrdered && !user.IsOver) await user.FlushAsync();
            }

            writer.IsMounted = false;
        }
    }

    /// <summary>Reads everything once more, when all is healed.</summary>
    public async Task AuditAsync(SimVolumeWriter writer)
    {
        while (true)
        {
            if (await MountAsync(writer) is not { } user) continue;
            await using (user.Mounted)
            {
                var isWhole = true;
                for (var block = 0; block < Blocks; block += AuditBlocks)
                    isWhole &= await user.ReadAsync(block, Math.Min(AuditBlocks, Blocks - block));
                if (isWhole) return;
            }
        }
    }

    private async Task<VolumeUser?> MountAsync(SimVolumeWriter writer)
    {
        try
        {
            var volume = await writer.Source!.MountAsync(default);
            writer.IsMounted = true;
            cluster.Monitor.Mark("volume mounted");
            var head = cluster.Truth.StateOf(cluster.Volumes[writer.Volume].Id).Head;
            return new VolumeUser(cluster, history, volume,
                history.Mounted(writer.Volume, head.Run, writer.Name, head.Losses.Length),
                ledger, writer);
        }
        catch (VolumeException e)
        {
            cluster.Monitor.Mark($"mount failed: {e.Fault}");
            await Task.Delay(TimeSpan.FromMilliseconds(20), writer.Process!.Time);
            return null;
        }
    }

    // The content that a tenure begins with: all, or a part.
    private async Task ReadSomeAsync(VolumeUser user, SimRandom random)
    {
        var share = random.Pick([1, 1, 0.3, 0]);
        for (var block = 0; block < Blocks && !user.IsOver; block += AuditBlocks)
        {
            if (random.Chance(share)) await user.ReadAsync(block, Math.Min(AuditBlocks, Blocks - block));
        }
    }

    private async Task LoopAsync(VolumeUser user, SimRandom random, Func<bool> next)
    {
        while (!user.IsOver && !ledger.Exhausted && next())
        {
            await CallAsync(user, random);
            await Task.Delay(TimeSpan.FromTicks(random.Exponential(Plan.Think) + 1), user.Time);
        }
    }

    // Old snapshots are read again, and deleted at last.
    private async Task SnapshotAsync(VolumeUser user, SimRandom random)
    {
        var known = history.SnapshotsOf(user.Volume);
        if (known.Count == 0 || (known.Count < MostSnapshots && random.Chance(0.4)))
            await user.SnapshotAsync($"snap{ledger.NextPayload()}");
        else if (known.Count < MostSnapshots || random.Chance(0.5))
            await user.ReadSnapshotAsync(random.Pick(known), random);
        else
            await user.DeleteSnapshotAsync(known[0]);
    }

    private bool IsDurable(SimRandom random) => !Plan.IsOrdered || random.Chance(0.05);

    private async Task CallAsync(VolumeUser user, SimRandom random)
    {
        var count = random.Between(1, Plan.MaxBlocks);
        // A few blocks are written again and again.
        var first = random.Chance(0.5) ? random.Next(Blocks) : random.Next(8) * (Blocks / 8);
        count = Math.Min(count, Blocks - first);
        if (random.Chance(Plan.Snapshots)) await SnapshotAsync(user, random);
        else if (random.Chance(Plan.Reads)) await user.ReadAsync(first, count);
        else if (random.Chance(0.03)) await user.FlushAsync();
        else if (random.Chance(Plan.Clears))
            await user.ClearAsync(first, Math.Min(random.Between(1, 80), Blocks - first), IsDurable(random));
        else await user.WriteAsync(first, count, IsDurable(random));
    }
}
