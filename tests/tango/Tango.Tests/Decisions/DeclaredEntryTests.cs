using System.Collections.Immutable;
using Corfu;
using Microsoft.Extensions.Logging.Abstractions;
using Tango.Calls;
using Tango.Records;
using Tango.Testing;

namespace Tango.Tests.Decisions;

/// <summary>Entries that tell the sequencer what they write.</summary>
public sealed class DeclaredEntryTests
{
    private static readonly StreamId s_stream = new(256);

    /// <summary>The log refused so large a declaration, and the caller heard that the outcome was unknown.</summary>
    [Fact]
    public async Task Transaction_with_more_keys_than_a_request_declares_writes_the_whole_object()
    {
        await using var world = new DecisionWorld();
        var (runtime, first, _) = await world.OpenAsync();
        var (other, rival, _) = await world.OpenAsync();
        var from = await world.TailAsync();
        var held = await runtime.BeginTransferAsync(first, "x");
        world.BeforeAppend = async () =>
        {
            var large = await HeldTransaction.BeginAsync(other, async () =>
            {
                for (var i = 0; i <= Declaration.MaxScopes; i++) await rival.SetAsync($"{i}", i);
            });
            Assert.True((await large.EndTxAsync()).IsCommitted);
        };
        // The first ask is refused by the object, and no key that was read was written.
        Assert.True((await held.EndTxAsync()).IsCommitted);
        Assert.Equal([CommitFlags.None, CommitFlags.Decided], await world.CommitsAsync(from));
        Assert.Equal(Declaration.MaxScopes, await first.BalanceAsync($"{Declaration.MaxScopes}"));
    }

    /// <summary>R28: the position is lost, and the entry that is sent again lacks the record that asked. Its caller
    /// goes on alone; those of the other records are found where they are now.</summary>
    [Fact]
    public async Task Record_behind_an_ask_that_has_left_is_found_by_playback()
    {
        var faults = new Queue<AppendFault>([AppendFault.None, AppendFault.LeaveHole]);
        var isSent = new TaskCompletionSource();
        var log = new InMemoryCorfuLog(new InMemoryLogOptions
        {
            NextAppendFault = () => faults.Count > 0 ? faults.Dequeue() : AppendFault.None,
            AroundAppend = _ => new ValueTask(isSent.Task),
        });
        using var lifetime = new CancellationTokenSource();
        var since = (await log.CheckAsync([])).Tail;
        // The level of the log is not known any more when the entry is sent again.
        var batcher = NewBatcher(log, lifetime.Token);
        var player = new EndlessPlayer();
        var (first, second) = (Update(player, 1), Update(player, 2));
        var ask = Ask(log, player, since, new CellScope(new StreamId(257), ScopeKind.Keyed, 7));
        batcher.Send(first);
        batcher.Send(ask);
        batcher.Send(second);
        isSent.SetResult();
        await player.Placed.Task;

        Assert.Equal(AskEnd.PositionLost, ask.End);
        var entry = (await log.ReadManyAsync([new LogPosition(2)]))[0].Entry!;
        var reader = new MessagePackReader(entry.Payload);
        var header = EntryFormat.ReadHeader(ref reader);
        Assert.Equal(1, header.Records);
        Assert.Same(second, Assert.Single(batcher.TakePlayed(header).Calls!));
        await lifetime.CancelAsync();
    }

    /// <summary>The next transaction of a caller asked for the tail, and met what other runtimes were
    /// writing.</summary>
    [Fact]
    public async Task Entry_is_being_played_before_the_callers_are_answered()
    {
        var log = new InMemoryCorfuLog();
        using var lifetime = new CancellationTokenSource();
        var player = new EndlessPlayer();
        var call = new WatchedCall(player);
        NewBatcher(log, lifetime.Token).Send(call);
        Assert.Equal(1, await call.EntriesWhenTold.Task);
        await lifetime.CancelAsync();
    }

    /// <summary>The caller of a refused record asked for the tail while the entry was on its way, and playback stood
    /// still at what other runtimes were writing: a tenth of the throughput.</summary>
    [Fact]
    public async Task Refusal_is_heard_when_the_rest_of_the_entry_is_being_played()
    {
        var (isSent, isRuled, isWritten) =
            (new TaskCompletionSource(), new TaskCompletionSource(), new TaskCompletionSource());
        var steps = 0;
        var log = new InMemoryCorfuLog(new InMemoryLogOptions
        {
            // Before and after each of two appends.
            AroundAppend = async _ =>
            {
                var step = Interlocked.Increment(ref steps);
                if (step == 1) await isSent.Task;
                if (step < 4) return;
                isRuled.SetResult();
                await isWritten.Task;
            },
        });
        using var lifetime = new CancellationTokenSource();
        var since = (await log.CheckAsync([])).Tail;
        var batcher = NewBatcher(log, lifetime.Token);
        var player = new EndlessPlayer();
        var second = Update(player, 2);
        // The ask reads what the entry writes before it.
        var ask = Ask(log, player, since, second.Writes[0]);
        batcher.Send(Update(player, 1));
        batcher.Send(second);
        batcher.Send(ask);
        isSent.SetResult();
        await isRuled.Task;
        Assert.Equal(AskEnd.Written, ask.End);
        Assert.False(ask.Task.IsCompleted);
        isWritten.SetResult();
        Assert.IsType<TxOutcome.Aborted>(await ask.Task);
        Assert.Equal(2, player.Entries);
        await lifetime.CancelAsync();
    }

    /// <summary>The rest of the entry may wait for long: for another position, behind a reconfiguration.</summary>
    [Fact]
    public async Task Refusal_is_heard_when_the_position_is_lost()
    {
        var (isSent, appends, ask) = (new TaskCompletionSource(), 0, (AskCall?)null);
        var heard = new List<bool>();
        var log = new InMemoryCorfuLog(new InMemoryLogOptions
        {
            NextAppendFault = () => ++appends == 2 ? AppendFault.LeaveHole : AppendFault.None,
            AroundAppend = async _ =>
            {
                heard.Add(ask?.Task.IsCompleted == true);
                if (heard.Count == 1) await isSent.Task;
            },
        });
        using var lifetime = new CancellationTokenSource();
        var since = (await log.CheckAsync([])).Tail;
        var batcher = NewBatcher(log, lifetime.Token);
        var player = new EndlessPlayer();
        var second = Update(player, 2);
        ask = Ask(log, player, since, second.Writes[0]);
        batcher.Send(Update(player, 1));
        batcher.Send(second);
        batcher.Send(ask);
        isSent.SetResult();
        await player.Placed.Task;
        Assert.Equal(3, appends);
        // Around the first append, around the one that loses its position, and around the one behind it.
        Assert.Equal([false, false, false, false, true, true], heard);
        Assert.Equal(AskEnd.Written, ask.End);
        await lifetime.CancelAsync();
    }

    /// <summary>Nothing of the entry is left to wait for.</summary>
    [Fact]
    public async Task Ask_refused_alone_is_answered_without_an_append()
    {
        var log = new InMemoryCorfuLog();
        using var lifetime = new CancellationTokenSource();
        var since = (await log.CheckAsync([])).Tail;
        await log.AppendDecidedAsync([s_stream], Declaration.None, 1, static _ => new byte[] { 1 }, []);
        var player = new EndlessPlayer();
        var ask = Ask(log, player, since, new CellScope(s_stream, ScopeKind.Keyed, 7));
        NewBatcher(log, lifetime.Token).Send(ask);
        Assert.IsType<TxOutcome.Aborted>(await ask.Task);
        Assert.Equal((AskEnd.Written, 0), (ask.End, player.Entries));
        Assert.Equal(since.Next, (await log.CheckAsync([])).Tail);
        await lifetime.CancelAsync();
    }

    private static CallBatcher NewBatcher(InMemoryCorfuLog log, CancellationToken lifetime) => new(log, 77,
        new TangoOptions { MaxAppendsInFlight = 1 }, static () => false, LoopContext.Pool, NullLogger.Instance,
        lifetime);

    private static AskCall Ask(InMemoryCorfuLog log, IPlayedEntries player, LogPosition since, CellScope read) =>
        new(new byte[] { 0xc0 }, [s_stream], null, player,
            new DirectoryEntry(new ObjectId(s_stream.Value), "written", "test-fragile", null, 16))
        {
            Log = log,
            Since = since,
            Reads = [read],
            Writes = [new CellScope(s_stream, ScopeKind.Keyed, 7)],
        };

    private static UpdateCall<ValueTuple> Update(IPlayedEntries player, byte record) =>
        new(new[] { record }, [s_stream], player, null)
        {
            Writes = [new CellScope(s_stream, ScopeKind.Keyed, record)],
        };

    /// <summary>Plays nothing. Told of the second entry, the first has been sent.</summary>
    private sealed class EndlessPlayer : IPlayedEntries
    {
        private int _entries;

        public int Entries => Volatile.Read(ref _entries);

        public TaskCompletionSource Placed { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public ImmutableArray<StreamId> Followed => [];

        public ValueTask PlayToAsync(LogPosition end, AppendedEntry? placed, CancellationToken cancellationToken)
        {
            if (Interlocked.Increment(ref _entries) == 2) Placed.SetResult();
            return new ValueTask(Task.Delay(Timeout.Infinite, cancellationToken));
        }
    }

    /// <summary>A call that is answered with the append, and whose entry is played.</summary>
    private sealed class WatchedCall(EndlessPlayer player) : PendingCall(new byte[] { 0xc0 }, [s_stream], null)
    {
        public TaskCompletionSource<int> EntriesWhenTold { get; } =
            new(TaskCreationOptions.RunContinuationsAsynchronously);

        public override IPlayedEntries Follower => player;

        protected override void TellDurable(RecordVersion version) => EntriesWhenTold.SetResult(player.Entries);

        protected override void TellPublished() => throw new InvalidOperationException("Not played");

        protected override void TellInDoubt(LogPosition? position, string message, Exception? reason) =>
            EntriesWhenTold.SetException(reason ?? new InvalidOperationException(message));

        protected override void TellFailed(Exception reason) => EntriesWhenTold.SetException(reason);
    }
}
