using Corfu.Simulation.Checkers;
using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Tango;
using Tango.Collections;

namespace Corfu.Simulation.Workload.Coordination;

/// <summary>Takes a lock and writes what it guards. In the end the lock can be taken.</summary>
internal sealed class LockWorkload(SeedPlan plan, CoordinationHistory history, ClusterMonitor monitor, Ledger ledger)
    : IWorkload<CoordinationClient>
{
    public IEnumerable<WorkloadAction<CoordinationClient>> Actions => [new(30, LockAsync, writes: true)];

    public async Task SettleAsync(CoordinationClient client)
    {
        await using HeldLock held = await client.Lock.AcquireAsync(plan.LeaseTime);
        Acquired(client, held);
    }

    public async Task CheckAsync(CoordinationClient client)
    {
        await client.ReadChangesAsync(CoordinationClient.LockName, history.LockChanges);
        await client.ReadChangesAsync(CoordinationClient.GuardedName, history.GuardedChanges);
    }

    private async Task LockAsync(CoordinationClient client, SimRandom random)
    {
        await using HeldLock held = await client.Lock.AcquireAsync(plan.LeaseTime, $"{client.Number}");
        Acquired(client, held);
        for (int writes = random.Between(1, 3); writes > 0; writes--)
        {
            if (random.Chance(0.3)) await Task.Delay(plan.LeaseTime * random.NextDouble(), client.Time);
            Look(held, client.Time);
            string value = $"{held.FencingToken}:{ledger.NextPayload()}";
            try
            {
                TxOutcome outcome = await client.Runtime.RunTransactionAsync(async _ =>
                {
                    await client.Lock.RequireHeldAsync(held.FencingToken);
                    await client.Guarded.WriteAsync(value);
                });
                if (outcome.IsCommitted) history.Written.Add(value);
                monitor.Mark("guarded write");
                ledger.Done();
            }
            catch (TangoLeaseLostException)
            {
                monitor.Mark("guarded write refused");
                return;
            }
        }
    }

    private void Acquired(CoordinationClient client, HeldLock held)
    {
        history.Acquired.Add((client.Number, held.FencingToken));
        Look(held, client.Time);
        monitor.Mark("lock acquired");
        ledger.Done();
    }

    private void Look(HeldLock held, TimeProvider time)
    {
        if (held.IsHeld) history.Held.Add((held.FencingToken, time.GetUtcNow().ToUnixTimeMilliseconds()));
        else monitor.Mark("owner knew that its lease was over");
    }
}
