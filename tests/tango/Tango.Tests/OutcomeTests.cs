using System.Collections.Immutable;
using Corfu;
using Tango.Calls;
using Tango.Testing;

namespace Tango.Tests;

/// <summary>Answers to callers whose appends have unknown outcomes, are cancelled, or do not fit.</summary>
public class OutcomeTests
{
    private static readonly TangoOptions NoResolving = new() { MaxResolveAttempts = 0 };

    [Theory]
    [InlineData(AppendFault.WrittenButUnknown, 1)]
    [InlineData(AppendFault.LostAndUnknown, 0)]
    public async Task An_unknown_append_is_in_doubt_for_plain_updates_and_transactions(AppendFault fault, long effect)
    {
        var next = AppendFault.None;
        await using var world = new World(new InMemoryLogOptions { NextAppendFault = () => next });
        var runtime = world.NewRuntime(NoResolving);
        var accounts = await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create);

        next = fault;
        await Assert.ThrowsAsync<TangoInDoubtException>(async () => await accounts.SetAsync("x", 1));
        var transaction = runtime.BeginTx();
        await accounts.SetAsync("y", await accounts.BalanceAsync("y") + 1);
        var outcome = Assert.IsType<TxOutcome.InDoubt>(await transaction.EndTxAsync());
        Assert.NotNull(outcome.Position);
        next = AppendFault.None;
        Assert.Equal(effect, await accounts.BalanceAsync("x"));
        Assert.Equal(effect, await accounts.BalanceAsync("y"));
    }

    [Theory]
    [InlineData(AppendFault.WrittenButUnknown)]
    [InlineData(AppendFault.LostAndUnknown)]
    public async Task An_unknown_append_that_can_be_resolved_takes_effect_exactly_once(AppendFault fault)
    {
        var appends = 0;
        await using var world = new World(new InMemoryLogOptions
        {
            NextAppendFault = () => ++appends % 2 == 0 ? fault : AppendFault.None,
        });
        var (_, accounts) = await world.OpenAccountsAsync();
        for (var i = 1; i <= 20; i++) Assert.Equal(i, await accounts.AddAsync("x", 1));
    }

    [Fact]
    public async Task An_append_that_failed_says_why()
    {
        var full = false;
        await using var world = new World(new InMemoryLogOptions
        {
            AroundAppend = _ => full ? throw new IOException("Writing 7: NoSpace") : default,
        });
        var (_, accounts) = await world.OpenAccountsAsync();
        full = true;
        var refused = await Assert.ThrowsAsync<TangoInDoubtException>(async () => await accounts.SetAsync("x", 1));
        Assert.Equal("The append failed: Writing 7: NoSpace", refused.Message);
        Assert.IsType<IOException>(refused.InnerException);
    }

    /// <summary>By its contract: an exception of an append means that nothing is in the log.</summary>
    [Fact]
    public async Task Append_that_the_log_refuses_is_no_doubt()
    {
        var full = false;
        await using var world = new World(new InMemoryLogOptions
        {
            AroundAppend = _ => full ? throw new LogUnavailableException("No cohort answers") : default,
        });
        var (runtime, accounts) = await world.OpenAccountsAsync();
        full = true;
        await Assert.ThrowsAsync<LogUnavailableException>(async () => await accounts.SetAsync("x", 1));
        await Assert.ThrowsAsync<LogUnavailableException>(async () => await accounts.AddAsync("x", 1));
        await Assert.ThrowsAsync<LogUnavailableException>(async () => await runtime.TransferAsync(accounts, "x", 1));
        full = false;
        Assert.Equal(0, await accounts.BalanceAsync("x"));
    }

    [Fact]
    public async Task Append_that_cannot_be_looked_up_is_in_doubt_and_resolved_later()
    {
        var next = AppendFault.None;
        await using var world = new World(new InMemoryLogOptions { NextAppendFault = () => next });
        await using var runtime = new TangoRuntime(new UnresolvableLog(world.Log), world.Log.OpenCursor,
            TimeProvider.System, SystemEntropy.Instance);
        var accounts = await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create);
        next = AppendFault.WrittenButUnknown;
        var transaction = runtime.BeginTx();
        await accounts.SetAsync("y", 1);
        var outcome = Assert.IsType<TxOutcome.InDoubt>(await transaction.EndTxAsync());
        Assert.NotNull(outcome.Position);
        Assert.True((await runtime.ResolveAsync(outcome)).IsCommitted);
    }

    [Fact]
    public async Task Calls_that_wait_to_be_sent_fail_when_the_runtime_ends()
    {
        var gate = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        gate.SetResult();
        await using var world = new World(new InMemoryLogOptions { AroundAppend = async _ => await gate.Task });
        var (runtime, accounts) = await world.OpenAccountsAsync();
        gate = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var sent = accounts.SetAsync("x", 1).AsTask();
        var waiting = accounts.SetAsync("y", 1).AsTask();
        await runtime.DisposeAsync();
        gate.SetResult();
        await Assert.ThrowsAsync<ObjectDisposedException>(() => waiting);
        await sent;
    }

    /// <summary>Whether playback or the append's answer comes first: the caller hears the same.</summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Update_without_a_result_is_done_once_appended(bool playedFirst)
    {
        var call = new UpdateCall<ValueTuple>(default, [], played: null, null);
        call.TryBecomeSent();
        if (!playedFirst) Append();
        call.BecomeApplied(null, new InvalidOperationException("The object has stopped"));
        call.Publish();
        if (playedFirst) Append();
        await call.Task;

        void Append()
        {
            call.BecomePlaced(default, 0);
            call.BecomeAppended(default);
        }
    }

    [Fact]
    public async Task Cancelling_before_sending_withdraws_and_after_sending_is_in_doubt()
    {
        var gate = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        gate.SetResult();
        await using var world = new World(new InMemoryLogOptions { AroundAppend = async _ => await gate.Task });
        var (_, accounts) = await world.OpenAccountsAsync();
        gate = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);

        using var sent = new CancellationTokenSource();
        using var queued = new CancellationTokenSource();
        var first = accounts.SetAsync("sent", 1, sent.Token).AsTask();
        var second = accounts.SetAsync("queued", 1, queued.Token).AsTask();
        sent.Cancel();
        queued.Cancel();
        await Assert.ThrowsAsync<TangoInDoubtException>(() => first);
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => second);
        gate.SetResult();
        Assert.Equal(0, await accounts.BalanceAsync("queued"));
        await accounts.SetAsync("other", 1);
        Assert.Equal(1, await accounts.BalanceAsync("sent"));
    }

    [Fact]
    public async Task Update_larger_than_an_entry_is_refused_before_the_append()
    {
        await using var world = new World(new InMemoryLogOptions { MaxPayload = 200 });
        var (_, accounts) = await world.OpenAccountsAsync();
        var before = await world.TailAsync();
        var refused = await Assert.ThrowsAsync<TangoTooLargeException>(
            async () => await accounts.SetAsync(new string('x', 200), 1));
        Assert.True(refused.Size > refused.Limit);
        Assert.Equal(before, await world.TailAsync());
    }

    [Fact]
    public async Task A_full_queue_refuses_and_then_goes_on()
    {
        var gate = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        gate.SetResult();
        await using var world = new World(new InMemoryLogOptions { AroundAppend = async _ => await gate.Task });
        var accounts =
            await world.NewRuntime(new TangoOptions { MaxQueuedCalls = 2 })
                .OpenAsync<Accounts>("accounts", OpenMode.Create);
        gate = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var calls = Enumerable.Range(0, 3).Select(i => accounts.SetAsync("x", i).AsTask()).ToArray();
        await Assert.ThrowsAsync<TangoBusyException>(async () => await accounts.SetAsync("x", 9));
        gate.SetResult();
        await Task.WhenAll(calls);
    }

    [Fact]
    public async Task Withdrawn_calls_make_room_in_the_queue()
    {
        var gate = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        gate.SetResult();
        await using var world = new World(new InMemoryLogOptions { AroundAppend = async _ => await gate.Task });
        var accounts =
            await world.NewRuntime(new TangoOptions { MaxQueuedCalls = 2 })
                .OpenAsync<Accounts>("accounts", OpenMode.Create);
        gate = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var sent = accounts.SetAsync("x", 1).AsTask();
        for (var i = 0; i < 10; i++)
        {
            using var cancel = new CancellationTokenSource();
            var withdrawn = accounts.SetAsync("x", i, cancel.Token).AsTask();
            cancel.Cancel();
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => withdrawn);
        }

        var last = accounts.SetAsync("x", 7).AsTask();
        gate.SetResult();
        await Task.WhenAll(sent, last);
        Assert.Equal(7, await accounts.BalanceAsync("x"));
    }

    [Fact]
    public async Task Queue_is_full_at_the_limit_of_bytes()
    {
        var gate = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        gate.SetResult();
        await using var world = new World(new InMemoryLogOptions { AroundAppend = async _ => await gate.Task });
        var accounts =
            await world.NewRuntime(new TangoOptions { MaxQueuedBytes = 1000 })
                .OpenAsync<Accounts>("accounts", OpenMode.Create);
        gate = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var (large, small) = (new string('x', 2000), new string('x', 200));
        Task[] calls =
        [
            accounts.SetAsync("sent", 1).AsTask(), accounts.SetAsync(large, 1).AsTask(),
        ];
        var refused = await Assert.ThrowsAsync<TangoBusyException>(async () => await accounts.SetAsync(small, 1));
        Assert.Equal(1000, refused.Limit);
        gate.SetResult();
        await Task.WhenAll(calls);
        await accounts.SetAsync(small, 1);
    }

    [Fact]
    public async Task Trimmed_history_is_a_typed_failure_and_never_skipped()
    {
        await using var world = new World();
        var (_, accounts) = await world.OpenAccountsAsync();
        for (var i = 0; i < 5; i++) await accounts.SetAsync("x", i);
        await world.Log.TrimPrefixAsync(await world.TailAsync());
        await Assert.ThrowsAsync<TangoTrimmedException>(async () => await world.OpenAccountsAsync());
    }

    [Fact]
    public async Task After_disposal_calls_are_refused()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        await runtime.DisposeAsync();
        await Assert.ThrowsAsync<ObjectDisposedException>(async () => await accounts.SetAsync("x", 1));
        await Assert.ThrowsAsync<ObjectDisposedException>(async () => await accounts.BalanceAsync("x"));
        Assert.Throws<ObjectDisposedException>(() => runtime.BeginTx());
    }

    /// <summary>The cohorts that know are out of reach for the runtime's own attempts.</summary>
    private sealed class UnresolvableLog(ICorfuLog inner) : ICorfuLog
    {
        private int _asked;

        public int MaxPayload => inner.MaxPayload;

        public ValueTask<AppendResult> AppendAsync(
            ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams,
            CancellationToken cancellationToken = default) =>
            inner.AppendAsync(payload, streams, cancellationToken);

        public ValueTask<AppendResult> AppendToObjectsAsync(
            ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams,
            CancellationToken cancellationToken = default) =>
            inner.AppendToObjectsAsync(payload, streams, cancellationToken);

        public ValueTask<AppendOutcome> ResolveAsync(
            AppendResult unknown, CancellationToken cancellationToken = default) =>
            ++_asked == 1
                ? throw new LogUnavailableException("For a moment")
                : inner.ResolveAsync(unknown, cancellationToken);

        public ValueTask<ImmutableArray<LogReadResult>> ReadManyAsync(
            ImmutableArray<LogPosition> positions, ReadDetail detail = ReadDetail.Full,
            ReadMode mode = ReadMode.CloseHoles, CancellationToken cancellationToken = default) =>
            inner.ReadManyAsync(positions, detail, mode, cancellationToken);

        public ValueTask<LogCheck> CheckAsync(
            ImmutableArray<StreamId> streams, ReadConsistency consistency = ReadConsistency.Linearizable,
            CancellationToken cancellationToken = default) =>
            inner.CheckAsync(streams, consistency, cancellationToken);

        public ValueTask<LogReadResult> FillAsync(
            LogPosition position, CancellationToken cancellationToken = default) =>
            inner.FillAsync(position, cancellationToken);

        public ValueTask TrimAsync(LogPosition position, CancellationToken cancellationToken = default) =>
            inner.TrimAsync(position, cancellationToken);

        public ValueTask TrimPrefixAsync(LogPosition below, CancellationToken cancellationToken = default) =>
            inner.TrimPrefixAsync(below, cancellationToken);
    }
}
