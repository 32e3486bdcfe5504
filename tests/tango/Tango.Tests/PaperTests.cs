using Corfu;
using Tango.Testing;

namespace Tango.Tests;

/// <summary>Each test shows a claim of "Tango: Distributed Data Structures over a Shared Log" (SOSP 2013), which it
/// cites.</summary>
public class PaperTests
{
    /// <summary>3.1: "the state of the object can be reconstructed by simply creating a new instance and calling
    /// query_helper on Tango".</summary>
    [Fact]
    public async Task Durability_a_new_instance_reconstructs_the_state()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        await accounts.SetAsync("x", 3);
        await runtime.DisposeAsync();
        var (_, again) = await world.OpenAccountsAsync();
        Assert.Equal(3, await again.BalanceAsync("x"));
    }

    /// <summary>3.1: "a Tango object with multiple views on different machines provides linearizable
    /// semantics".</summary>
    [Fact]
    public async Task Consistency_an_accessor_sees_every_mutator_that_completed_before()
    {
        await using var world = new World();
        var (_, a) = await world.OpenAccountsAsync();
        var (_, b) = await world.OpenAccountsAsync();
        for (var i = 1; i <= 50; i++)
        {
            await (i % 2 == 0 ? a : b).SetAsync("x", i);
            Assert.Equal(i, await (i % 2 == 0 ? b : a).BalanceAsync("x"));
        }
    }

    /// <summary>3.2: "Each client that encounters the commit record decides – independently but deterministically –
    /// whether it should commit or abort".</summary>
    [Fact]
    public async Task Every_runtime_decides_a_commit_record_alike()
    {
        await using var world = new World();
        var (runtimeA, a) = await world.OpenAccountsAsync();
        var (runtimeB, b) = await world.OpenAccountsAsync();
        await runtimeB.SyncAsync();
        var outcomes = await Task.WhenAll(
            runtimeA.TransferAsync(a, "x", 1).AsTask(), runtimeB.TransferAsync(b, "x", 2).AsTask());
        var (_, late) = await world.OpenAccountsAsync();
        var balance = await late.BalanceAsync("x");
        Assert.Equal(balance, await a.BalanceAsync("x"));
        Assert.Equal(balance, await b.BalanceAsync("x"));
        Assert.Contains(outcomes, outcome => outcome.IsCommitted);
    }

    /// <summary>3.2: "Commit records ensure atomicity": an update becomes visible with all others of its transaction or
    /// not at all.</summary>
    [Fact]
    public async Task A_transaction_over_two_objects_is_seen_whole()
    {
        await using var world = new World();
        Accounts a = null!, b = null!, c = null!, d = null!;
        var writer = world.NewRuntime();
        await writer.OpenGroupAsync("pair", g => { a = g.Add<Accounts>("a"); b = g.Add<Accounts>("b"); });
        var reader = world.NewRuntime();
        await reader.OpenGroupAsync("pair", g => { c = g.Add<Accounts>("a"); d = g.Add<Accounts>("b"); });

        var stop = false;
        var writing = WriteAsync();
        for (var i = 0; i < 200; i++)
        {
            await using var transaction =
                reader.BeginTx(new TransactionOptions { StaleSnapshot = true, StartFresh = true });
            Assert.Equal(0, await c.BalanceAsync("x") + await d.BalanceAsync("x"));
            Assert.True((await transaction.EndTxAsync()).IsCommitted);
        }

        stop = true;
        await writing;

        async Task WriteAsync()
        {
            for (var i = 1; !Volatile.Read(ref stop); i++)
            {
                await writer.RunTransactionAsync(async _ =>
                {
                    await a.SetAsync("x", i);
                    await b.SetAsync("x", -i);
                });
            }
        }
    }

    /// <summary>3.2, Read-only transactions: "the EndTX call does not insert a commit record into the shared
    /// log".</summary>
    [Fact]
    public async Task Read_only_transaction_appends_no_entry_and_is_validated_at_the_tail()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        var (_, other) = await world.OpenAccountsAsync();
        var before = await world.TailAsync();
        var transaction = runtime.BeginTx();
        await accounts.BalanceAsync("x");
        Assert.True((await transaction.EndTxAsync()).IsCommitted);
        Assert.Equal(before, await world.TailAsync());

        var late = runtime.BeginTx();
        await accounts.BalanceAsync("x");
        await other.SetAsync("x", 1);
        Assert.IsType<TxOutcome.Aborted>(await late.EndTxAsync());
    }

    /// <summary>3.2: "fast read-only transactions from stale snapshots by having EndTX make the commit/abort decision
    /// locally".</summary>
    [Fact]
    public async Task A_stale_snapshot_transaction_does_not_ask_the_log()
    {
        var checks = 0;
        await using var world = new World(new InMemoryLogOptions
        {
            BeforeCheck = _ =>
            {
                Interlocked.Increment(ref checks);
                return ValueTask.CompletedTask;
            },
        });
        var (runtime, accounts) = await world.OpenAccountsAsync();
        var (_, other) = await world.OpenAccountsAsync();
        await accounts.SetAsync("x", 1);
        await runtime.SyncAsync();
        await other.SetAsync("x", 2);
        var asked = checks;
        var transaction = runtime.BeginTx(new TransactionOptions { StaleSnapshot = true });
        Assert.Equal(1, await accounts.BalanceAsync("x"));
        Assert.True((await transaction.EndTxAsync()).IsCommitted);
        Assert.Equal(asked, checks);
    }

    /// <summary>3.2: "Write-only transactions require an append on the shared log but can commit immediately without
    /// playing the log forward".</summary>
    [Fact]
    public async Task Write_only_transaction_commits_with_the_append_alone()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        var played = runtime.Log.PlayedTo;
        var transaction = runtime.BeginTx();
        await accounts.SetAsync("x", 1);
        await accounts.SetAsync("y", 2);
        var committed = Assert.IsType<TxOutcome.Committed>(await transaction.EndTxAsync());
        Assert.Equal(played, runtime.Log.PlayedTo);
        Assert.Equal(committed.Version.Position.Next, await world.TailAsync());
        Assert.Equal(2, await accounts.BalanceAsync("y"));
    }

    /// <summary>3.2, Versioning: keys name "disjoint sub-region[s] of the data structure", so that transactions on them
    /// do not conflict.</summary>
    [Fact]
    public async Task Transactions_on_different_keys_do_not_conflict()
    {
        await using var world = new World();
        var (runtimeA, a) = await world.OpenAccountsAsync();
        var (runtimeB, b) = await world.OpenAccountsAsync();
        var first = await runtimeA.BeginTransferAsync(a, "x");
        var second = await runtimeB.BeginTransferAsync(b, "y");
        Assert.True((await first.EndTxAsync()).IsCommitted);
        Assert.True((await second.EndTxAsync()).IsCommitted);
    }

    /// <summary>3.2, Naming: the directory is itself an object with a hard-coded id and maps names to unique
    /// ids.</summary>
    [Fact]
    public async Task Naming_one_name_is_one_object_everywhere()
    {
        await using var world = new World();
        var a = world.NewRuntime();
        var b = world.NewRuntime();
        await Task.WhenAll(
            a.OpenAsync<Accounts>("x", OpenMode.Create).AsTask(), b.OpenAsync<Accounts>("x", OpenMode.Create).AsTask(),
            b.OpenAsync<Accounts>("y", OpenMode.Create).AsTask());
        var entries = await a.Directory.ListAsync();
        Assert.Equal(["x", "y"], entries.Select(e => e.Name));
        Assert.Equal(2, entries.Select(e => e.Id).Distinct().Count());
        Assert.All(entries, e => Assert.True(e.Id.CompareTo(ObjectId.FirstUser) >= 0));
        Assert.Equal(entries, await b.Directory.ListAsync());
    }

    /// <summary>4: a client "selectively consume[s] the subsequence of updates that concern [it] while skipping over
    /// those that do not".</summary>
    [Fact]
    public async Task Runtime_plays_only_the_streams_of_hosted_objects()
    {
        await using var world = new World();
        var (_, x) = await world.OpenAccountsAsync("x");
        var (_, y) = await world.OpenAccountsAsync("y");
        await x.SetAsync("k", 1);
        await y.SetAsync("k", 2);
        var entry = (await world.Log.ReadManyAsync([(await world.TailAsync()) + -1]))[0].Entry!;
        Assert.Equal([new StreamId(257)], entry.Streams.Select(header => header.Stream));
        Assert.Equal(1, await x.BalanceAsync("k"));
    }

    /// <summary>4.1: "multiappend the commit record to all the streams involved in the write set": one place in the
    /// order, met by every host.</summary>
    [Fact]
    public async Task A_commit_record_is_in_the_stream_of_every_object_written()
    {
        await using var world = new World();
        var runtime = world.NewRuntime();
        Accounts a = null!, b = null!;
        await runtime.OpenGroupAsync("pair", g => { a = g.Add<Accounts>("a"); b = g.Add<Accounts>("b"); });
        var outcome = await runtime.RunTransactionAsync(async _ =>
        {
            await a.BalanceAsync("x");
            await a.SetAsync("x", 1);
            await b.SetAsync("x", 1);
        });
        var committed = Assert.IsType<TxOutcome.Committed>(outcome);
        var entry = (await world.Log.ReadManyAsync([committed.Version.Position]))[0].Entry!;
        Assert.Equal([256ul, 257ul], entry.Streams.Select(header => header.Stream.Value));
    }

    /// <summary>4.1, A: "a client does not need to play a stream to append to it".</summary>
    [Fact]
    public async Task A_remote_write_needs_no_view()
    {
        await using var world = new World();
        var (_, hosted) = await world.OpenAccountsAsync("remote");
        var producer = world.NewRuntime();
        var remote = await producer.OpenWriteOnlyAsync<Accounts>("remote", OpenMode.Create);
        var outcome = await producer.RunTransactionAsync(async _ =>
        {
            await remote.SetAsync("x", 1);
            await remote.SetAsync("y", 2);
        });
        Assert.True(outcome.IsCommitted);
        Assert.Equal(3, await hosted.BalanceAsync("x") + await hosted.BalanceAsync("y"));
    }

    /// <summary>5, Failure handling: "crashed clients can create holes in the log"; readers fill them and go
    /// on.</summary>
    [Fact]
    public async Task Holes_are_filled_and_playback_goes_on()
    {
        var appends = 0;
        await using var world = new World(new InMemoryLogOptions
        {
            NextAppendFault = () => ++appends % 2 == 0 ? AppendFault.LeaveHole : AppendFault.None,
        });
        var (_, a) = await world.OpenAccountsAsync();
        var (_, b) = await world.OpenAccountsAsync();
        for (var i = 0; i < 10; i++) await a.AddAsync("x", 1);
        Assert.Equal(10, await b.BalanceAsync("x"));
    }
}
