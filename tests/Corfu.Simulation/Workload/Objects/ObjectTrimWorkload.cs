using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Tango;

namespace Corfu.Simulation.Workload.Objects;

/// <summary>
/// Prefix trims under objects, as the trim point allows: claims of objects, and of readers that hold the log for a
/// while. In seeds without checkpoints those that are recorded are not made, so that no client may come later
/// (SeedPlan.TrimsObjects). Entries that a client has still to play stay.
/// </summary>
internal sealed class ObjectTrimWorkload(
    SeedPlan plan, ClusterMonitor monitor, OpenClients clients, LogHolds holds, Naps naps) : ITangoWorkload
{
    private const double Share = 0.04;
    private const double ShareOfNaps = 0.3;

    private readonly CheckpointActs _checkpoints = new(monitor);

    public async Task BeforeStepAsync(TangoClient client, SimRandom random)
    {
        if (random.Chance(Share)) await TrimOrHoldAsync(client, random);
        await naps.SleepAsync(client);
    }

    private async Task TrimOrHoldAsync(TangoClient client, SimRandom random)
    {
        if (clients.Count < plan.Clients) return;
        try
        {
            bool trims = random.Chance(0.5);
            if (plan.Checkpoints && random.Chance(ShareOfNaps)) naps.FallAsleep(client);
            else if (trims && plan.Checkpoints) await _checkpoints.CheckpointOrTrimAsync(client, random);
            else if (trims) await TrimAsync(client, random);
            else if (random.Chance(0.6)) await holds.HoldAsync(client, random);
            else await holds.LetOldestGoAsync(client);
        }
        catch (Exception e) when (e is TangoInDoubtException || LogRefusal.Is(e))
        {
            monitor.Mark("operation given up");
        }
    }

    private async Task TrimAsync(TangoClient client, SimRandom random)
    {
        long below = clients.LowestPlayed - random.Next(10);
        foreach (ObjectId cohort in client.Runtime.Services.Playback.Directory.Published.Claims.Cohorts.Keys)
        {
            LogPosition end = new(Math.Max(0, below));
            try
            {
                await client.Runtime.Services.Handle.CheckpointedAsync(cohort, end, end, null, default);
            }
            catch (TangoRejectedException)
            {
                monitor.Mark("claim of a checkpoint refused");
            }
        }

        // A reader that comes meanwhile is either heeded or refused.
        Task hold = random.Chance(0.5) ? holds.HoldAsync(client, random) : Task.CompletedTask;
        try
        {
            await client.Runtime.Log.TrimAsync();
        }
        finally
        {
            await hold;
        }
    }
}
