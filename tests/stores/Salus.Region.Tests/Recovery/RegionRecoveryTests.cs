using Salus.Coordination.Rules;
using Salus.Region.Recovery;

namespace Salus.Region.Tests.Recovery;

/// <summary>A region's next generation: seals, reading, copies, the pass of the members, the opening.</summary>
public sealed class RegionRecoveryTests : IAsyncLifetime
{
    private RecoveryWorld _world = new();

    // Stores that do not answer are not waited for.
    private static RecoveryOptions Hasty => new()
    {
        Patience = TimeSpan.FromMilliseconds(200),
        LongPatience = TimeSpan.FromMilliseconds(200),
        GonePatience = TimeSpan.FromMilliseconds(50),
        Pause = TimeSpan.FromMilliseconds(5),
    };

    private TestHistory History => _world.History;

    public ValueTask InitializeAsync() => ValueTask.CompletedTask;

    public ValueTask DisposeAsync() => _world.DisposeAsync();

    [Fact]
    public async Task New_region_opens_empty_without_a_store()
    {
        History.Create(1, 2, 3);
        await _world.StartAsync([1, 2, 3]);
        _world.Cuts = static (_, _, _) => true;
        foreach (var region in await _world.RecoverAsync())
            Assert.Equal((0L, 0L, true), (region.Index, region.Run, region.Above.IsEmpty));
    }

    [Fact]
    public async Task Generation_opens_behind_all_that_was_acknowledged_at_all_members()
    {
        Fill(9);
        await _world.StartAsync([1, 2, 3, 4]);
        _world.Lose(3);
        await _world.ReplaceAsync(1, 2, 4);
        await CheckAsync(await _world.RecoverAsync(), records: 9);
        var opening = _world.Region.Current.Opening!;
        Assert.Equal((10L, 9L, 2), (opening.Index, opening.Last.Number, opening.StoresRead));
    }

    [Fact]
    public async Task Losses_of_three_stores_in_different_places_are_made_good()
    {
        Fill(12);
        await _world.StartAsync([1, 2, 3, 4, 5, 6], static (store, record) => record.Head.Index % 3 != store % 3);
        await _world.ReplaceAsync(4, 5, 6);
        await CheckAsync(await _world.RecoverAsync(), records: 12);
    }

    /// <summary>S8: a member that is cut off may still sign; recovery waits for the end of its lease.</summary>
    [Fact]
    public async Task Recovery_waits_for_a_member_that_neither_seals_nor_dies()
    {
        Fill(3);
        await _world.StartAsync([1, 2, 3, 4]);
        var (isOver, isEarly) = (false, false);
        _world.Cuts = (_, store, request) =>
        {
            // Records that a store shows are final when it is read.
            if (request is ListLogRequest && !Volatile.Read(ref isOver)) Volatile.Write(ref isEarly, true);
            return store == TestHistory.StoreOf(3);
        };
        await _world.ReplaceAsync(1, 2, 4);
        var recovering = _world.RecoverAsync();
        await WaitForAsync(() => Volatile.Read(ref isEarly)
            || (_world[1].Log.Find(TestHistory.Key)?.Sealed == new Epoch(2)
                && _world[2].Log.Find(TestHistory.Key)?.Sealed == new Epoch(2)));
        Assert.False(Volatile.Read(ref isEarly));
        await Task.Delay(50, TestContext.Current.CancellationToken);
        Assert.False(recovering.IsCompleted);
        Volatile.Write(ref isOver, true);
        _world.Lose(3);
        await CheckAsync(await recovering, records: 3);
        Assert.False(Volatile.Read(ref isEarly));
    }

    [Fact]
    public async Task Sealed_store_takes_no_records_of_the_generation_before()
    {
        Fill(3);
        await _world.StartAsync([1, 2, 3, 4]);
        await _world.ReplaceAsync(1, 2, 4);
        await CheckAsync(await _world.RecoverAsync(), records: 3);
        var late = History.Append(0);
        foreach (var store in (int[])[1, 2, 3])
            Assert.Equal(Status.Sealed, _world[store].Log.TryAppend(late, out _));
    }

    /// <summary>S10: the primary reads a cut log with valid certificates; a member has heard the good store.</summary>
    [Fact]
    public async Task Member_with_a_longer_prefix_refuses_the_primarys()
    {
        _world = new RecoveryWorld { Options = Hasty };
        Fill(9);
        await _world.StartAsync([1, 2, 3, 4], static (store, record) => store == 1 && record.Head.Index > 5);
        _world.Lose(3);
        var wasRefused = false;
        _world.Cuts = (from, store, request) =>
        {
            if (request is AdoptRequest { Head.Index: 6 }) wasRefused = true;
            // The primary hears nothing but the own store until its proposal is refused.
            return from == 1 && store == TestHistory.StoreOf(2) && request is ListLogRequest && !wasRefused;
        };
        await _world.ReplaceAsync(1, 4, 2);
        await CheckAsync(await _world.RecoverAsync(), records: 9);
        Assert.True(wasRefused);
    }

    [Fact]
    public async Task Member_that_heard_a_cut_log_copies_from_the_members_before()
    {
        _world = new RecoveryWorld { Options = Hasty };
        Fill(9);
        await _world.StartAsync([1, 2, 3, 4], static (store, record) => store == 3 && record.Head.Index > 5);
        var isProposed = false;
        _world.Cuts = (from, store, request) =>
        {
            isProposed |= request is AdoptRequest;
            return from == 4 && request is ListLogRequest
                && (store == TestHistory.StoreOf(2) || (store == TestHistory.StoreOf(1) && !isProposed));
        };
        await _world.ReplaceAsync(1, 4, 2);
        await CheckAsync(await _world.RecoverAsync(), records: 9);
    }

    /// <summary>S9: g + 1 was read from a damaged store and replaced before it was admitted.</summary>
    [Fact]
    public async Task Generation_without_admission_hides_no_records()
    {
        Fill(9);
        await _world.StartAsync([1, 2, 3, 4, 5, 6], static (store, record) => store == 1 && record.Head.Index > 5);
        _world.Lose(2);
        _world.Lose(3);
        await _world.ReplaceAsync(1, 4, 5);
        await CheckAsync(await _world.RecoverAsync(), records: 5);
        await RestartAllAsync(2, 3);
        await _world.ReplaceAsync(4, 5, 6);
        await CheckAsync(await _world.RecoverAsync(), records: 9);
        Assert.Equal(10, _world.Region.Current.Opening!.Index);
    }

    /// <summary>S10: g + 1 was replaced before it had read anything, and g + 2 took its empty stores for copies.
    /// </summary>
    [Fact]
    public async Task Recovery_waits_for_a_store_that_has_read_the_region()
    {
        _world = new RecoveryWorld { Options = Hasty };
        Fill(3);
        await _world.StartAsync([1, 2, 3, 4, 5, 6, 7]);
        foreach (var store in (int[])[1, 2, 3]) _world.Lose(store);
        var attempts = 0;
        _world.Cuts = (_, store, request) =>
        {
            if (request is ListLogRequest && store == TestHistory.StoreOf(1)) Interlocked.Increment(ref attempts);
            return false;
        };
        await _world.ReplaceAsync(4, 5, 6);
        await _world.ReplaceAsync(5, 6, 7);
        var recovering = _world.RecoverAsync();
        // With a pause before each, these take longer than every patience.
        await WaitForAsync(() => Volatile.Read(ref attempts) > 300 || recovering.IsCompleted);
        Assert.False(recovering.IsCompleted);
        await RestartAllAsync(1);
        await CheckAsync(await recovering, records: 3);
        Assert.Equal(1, _world.Region.Current.Opening!.StoresRead);
    }

    /// <summary>S9: a store that was away brings certified records of a generation that is over.</summary>
    [Fact]
    public async Task Returning_store_brings_no_records_back()
    {
        Fill(8);
        History.Append(1);
        await _world.StartAsync([1, 2, 3, 4, 5]);
        _world.Lose(1);
        await _world.ReplaceAsync(2, 3, 4);
        await CheckAsync(await _world.RecoverAsync(), records: 8);
        _world.Admit();
        await RestartAllAsync(1);
        await _world.ReplaceAsync(1, 3, 5);
        var recovered = await _world.RecoverAsync();
        Assert.All(recovered, region => Assert.Equal(10, region.Index));
        Assert.All(recovered, region => Assert.Equal(8, region.Above[^1].Batch.Header.Number));
    }

    [Fact]
    public async Task Copy_makes_every_member_enough_for_the_next_recovery()
    {
        Fill(9);
        await _world.StartAsync([1, 2, 3, 4, 5, 6, 7, 8]);
        await _world.ReplaceAsync(4, 5, 6);
        await CheckAsync(await _world.RecoverAsync(), records: 9);
        _world.Admit();
        foreach (var store in (int[])[1, 2, 3, 4, 5]) _world.Lose(store);
        await RestartAllAsync(6);
        await _world.ReplaceAsync(6, 7, 8);
        var recovered = await _world.RecoverAsync();
        Assert.All(recovered, region => Assert.Equal((11, 9), (region.Index, region.Above.Length)));
    }

    /// <summary>S16: what the run's decision has voided stays void, also where the log does not say so.</summary>
    [Fact]
    public async Task Batches_that_a_run_has_voided_are_undone()
    {
        Fill(9);
        await _world.StartAsync([1, 2, 3, 4], bar: new RunDecision(2, new BatchName(1, 7, default), default, []));
        _world.Map.Must(static state =>
            new VolumeRuling(state with { Head = state.Head with { Run = 2 } }, null));
        await _world.ReplaceAsync(1, 2, 4);
        foreach (var region in await _world.RecoverAsync())
        {
            Assert.Equal((2L, 10L), (region.Run, region.Index));
            Assert.Equal([1L, 2L, 3L, 4L, 5L, 6L, 7L], region.Above.Select(logged => logged.Batch.Header.Number));
        }

        Assert.All((int[])[1, 2, 4], store => Assert.Equal(7, _world[store].Bodies.Body!.Accepted.Count));
        Assert.Equal(7, _world.Region.Current.Opening!.Last.Number);
    }

    [Fact]
    public async Task Proof_in_a_store_commits_all_batches_below()
    {
        Fill(6);
        await _world.StartAsync([1, 2, 3, 4]);
        var name = TestHistory.BatchOf(History.Log[3]).Header.Name;
        var proof = new CommitProof(TestHistory.Key.Region, name, TestHistory.Certify(History.Anchor,
            Statement.Committed(TestHistory.Key, History.Anchor.Number, name)));
        _world[2].Log.TryMark(TestHistory.Key, proof, out _);
        // A proof that nothing proves.
        _world[3].Log.TryMark(TestHistory.Key, proof with { Batch = name with { Number = 6 } }, out _);
        await _world.ReplaceAsync(1, 2, 4);
        foreach (var region in await _world.RecoverAsync())
        {
            Assert.Equal((4L, proof), (region.Last.Number, region.Committed));
            Assert.Equal([5L, 6L], region.Above.Select(logged => logged.Batch.Header.Number));
        }

        Assert.Equal([1L, 2L, 3L, 4L], _world[1].Bodies.Body!.Committed);
        // For the next recovery.
        Assert.Equal(proof, _world[4].Log.Find(TestHistory.Key)!.Commit);
    }

    [Fact]
    public async Task Member_without_a_lease_signs_no_opening()
    {
        Fill(3);
        await _world.StartAsync([1, 2, 3, 4]);
        _world[2].IsHeld = false;
        await _world.ReplaceAsync(1, 2, 4);
        var recovering = _world.RecoverAsync();
        await WaitForAsync(() => _world[4].Log.Find(TestHistory.Key)?.Last.Index == 3);
        await Task.Delay(50, TestContext.Current.CancellationToken);
        Assert.Null(_world.Region.Current.Opening);
        Assert.False(recovering.IsCompleted);
        _world[2].IsHeld = true;
        await CheckAsync(await recovering, records: 3);
    }

    private static async Task WaitForAsync(Func<bool> condition)
    {
        using var bound = CancellationTokenSource.CreateLinkedTokenSource(TestContext.Current.CancellationToken);
        bound.CancelAfter(TimeSpan.FromMinutes(1));
        while (!condition()) await Task.Delay(2, bound.Token);
    }

    private async Task RestartAllAsync(params int[] stores)
    {
        foreach (var store in stores) await _world.RestartAsync(store);
    }

    private void Fill(int records)
    {
        History.Create(1, 2, 3);
        for (var i = 0; i < records; i++) History.Append(3);
    }

    private async Task CheckAsync(RecoveredRegion[] recovered, int records)
    {
        var opening = _world.Region.Current.Opening!;
        Assert.Equal(records + 1, opening.Index);
        foreach (var region in recovered)
        {
            Assert.Equal((opening.Index, opening.Chain), (region.Index, region.Chain));
            Assert.Equal(Enumerable.Range(1, records).Select(static number => (long)number),
                region.Above.Select(static logged => logged.Batch.Header.Number));
        }

        foreach (var member in _world.Region.Current.Members)
        {
            var node = Enumerable.Range(1, 7).First(store => TestHistory.StoreOf(store) == member.Store);
            var there = await _world[node].ReadAsync();
            foreach (var record in History.Log.Take(records))
            {
                Assert.Contains(there, copy => copy.Head == record.Head
                    && copy.Content.Span.SequenceEqual(record.Content.Span));
            }

            var open = Assert.Single(there, record => record.Head.Generation == _world.Region.Current.Number);
            Assert.True(open.Certificate.Proves(open.Head.Logged, _world.Region.Current.Set));
            Assert.Equal(opening.Chain, open.Head.Chain);
        }
    }
}
