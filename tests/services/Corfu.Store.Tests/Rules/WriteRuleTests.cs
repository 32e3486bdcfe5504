using Corfu.Store.Tests.Support;
using Tango.Testing;
using static Corfu.Store.Tests.Support.StoreWorld;

namespace Corfu.Store.Tests.Rules;

/// <summary>Rules K1, K2, K7 to K9, K13 and K16: what a write does, and what its caller hears.</summary>
public sealed class WriteRuleTests : IAsyncDisposable
{
    private static readonly StoreOptions s_apart = new() { InlineBytes = 0, ValueCacheBytes = 0 };

    private readonly StoreWorld _world = new(tango: new TangoOptions { NewLogMaxSpan = 8, NewLogVersionAge = 16 });

    public ValueTask DisposeAsync() => _world.DisposeAsync();

    [Fact]
    public async Task K1_record_is_sent_once_all_values_are_in_the_log()
    {
        var process = _world.Start();
        var store = await _world.OpenAsync(process, s_apart);
        process.Connection.LeaveNextInDoubt(isWritten: false);
        Assert.Equal(2, await store.PutAsync("a", Bytes("1")));
        Assert.Equal("1", Text(await (await _world.OpenAsync(s_apart)).GetAsync("a")));
    }

    [Fact]
    public async Task K1_value_whose_append_is_refused_leaves_no_record()
    {
        var process = _world.Start();
        var log = new HookedLog(process.Connection);
        var store = await _world.OpenAsync(process, log, s_apart);
        log.OnAppend = static _ => throw new LogUnavailableException("as asked");
        await Assert.ThrowsAsync<LogUnavailableException>(async () => await store.PutAsync("a", Bytes("1")));
        Assert.Equal(1, (await store.RangeAsync(StoreRange.All)).Revision);
    }

    [Fact]
    public async Task K2_record_whose_values_are_too_old_is_rejected_and_the_values_are_written_again()
    {
        var process = _world.Start();
        var log = new HookedLog(process.Connection);
        var store = await _world.OpenAsync(process, log, s_apart);
        var other = _world.Start();
        var second = await _world.OpenAsync(other);
        log.AfterAppend = async () =>
        {
            log.AfterAppend = static () => ValueTask.CompletedTask;
            // The writer pauses: records, checkpoints and a trim pass.
            for (var i = 0; i < 20; i++) await second.GrantLeaseAsync(TimeSpan.FromHours(1));
            await _world.TrimAsync(other);
            await store.RangeAsync(StoreRange.All);
        };
        Assert.Equal(2, await store.PutAsync("a", Bytes("1")));
        Assert.Equal(2, log.Appends);
        Assert.Equal("1", Text(await store.GetAsync("a")));
    }

    [Fact]
    public async Task K2_values_that_are_always_too_old_go_in_the_record()
    {
        var process = _world.Start();
        var log = new HookedLog(process.Connection);
        var store = await _world.OpenAsync(process, log, s_apart);
        var second = await _world.OpenAsync();
        log.AfterAppend = async () =>
        {
            for (var i = 0; i < 20; i++) await second.GrantLeaseAsync(TimeSpan.FromHours(1));
        };
        Assert.Equal(2, await store.PutAsync("a", Bytes("1")));
        Assert.Equal("1", Text(await store.GetAsync("a")));
    }

    [Fact]
    public async Task K2_large_value_that_is_always_too_old_is_given_up_as_contended()
    {
        var process = _world.Start();
        var log = new HookedLog(process.Connection);
        var store = await _world.OpenAsync(process, log, s_apart);
        var second = await _world.OpenAsync();
        await store.PutAsync("a", new byte[900_000]);
        log.AfterAppend = async () =>
        {
            for (var i = 0; i < 20; i++) await second.GrantLeaseAsync(TimeSpan.FromHours(1));
        };
        var tail = await _world.Host.TailAsync();
        await Assert.ThrowsAsync<StoreContendedException>(async () => await store.MoveValuesAsync(tail));
        await Assert.ThrowsAsync<StoreContendedException>(async () => await store.PutAsync("a", new byte[900_000]));
    }

    [Fact]
    public async Task K7_operations_see_earlier_ones_and_answers_have_superseded_values()
    {
        var store = await _world.OpenAsync();
        await store.PutAsync("a", Bytes("1"));
        await store.PutAsync("b", Bytes("2"));
        var result = await store.TransactAsync(StoreTransaction.Empty.Then(
            new StoreGet(StoreRange.All), new StorePut("a", Bytes("3")) { Previous = true },
            new StoreDelete("b") { Previous = true }, new StoreGet(StoreRange.All),
            new StoreGet(StoreRange.All) { Revision = 2 },
            new StoreNested(StoreTransaction.Empty.If(StoreCondition.Version("b", Relation.Equal, 1))
                .Then(new StorePut("c", Bytes("4")), new StoreGet("c"))), new StorePut("d", Bytes("5"))));
        Assert.Equal((true, 4), (result.Succeeded, result.Revision));
        Assert.Equal("a=1 b=2", Text(((GetAnswer)result.Answers[0]).Found));
        Assert.Equal("1", Text(((PutAnswer)result.Answers[1]).Previous));
        Assert.Equal("b=2", Text(((DeleteAnswer)result.Answers[2]).Previous));
        Assert.Equal("a=3", Text(((GetAnswer)result.Answers[3]).Found));
        Assert.Equal("a=1", Text(((GetAnswer)result.Answers[4]).Found));
        // Conditions are of the state before the transaction, in which b was there.
        var nested = (NestedAnswer)result.Answers[5];
        Assert.True(nested.Succeeded);
        Assert.Equal("c=4", Text(((GetAnswer)nested.Answers[1]).Found));
        Assert.Null(((PutAnswer)result.Answers[6]).Previous);
        Assert.Equal("a=3 c=4 d=5", Text(await store.RangeAsync(StoreRange.All)));
    }

    [Fact]
    public async Task K7_conditions_choose_the_branch()
    {
        var store = await _world.OpenAsync();
        await store.PutAsync("a", Bytes("1"));
        await store.PutAsync("a", Bytes("2"));
        await store.PutAsync("b", Bytes("2"));
        Assert.True(await HoldsAsync(StoreCondition.Revision("a", Relation.Equal, 3)));
        Assert.True(await HoldsAsync(StoreCondition.Created("a", Relation.Less, 3)));
        Assert.True(await HoldsAsync(StoreCondition.Version("a", Relation.Greater, 1)));
        Assert.True(await HoldsAsync(StoreCondition.Version("x", Relation.Equal, 0)));
        Assert.True(await HoldsAsync(StoreCondition.Lease("a", Relation.Equal, 0)));
        Assert.True(await HoldsAsync(StoreCondition.Version(StoreRange.All, Relation.Greater, 0)));
        Assert.False(await HoldsAsync(StoreCondition.Version(StoreRange.All, Relation.Greater, 1)));
        Assert.True(await HoldsAsync(StoreCondition.Value("a", Relation.Equal, Bytes("2"))));
        Assert.True(await HoldsAsync(StoreCondition.Value("a", Relation.Greater, Bytes("1"))));
        Assert.True(await HoldsAsync(StoreCondition.Value(StoreRange.All, Relation.Equal, Bytes("2"))));
        Assert.False(await HoldsAsync(StoreCondition.Value("a", Relation.NotEqual, Bytes("2"))));
        Assert.False(await HoldsAsync(StoreCondition.Value("x", Relation.NotEqual, Bytes("2"))));
        Assert.False(await HoldsAsync(
            StoreCondition.Version("a", Relation.Equal, 2), StoreCondition.Version("b", Relation.Equal, 2)));
        Assert.Equal(4, store.Revision);

        async Task<bool> HoldsAsync(params StoreCondition[] conditions)
        {
            var result = await store.TransactAsync(StoreTransaction.Empty.If(conditions).Then(new StoreGet("a"))
                .Else(new StoreGet("a"), new StoreGet("b")));
            Assert.Equal(result.Succeeded ? 1 : 2, result.Answers.Length);
            return result.Succeeded;
        }
    }

    [Fact]
    public async Task K8_value_that_changes_before_the_decision_is_compared_again()
    {
        var process = _world.Start();
        var store = await _world.OpenAsync(process);
        var other = await _world.OpenAsync();
        await store.PutAsync("a", Bytes("1"));
        process.Connection.BeforeNextAppend(async () => await other.PutAsync("a", Bytes("2")));
        var result = await store.TransactAsync(StoreTransaction.Empty
            .If(StoreCondition.Value("a", Relation.Equal, Bytes("1"))).Then(new StorePut("b", Bytes("wrong")))
            .Else(new StorePut("b", Bytes("right"))));
        Assert.False(result.Succeeded);
        Assert.Equal("right", Text(await other.GetAsync("b")));
    }

    [Fact]
    public async Task K8_comparison_of_values_that_change_each_time_is_given_up()
    {
        var process = _world.Start();
        var store = await _world.OpenAsync(process);
        var other = await _world.OpenAsync();
        var puts = 0;
        Interfere();
        await Assert.ThrowsAsync<StoreContendedException>(async () => await store.TransactAsync(StoreTransaction.Empty
            .If(StoreCondition.Value(StoreRange.Prefix("a"), Relation.Equal, Bytes("1")))
            .Else(new StorePut("b", Bytes("1")))));
        Assert.Equal(16, puts);
        process.Connection.BeforeNextAppend(static () => ValueTask.CompletedTask);
        Assert.Null(await store.GetAsync("b"));

        void Interfere() => process.Connection.BeforeNextAppend(async () =>
        {
            await other.PutAsync($"a{puts++}", Bytes("1"));
            Interfere();
        });
    }

    [Fact]
    public async Task K9_revision_rises_with_each_record_that_changes_a_key_and_with_no_other()
    {
        var store = await _world.OpenAsync();
        var other = await _world.OpenAsync();
        await store.PutAsync("a", Bytes("1"));
        await store.DeleteAsync("x");
        await store.TestAndSetAsync("a", 7, Bytes("2"));
        await store.TransactAsync(StoreTransaction.Empty.Then(new StoreGet("a")));
        await store.EndLeaseAsync(await store.GrantLeaseAsync(TimeSpan.FromHours(1)));
        await store.PinAsync("pin");
        await store.UnpinAsync("pin");
        await store.CompactAsync(2);
        await store.RevertAsync(2);
        await Assert.ThrowsAsync<StoreLeaseNotFoundException>(
            async () => await store.PutAsync("a", Bytes("2"), lease: 99));
        Assert.Equal(2, (await other.RangeAsync(StoreRange.All)).Revision);
        Assert.Equal(3, await other.PutAsync("b", Bytes("3")));
    }

    [Theory]
    [InlineData(true, StoreOutcome.Done)]
    [InlineData(false, StoreOutcome.NotWritten)]
    public async Task K13_write_in_doubt_is_resolved_by_place_and_never_sent_again(
        bool isWritten, StoreOutcome expected)
    {
        var process = _world.Start();
        var store = await _world.OpenAsync(process);
        process.Connection.LeaveNextInDoubt(isWritten);
        var doubt = await Assert.ThrowsAsync<StoreInDoubtException>(
            async () => await store.TestAndSetAsync("a", 0, Bytes("1")));
        await (await _world.OpenAsync()).PutAsync("b", Bytes("2"));
        var fate = await store.ResolveAsync(doubt);
        Assert.Equal(new StoreFate(expected, isWritten ? 2 : null), fate);
        Assert.Equal(isWritten ? 1 : null, (await store.GetAsync("a"))?.Version);
    }

    [Fact]
    public async Task K13_write_in_doubt_that_changed_no_key_is_told_as_such()
    {
        var process = _world.Start();
        var store = await _world.OpenAsync(process);
        await store.PutAsync("a", Bytes("1"));
        process.Connection.LeaveNextInDoubt();
        var doubt = await Assert.ThrowsAsync<StoreInDoubtException>(
            async () => await store.TestAndSetAsync("a", 0, Bytes("2")));
        Assert.Equal(new StoreFate(StoreOutcome.NothingChanged), await store.ResolveAsync(doubt));
    }

    [Fact]
    public async Task K13_call_in_doubt_that_changes_no_key_is_never_told_as_refused()
    {
        var process = _world.Start();
        var store = await _world.OpenAsync(process);
        await store.PutAsync("a", Bytes("1"));
        var hour = TimeSpan.FromHours(1);
        foreach (var call in new Func<Task>[]
        {
            async () => await store.GrantLeaseAsync(hour, 7), async () => await store.KeepLeaseAsync(hour),
            async () => await store.RenewLeaseAsync(7), async () => await store.EndLeaseAsync(7),
            async () => await store.PinAsync("pin"), async () => await store.UnpinAsync("pin"),
            async () => await store.CompactAsync(2),
            async () => await store.MoveValuesAsync(new LogPosition(long.MaxValue)),
        })
        {
            process.Connection.LeaveNextInDoubt();
            var doubt = await Assert.ThrowsAsync<StoreInDoubtException>(call);
            Assert.Equal(new StoreFate(StoreOutcome.Decided), await store.ResolveAsync(doubt));
        }

        await store.PutAsync("a", Bytes("2"), await store.GrantLeaseAsync(hour, 8));
        process.Connection.LeaveNextInDoubt();
        var end = await Assert.ThrowsAsync<StoreInDoubtException>(async () => await store.EndLeaseAsync(8));
        Assert.Equal(new StoreFate(StoreOutcome.Done, 4), await store.ResolveAsync(end));
    }

    [Fact]
    public async Task K13_write_in_doubt_whose_revision_is_compacted_stays_unknown()
    {
        var process = _world.Start();
        var store = await _world.OpenAsync(process);
        process.Connection.LeaveNextInDoubt();
        var doubt = await Assert.ThrowsAsync<StoreInDoubtException>(async () => await store.PutAsync("a", Bytes("1")));
        await store.PutAsync("a", Bytes("2"));
        await store.CompactAsync(3, waitForDrop: true);
        Assert.Equal(new StoreFate(StoreOutcome.Unknown), await store.ResolveAsync(doubt));
    }

    [Fact]
    public async Task K16_quota_is_the_recorded_one_in_every_process()
    {
        var store = await _world.OpenAsync(new StoreOptions { QuotaBytes = 100 });
        var other = await _world.OpenAsync(new StoreOptions { QuotaBytes = 1000 });
        await store.PutAsync("a", new byte[60]);
        var refusal = await Assert.ThrowsAsync<StoreQuotaException>(
            async () => await other.PutAsync("b", new byte[60]));
        Assert.Equal(100, refusal.Quota);
        // Versions count until they are dropped.
        await Assert.ThrowsAsync<StoreQuotaException>(async () => await store.PutAsync("a", new byte[60]));
        var deletion = await store.DeleteAsync("a");
        await store.PutAsync("c", new byte[10]);
        await store.CompactAsync(deletion.Revision + 1, waitForDrop: true);
        Assert.Equal(5, await other.PutAsync("b", new byte[60]));
        await store.DeleteAsync("b");
        await Assert.ThrowsAsync<StoreQuotaException>(async () => await store.RevertAsync(5));
        Assert.Equal(7, (await store.DeleteAsync("c")).Revision);
    }

    [Fact]
    public async Task Put_that_keeps_a_value_or_a_lease_needs_the_key()
    {
        var store = await _world.OpenAsync();
        var lease = await store.GrantLeaseAsync(TimeSpan.FromHours(1));
        await store.PutAsync("a", Bytes("1"), lease);
        await TransactAsync(new StorePut("a", default) { KeepsValue = true });
        var kept = (await store.GetAsync("a"))!;
        Assert.Equal(("1", 0, 2), (Text(kept.Value), kept.Lease, kept.Version));
        await store.PutAsync("a", Bytes("2"), lease);
        await TransactAsync(new StorePut("a", Bytes("3")) { KeepsLease = true });
        kept = (await store.GetAsync("a"))!;
        Assert.Equal(("3", lease), (Text(kept.Value), kept.Lease));
        await Assert.ThrowsAsync<StoreKeyNotFoundException>(
            () => TransactAsync(new StorePut("b", Bytes("x")), new StorePut("x", default) { KeepsValue = true }));
        Assert.Null(await store.GetAsync("b"));

        async Task TransactAsync(params StoreOperation[] operations) =>
            await store.TransactAsync(StoreTransaction.Empty.Then(operations));
    }

    [Fact]
    public async Task Transaction_beyond_a_limit_is_refused_with_a_reason()
    {
        var store = await _world.OpenAsync();
        await Assert.ThrowsAsync<StoreTooLargeException>(async () => await store.PutAsync("a", new byte[2 << 20]));
        await Assert.ThrowsAsync<StoreTooLargeException>(
            async () => await store.PutAsync(new StoreKey(new byte[2 << 20]), Bytes("1")));
        await Assert.ThrowsAsync<StoreTooLargeException>(async () => await store.PutManyAsync(
            [.. Enumerable.Range(0, 4097).Select(static i =>
                new KeyValuePair<StoreKey, ReadOnlyMemory<byte>>($"{i}", default))]));
        var deep = StoreTransaction.Empty;
        for (var i = 0; i < 10; i++) deep = StoreTransaction.Empty.Then(new StoreNested(deep));
        await Assert.ThrowsAsync<StoreTooLargeException>(async () => await store.TransactAsync(deep));
        await Assert.ThrowsAsync<ArgumentException>(async () => await store.TransactAsync(
            StoreTransaction.Empty.Then(new StorePut("a", default), new StorePut("a", default))));
        await Assert.ThrowsAsync<ArgumentException>(async () => await store.TransactAsync(StoreTransaction.Empty.Then(
            new StoreDelete(StoreRange.Prefix("a")),
            new StoreNested(StoreTransaction.Empty.Else(new StorePut("ab", default))))));
        await Assert.ThrowsAsync<ArgumentException>(async () => await store.PutAsync("a", Bytes("1"), lease: -1));
        Assert.Equal(1, store.Revision);
    }

    [Fact]
    public async Task Values_that_are_in_the_log_are_not_written_again_for_a_changed_condition()
    {
        var process = _world.Start();
        var log = new HookedLog(process.Connection);
        var store = await _world.OpenAsync(process, log, s_apart);
        var other = await _world.OpenAsync();
        await store.PutAsync("a", Bytes("1"));
        var before = log.Appends;
        log.AfterAppend = async () => await other.PutAsync("a", Bytes("2"));
        var result = await store.TransactAsync(StoreTransaction.Empty
            .If(StoreCondition.Value("a", Relation.Equal, Bytes("2"))).Then(new StorePut("b", new byte[5000])));
        Assert.True(result.Succeeded);
        Assert.Equal(1, log.Appends - before);
    }

    [Fact]
    public async Task Values_of_a_large_put_are_sent_a_few_entries_at_a_time()
    {
        var process = _world.Start();
        var log = new HookedLog(process.Connection);
        var (sent, most) = (0, 0);
        log.OnAppend = async append =>
        {
            most = Math.Max(most, Interlocked.Increment(ref sent));
            // The log answers later.
            await Task.Yield();
            var result = await append();
            Interlocked.Decrement(ref sent);
            return result;
        };
        var values = new Values.ValueWriter(log, new ObjectId(1), 0);
        var placed = await values.PlaceAsync(
            [.. Enumerable.Repeat<ReadOnlyMemory<byte>>(new byte[50_000], 100)], inline: false, default);
        Assert.Equal(100, placed.DistinctBy(static one => one.Elsewhere).Count());
        Assert.InRange(most, 1, 16);
    }

    [Fact]
    public async Task Values_fit_into_the_smallest_entries_in_which_a_store_opens()
    {
        await using var world = new StoreWorld(new InMemoryLogOptions { MaxPayload = 64 << 10 });
        var store = await world.OpenAsync();
        await store.PutManyAsync([new("a", new byte[32 << 10]), new("b", new byte[32 << 10])]);
        await store.PutManyAsync([.. Enumerable.Range(0, 64).Select(static i =>
            new KeyValuePair<StoreKey, ReadOnlyMemory<byte>>($"{i:d4}", new byte[1024]))]);
        Assert.Equal(66, (await store.RangeAsync(StoreRange.All)).Count);
    }

    [Fact]
    public async Task Nested_branches_may_put_and_delete_one_key()
    {
        var store = await _world.OpenAsync();
        var nested = new StoreNested(StoreTransaction.Empty.If(StoreCondition.Version("a", Relation.Equal, 0))
            .Then(new StorePut("a", Bytes("1"))).Else(new StoreDelete("a")));
        await store.TransactAsync(StoreTransaction.Empty.Then(nested));
        Assert.Equal("1", Text(await store.GetAsync("a")));
        await store.TransactAsync(StoreTransaction.Empty.Then(nested));
        Assert.Null(await store.GetAsync("a"));
        foreach (var other in new StoreOperation[] { new StorePut("a", default), new StoreDelete("a"), nested })
        {
            await Assert.ThrowsAsync<ArgumentException>(
                async () => await store.TransactAsync(StoreTransaction.Empty.Then(other, nested)));
            await Assert.ThrowsAsync<ArgumentException>(
                async () => await store.TransactAsync(StoreTransaction.Empty.Then(nested, other)));
        }
    }

    [Fact]
    public async Task Answer_that_is_trimmed_says_at_which_revision_the_transaction_took_effect()
    {
        var process = _world.Start();
        var log = new HookedLog(process.Connection);
        var store = await _world.OpenAsync(process, log, s_apart);
        await store.PutAsync("a", Bytes("1"));
        log.BeforeRead = async () => await _world.Host.TrimBelowAsync(await _world.Host.TailAsync());
        var lost = await Assert.ThrowsAsync<StoreAnswerLostException>(async () => await store.TransactAsync(
            StoreTransaction.Empty.Then(new StorePut("a", Bytes("2")) { Previous = true })));
        Assert.Equal(3, lost.Revision);
    }

    [Fact]
    public async Task Cancelled_put_is_in_doubt_once_sent_and_never_before()
    {
        var process = _world.Start();
        var store = await _world.OpenAsync(process);
        using var stop = new CancellationTokenSource();
        var begun = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var gate = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        process.Connection.BeforeNextAppend(async () =>
        {
            begun.SetResult();
            await gate.Task;
        });
        var put = store.PutAsync("a", Bytes("1"), cancellationToken: stop.Token).AsTask();
        await begun.Task;
        await stop.CancelAsync();
        var doubt = await Assert.ThrowsAsync<StoreInDoubtException>(() => put);
        var fate = store.ResolveAsync(doubt).AsTask();
        gate.SetResult();
        Assert.Equal(new StoreFate(StoreOutcome.Done, 2), await fate);
        await Assert.ThrowsAnyAsync<OperationCanceledException>(
            async () => await store.PutAsync("a", Bytes("2"), cancellationToken: stop.Token));
        Assert.Equal("1", Text(await store.GetAsync("a")));
    }
}
