using Corfu.Client;
using Corfu.Simulation.Checkers;
using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Tango;
using Tango.Collections;

namespace Corfu.Simulation.Workload;

/// <summary>Clients that take a lock and write what it guards, share the items of a queue, and number slots by
/// scanning them.</summary>
public sealed class CoordinationWorkload(
    SeedPlan plan, CoordinationHistory history, ClusterMonitor monitor, Ledger ledger)
{
    private const int MostReadAtOnce = 50;

    // The audit has so many.
    private const int Receivers = 3;

    public async Task WorkAsync(
        int client, CoordinationClient own, TimeProvider time, SimRandom random)
    {
        while (!ledger.Exhausted)
        {
            double dice = random.NextDouble();
            Task step = dice switch
            {
                < 0.3 => LockAsync(client, own, time, random),
                < 0.6 => ConsumeAsync(own, time, random),
                < 0.85 => EnqueueAsync(own),
                _ => NumberAsync(own),
            };
            try
            {
                await step;
            }
            catch (Exception e) when (TangoWorkload.IsLogsRefusal(e))
            {
                monitor.Mark("operation given up");
            }
            catch (TangoInDoubtException)
            {
                monitor.Mark("coordination in doubt");
            }
            catch (TangoAbortedException)
            {
                monitor.Mark("coordination aborted");
            }
        }
    }

    /// <summary>When nothing moves any more: the lock can be taken, the queue is worked off, and all that the log has
    /// is read.</summary>
    public async Task AuditAsync(CoordinationClient own, ICorfuLog log, TimeProvider time)
    {
        await using (HeldLock held = await own.Lock.AcquireAsync(plan.LeaseTime)) Acquired(-1, held, time);
        while (await own.Queue.CountAsync() + await own.Queue.DeliveredAsync() > 0)
        {
            await using Delivery<string>? delivery = await own.Queue.TryReceiveAsync(plan.LeaseTime);
            if (delivery is null) await Task.Delay(plan.LeaseTime, time);
            else await DoAsync(own, delivery);
        }

        await CallReceiversAsync(own);
        history.Dead.UnionWith((await own.Queue.DeadLettersAsync()).Values);
        await ReadAsync(own, CoordinationClient.LockName, history.LockChanges);
        await ReadAsync(own, CoordinationClient.GuardedName, history.GuardedChanges);
        await ReadAsync(own, CoordinationClient.QueueName, history.QueueChanges);
        await ReadAsync(own, CoordinationClient.DoneName, history.DoneChanges);
        await ReadAsync(own, CoordinationClient.SlotsName, history.SlotChanges);
        long tail = (await log.CheckAsync([])).Tail.Offset;
        for (long from = 0; from < tail; from += MostReadAtOnce)
        {
            var positions = Enumerable.Range(0, (int)Math.Min(MostReadAtOnce, tail - from))
                .Select(i => new LogPosition(from + i));
            foreach (LogReadResult result in await log.ReadManyAsync([.. positions]))
            {
                if (result.Entry is { } entry)
                    history.MadeAt[entry.Position] = entry.WriterTime.ToUnixTimeMilliseconds();
            }
        }

        history.IsComplete = true;
    }

    private async Task LockAsync(int client, CoordinationClient own, TimeProvider time, SimRandom random)
    {
        await using HeldLock held = await own.Lock.AcquireAsync(plan.LeaseTime, $"{client}");
        Acquired(client, held, time);
        for (int writes = random.Between(1, 3); writes > 0; writes--)
        {
            if (random.Chance(0.3)) await Task.Delay(plan.LeaseTime * random.NextDouble(), time);
            Look(held, time);
            string value = $"{held.FencingToken}:{ledger.NextPayload()}";
            try
            {
                TxOutcome outcome = await own.Runtime.RunTransactionAsync(async _ =>
                {
                    await own.Lock.RequireHeldAsync(held.FencingToken);
                    await own.Guarded.WriteAsync(value);
                });
                if (outcome.IsCommitted) history.Written.Add(value);
                Done("guarded write");
            }
            catch (TangoLeaseLostException)
            {
                monitor.Mark("guarded write refused");
                return;
            }
        }
    }

    private async Task ConsumeAsync(CoordinationClient own, TimeProvider time, SimRandom random)
    {
        using var enough = new CancellationTokenSource(plan.LeaseTime * 2, time);
        try
        {
            await using Delivery<string> delivery = await own.Queue.ReceiveAsync(plan.LeaseTime, enough.Token);
            Done(delivery.Attempt > 1 ? "item delivered again" : "item delivered");
            if (random.Chance(0.3)) await Task.Delay(plan.LeaseTime * random.NextDouble(), time);
            if (random.Chance(0.1)) await own.Queue.AbandonAsync(delivery);
            else if (random.Chance(0.9)) await DoAsync(own, delivery);
        }
        catch (TangoRejectedException)
        {
            monitor.Mark("delivery was over");
        }
        catch (OperationCanceledException) when (enough.IsCancellationRequested)
        {
            monitor.Mark("nothing to receive");
        }
    }

    private async Task DoAsync(CoordinationClient own, Delivery<string> delivery)
    {
        TxOutcome outcome = await own.Runtime.RunTransactionAsync(async _ =>
        {
            await own.Queue.CompleteAsync(delivery);
            await own.Done.AddAsync(delivery.Value);
        });
        if (outcome.IsCommitted) history.ToldDone.Add(delivery.Value);
        Done("item done");
    }

    /// <summary>Receivers wait in line before there are items: each is called by one that is added, or given back. A
    /// wake-up that is lost keeps the audit from its end.</summary>
    private async Task CallReceiversAsync(CoordinationClient own)
    {
        Task[] receiving = [.. Enumerable.Range(0, Receivers).Select(i => ReceiveAndDoAsync(own, givesBack: i == 0))];
        await own.Queue.WaitForAsync(
            static (queue, token) => queue.WaitingAsync(token), static waiting => waiting >= Receivers);
        for (int i = 0; i < Receivers; i++) await EnqueueAsync(own);
        await Task.WhenAll(receiving);
    }

    private async Task ReceiveAndDoAsync(CoordinationClient own, bool givesBack)
    {
        if (givesBack)
        {
            await using Delivery<string> unwanted = await own.Queue.ReceiveAsync(plan.LeaseTime);
            await own.Queue.AbandonAsync(unwanted);
        }

        await using Delivery<string> delivery = await own.Queue.ReceiveAsync(plan.LeaseTime);
        await DoAsync(own, delivery);
    }

    private async Task EnqueueAsync(CoordinationClient own)
    {
        string value = $"i{ledger.NextPayload()}";
        await own.Queue.EnqueueAsync(value);
        history.Added.Add(value);
        Done("item added");
    }

    /// <summary>An insert into the range that was scanned makes the number wrong.</summary>
    private async Task NumberAsync(CoordinationClient own)
    {
        long payload = ledger.NextPayload();
        await own.Slots.CountAsync();
        await using TangoTransaction tx = own.Runtime.BeginTx();
        var taken = await own.Slots.ScanAsync(KeyRange.Prefix("s/"));
        await Task.Yield();
        await own.Slots.SetAsync($"s/{taken.Length:d5}/{payload}", "");
        TxOutcome outcome = await tx.EndTxAsync();
        Done($"slot {(outcome.IsCommitted ? "numbered" : "not numbered")}");
    }

    private void Acquired(int client, HeldLock held, TimeProvider time)
    {
        history.Acquired.Add((client, held.FencingToken));
        Look(held, time);
        Done("lock acquired");
    }

    private void Look(HeldLock held, TimeProvider time)
    {
        if (held.IsHeld) history.Held.Add((held.FencingToken, time.GetUtcNow().ToUnixTimeMilliseconds()));
        else monitor.Mark("owner knew that its lease was over");
    }

    private void Done(string what)
    {
        monitor.Mark(what);
        ledger.Done();
    }

    private static async Task ReadAsync<T>(CoordinationClient own, string name, List<TangoChange<T>> changes)
        where T : TangoObject, ITangoObject<T>
    {
        await own.Runtime.SyncAsync();
        LogPosition end = own.Runtime.Log.PlayedTo;
        var prompt = new FeedOptions { ProgressEvery = 1 };
        await foreach (TangoChange<T> change in own.Runtime.History.ChangesAsync<T>(name, LogPosition.Zero, prompt))
        {
            if (change.Kind == TangoChangeKind.Update) changes.Add(change);
            else if (change.Place.Position >= end) return;
        }
    }
}
