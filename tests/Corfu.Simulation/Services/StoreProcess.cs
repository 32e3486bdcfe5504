using System.Collections.Immutable;
using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Corfu.Simulation.Workload;
using Corfu.Store;
using Tango;

namespace Corfu.Simulation.Services;

/// <summary>A process that writes, reads and watches all keys.</summary>
internal sealed class StoreProcess(
    SimClientNode node, TangoRuntime runtime, CorfuStore store, StoreMonitor monitor, StorePlan plan) : IServiceProcess
{
    private const double ShareOfPuts = 0.3;
    private const double ShareOfTransactions = 0.15;
    private const double ShareOfTests = 0.1;
    private const double ShareOfDeletions = 0.05;
    private const double ShareOfReads = 0.15;
    private const double ShareOfWatches = 0.1;
    private const double ShareOfLeases = 0.08;
    private const double ShareOfCompactions = 0.03;
    private const double ShareOfLateRenewals = 0.5;
    private const double ShareOfTidying = 0.15;
    private const int Keys = 7;

    // Clocks of processes may differ by so much.
    private const double ShareOfLife = 0.5;

    private readonly string _name = $"{node.Name} {node.Process!.Id}";
    private long _next = Math.Max(2, monitor.Compacted);
    private bool _isWatching;
    private (long Id, TimeSpan TimeToLive, long RenewedAt)? _lease;

    /// <summary>The call did nothing that is known, and may be repeated.</summary>
    public static bool IsPassing(Exception e) =>
        LogRefusal.Is(e) || e is TangoInDoubtException or TangoTrimmedException or StoreInDoubtException
            or StoreContendedException;

    public async Task StepAsync(SimRandom random)
    {
        try
        {
            await DrawAsync(random);
        }
        catch (StoreValueLostException e)
        {
            monitor.Lost(_name, e);
        }
        catch (Exception e) when (IsPassing(e))
        {
            monitor.Mark(e is StoreContendedException ? "store write contended" : "operation given up");
        }
    }

    public async Task AuditAsync()
    {
        await PatientlyAsync(WatchAsync);
        await PatientlyAsync(async () =>
        {
            StoreEntries last = await store.RangeAsync(StoreRange.All);
            monitor.Read(_name, last.Entries, last.Revision);
            monitor.Audit(last.Revision);
        });
    }

    public async ValueTask DisposeAsync()
    {
        await store.DisposeAsync();
        await runtime.DisposeAsync();
    }

    private Task DrawAsync(SimRandom random)
    {
        if (plan.Tidies && random.Chance(ShareOfTidying))
            return random.Chance(0.5) ? CompactAsync(random) : MoveAsync();
        double draw = random.NextDouble();
        if ((draw -= ShareOfPuts) < 0) return PutAsync(random);
        if ((draw -= ShareOfTransactions) < 0) return TransactAsync(random);
        if ((draw -= ShareOfTests) < 0) return TestAsync(random);
        if ((draw -= ShareOfDeletions) < 0) return DeleteAsync(random);
        if ((draw -= ShareOfReads) < 0) return ReadAsync(random);
        if ((draw -= ShareOfWatches) < 0) return WatchAsync();
        if ((draw -= ShareOfLeases) < 0) return LeaseAsync(random);
        if ((draw -= ShareOfCompactions) < 0) return CompactAsync(random);
        return MoveAsync();
    }

    private static string Key(SimRandom random) => $"k{random.Next(Keys)}";

    private async Task PutAsync(SimRandom random)
    {
        string[] keys = [.. Enumerable.Range(0, random.Between(1, 4)).Select(_ => Key(random)).Distinct()];
        long lease = _lease is { } own && random.Chance(0.2) ? own.Id : 0;
        StoreWriteFact write = monitor.New(keys);
        write.Lease = lease;
        await WriteAsync(write, StoreTransaction.Empty.Then(
            [.. keys.Select(key => new StorePut(key, write.Value, lease))]));
    }

    private async Task TestAsync(SimRandom random)
    {
        string key = Key(random);
        long floor = monitor.Answered;
        StoreEntries before = await store.GetManyAsync([key]);
        monitor.Fresh(_name, before.Revision, floor);
        monitor.Read(_name, before.Entries, before.Revision, [key]);
        StoreWriteFact write = monitor.New(key);
        long expected = before.Entries is [var entry] ? entry.Revision : 0;
        await WriteAsync(write, StoreTransaction.Empty.If(StoreCondition.Revision(key, Relation.Equal, expected))
            .Then(new StorePut(key, write.Value)));
    }

    private async Task TransactAsync(SimRandom random)
    {
        string key = Key(random);
        StoreEntry? entry = await store.GetAsync(key, ReadAs.Local);
        StoreWriteFact write = monitor.New(key);
        StoreOperation[] steps = [new StoreGet(StoreRange.All), new StorePut(key, write.Value) { Previous = true }];
        var transaction = StoreTransaction.Empty.Then(steps);
        if (entry is not null)
            transaction = transaction.If(StoreCondition.Value(key, Relation.Equal, entry.Value))
                .Else(new StoreGet(key));
        StoreResult? result = await WriteAsync(write, transaction);
        if (result is null) return;
        var found = ((GetAnswer)result.Answers[0]).Found.Entries;
        if (entry is not null)
            monitor.Compared(_name, entry, found.FirstOrDefault(one => one.Key == key), result.Succeeded);
        if (!result.Succeeded)
        {
            monitor.Mark("store condition of a value failed");
            monitor.Read(_name, found, result.Revision, [key]);
            return;
        }

        monitor.Read(_name, found, result.Revision - 1);
        StoreEntry? previous = ((PutAnswer)result.Answers[1]).Previous;
        monitor.Read(_name, previous is null ? [] : [previous], result.Revision - 1, [key]);
    }

    /// <returns>Null: there is no answer.</returns>
    private async Task<StoreResult?> WriteAsync(StoreWriteFact write, StoreTransaction transaction)
    {
        try
        {
            StoreResult result = await store.TransactAsync(transaction);
            if (result.Succeeded) monitor.Ended(write, result.Revision);
            else Refuse(result.Revision);
            return result;
        }
        catch (StoreInDoubtException doubt)
        {
            monitor.Mark("store write in doubt");
            await ResolveAsync(write, doubt);
        }
        catch (StoreAnswerLostException e)
        {
            monitor.Mark("store answer lost");
            monitor.Answer(e.Revision);
        }
        catch (StoreLeaseNotFoundException)
        {
            monitor.Voided(write);
        }
        catch (Exception e) when (e is StoreContendedException || LogRefusal.Is(e))
        {
            monitor.Voided(write);
            throw;
        }

        return null;

        void Refuse(long revision)
        {
            monitor.Answer(revision);
            monitor.Voided(write);
        }
    }

    private async Task ResolveAsync(StoreWriteFact write, StoreInDoubtException doubt)
    {
        StoreFate fate = await store.ResolveAsync(doubt);
        switch (fate.Outcome)
        {
            case StoreOutcome.Done:
                monitor.Mark("store write resolved");
                monitor.Ended(write, fate.Revision!.Value);
                break;
            case StoreOutcome.NotWritten or StoreOutcome.NothingChanged:
                monitor.Voided(write);
                break;
        }
    }

    private async Task DeleteAsync(SimRandom random)
    {
        string? key = random.Chance(0.1) ? null : Key(random);
        StoreDeletionFact fact = monitor.Deleting(key);
        try
        {
            StoreDeletion deletion = await store.DeleteAsync(key is null ? StoreRange.All : StoreRange.Of(key));
            fact.Revision = deletion.Count > 0 ? deletion.Revision : 0;
            monitor.Answer(deletion.Revision);
        }
        catch (Exception e) when (LogRefusal.Is(e))
        {
            fact.Revision = 0;
            throw;
        }
    }

    private async Task ReadAsync(SimRandom random)
    {
        long floor = monitor.Answered;
        double draw = random.NextDouble();
        try
        {
            if (draw < 0.3)
            {
                long past = monitor.Compacted + random.Next(monitor.Known - monitor.Compacted + 1);
                StoreEntries entries = await store.RangeAsync(StoreRange.All, at: ReadAs.At(past));
                monitor.Read(_name, entries.Entries, past);
                monitor.Mark("store past read");
            }
            else if (draw < 0.6)
            {
                string[] keys = [.. Enumerable.Range(0, 3).Select(_ => Key(random)).Distinct()];
                StoreEntries entries = await store.GetManyAsync([.. keys.Select(static key => (StoreKey)key)]);
                monitor.Fresh(_name, entries.Revision, floor);
                monitor.Read(_name, entries.Entries, entries.Revision, keys);
            }
            else
            {
                StoreEntries entries = await store.RangeAsync(StoreRange.All);
                monitor.Fresh(_name, entries.Revision, floor);
                monitor.Read(_name, entries.Entries, entries.Revision);
            }
        }
        catch (StoreCompactedException e)
        {
            if (e.Oldest > monitor.Compacted) monitor.Unexpected(_name, e);
            monitor.Mark("store past read compacted");
        }
    }

    private async Task WatchAsync()
    {
        if (_isWatching) return;
        _isWatching = true;
        try
        {
            await foreach (StoreChanges told in store.WatchAsync(
                StoreRange.All, _next, new WatchOptions { Progress = true }))
            {
                bool isProgress = told.Changes.IsEmpty;
                long reached = isProgress ? told.Revision + 1 : told.Revision;
                if (reached > _next) monitor.Passed(_name, _next, reached);
                if (!isProgress) monitor.Told(_name, told);
                _next = told.Revision + 1;
                if (isProgress || told.Revision >= store.Revision) break;
            }
        }
        catch (StoreCompactedException e)
        {
            if (e.Oldest > monitor.Compacted || _next >= e.Oldest) monitor.Unexpected(_name, e);
            monitor.Mark("store watch compacted");
            _next = Math.Max(_next, e.Oldest);
        }
        finally
        {
            _isWatching = false;
        }
    }

    private async Task LeaseAsync(SimRandom random)
    {
        TimeProvider time = node.Process!.Time;
        long now = time.GetTimestamp();
        if (_lease is not { } own)
        {
            var timeToLive = TimeSpan.FromMilliseconds(random.Between(30, 200));
            long id = await store.GrantLeaseAsync(timeToLive);
            _lease = (id, timeToLive, now);
            return;
        }

        // At the last moment, and again, so that expiries meet renewals.
        TimeSpan left = own.TimeToLive - time.GetElapsedTime(own.RenewedAt);
        if (left > TimeSpan.Zero && random.Chance(ShareOfLateRenewals)) await Task.Delay(left, time);
        try
        {
            for (int again = random.Between(1, 3); again > 0 && _lease?.Id == own.Id; again--)
            {
                now = time.GetTimestamp();
                await store.RenewLeaseAsync(own.Id);
                if (_lease?.Id == own.Id) _lease = own = (own.Id, own.TimeToLive, now);
            }
        }
        catch (StoreLeaseNotFoundException)
        {
            // K15: the lease was renewed at that moment or later, and no call has ended it.
            TimeSpan age = time.GetElapsedTime(own.RenewedAt);
            if (age < own.TimeToLive * ShareOfLife) monitor.LeaseGone(_name, own.Id, age, own.TimeToLive);
            monitor.Mark("store lease expired");
            _lease = null;
        }
    }

    private async Task CompactAsync(SimRandom random)
    {
        long below = Math.Max(monitor.Compacted, monitor.Known - random.Next(20));
        monitor.Compacted = below;
        try
        {
            await store.CompactAsync(below, random.Chance(0.5));
            monitor.Mark("store compacted");
        }
        catch (StoreCompactedException)
        {
            // Another process has compacted further.
        }
    }

    private async Task MoveAsync()
    {
        LogCheck check = await node.Log!.CheckAsync([]);
        if (await store.MoveValuesAsync(check.Tail) > 0) monitor.Mark("store values moved");
    }

    private static async Task PatientlyAsync(Func<Task> work)
    {
        while (true)
        {
            try
            {
                await work();
                return;
            }
            catch (Exception e) when (IsPassing(e))
            {
                // Faults end.
            }
        }
    }
}
