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
        var batcher = new CallBatcher(log, 77, new TangoOptions { MaxAppendsInFlight = 1 }, static () => false,
            LoopContext.Pool, NullLogger.Instance, lifetime.Token);
        var player = new EndlessPlayer();
        var (first, second) = (Update(player, 1), Update(player, 2));
        var stream = new StreamId(256);
        var ask = new AskCall(new byte[] { 0xc0 }, [stream], null, player,
            new DirectoryEntry(new ObjectId(256), "written", "test-fragile", null, 16))
        {
            Log = log,
            Since = since,
            Reads = [new CellScope(new StreamId(257), ScopeKind.Keyed, 7)],
            Writes = [new CellScope(stream, ScopeKind.Keyed, 7)],
        };
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

    private static UpdateCall<ValueTuple> Update(IPlayedEntries player, byte record) =>
        new(new[] { record }, [new StreamId(256)], player, null)
        {
            Writes = [new CellScope(new StreamId(256), ScopeKind.Keyed, record)],
        };

    /// <summary>Plays nothing. Told of the second entry, the first has been sent.</summary>
    private sealed class EndlessPlayer : IPlayedEntries
    {
        private int _entries;

        public TaskCompletionSource Placed { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public ImmutableArray<StreamId> Followed => [];

        public ValueTask PlayToAsync(LogPosition end, AppendedEntry? placed, CancellationToken cancellationToken)
        {
            if (Interlocked.Increment(ref _entries) == 2) Placed.SetResult();
            return new ValueTask(Task.Delay(Timeout.Infinite, cancellationToken));
        }
    }
}
