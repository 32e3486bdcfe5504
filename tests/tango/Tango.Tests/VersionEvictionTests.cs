using Corfu;
using Tango.Model;
using Tango.Playback;
using Tango.Runtime;

namespace Tango.Tests;

/// <summary>R18: versions of keys are kept in bounded number and for a bounded stretch of the log; a snapshot older
/// than what is kept cannot commit.</summary>
public class VersionEvictionTests
{
    private const long Age = 5;

    public static TheoryData<int> Seeds => [.. Enumerable.Range(1, 30)];

    /// <summary>The mark rises with what is forgotten: no write above a snapshot is overlooked.</summary>
    [Theory]
    [MemberData(nameof(Seeds))]
    public void A_table_that_forgets_overlooks_no_write(int seed)
    {
        var random = new Random(seed);
        var table = new VersionTable(capacity: 6);
        var writes = new List<(byte? Key, long Position)>();
        for (var position = 0L; position < 200; position += random.Next(1, 4))
        {
            byte? key = random.Next(25) == 0 ? null : (byte)random.Next(10);
            writes.Add((key, position));
            table.Write(key is not null, key is { } k ? [k] : [], new RecordVersion(new LogPosition(position), 0), Age);
            for (var end = Math.Max(0, position - 40); end <= position + 1; end++)
            {
                for (byte read = 0; read < 10; read++)
                {
                    var isStale = writes.Any(
                        write => write.Position >= end && (write.Key is null || write.Key == read));
                    var conflicts = table.TryFindConflict(true, [read], new LogPosition(end), out var conflict);
                    if (!conflicts) Assert.False(isStale, $"{read} was written at or above {end}");
                    else if (conflict!.Reason == AbortReason.Conflict) Assert.True(isStale);
                    // Young enough: it is known.
                    if (end > position - Age && conflicts && table.Capture().Keys.Length < 6) Assert.True(isStale);
                }
            }

            Assert.All(table.Capture().Keys, known => Assert.True(known.Version.Position.Offset >= position - Age));
        }
    }

    [Fact]
    public async Task Versions_that_are_too_old_are_forgotten_everywhere_alike()
    {
        await using var world = new World();
        var runtime = world.NewRuntime(new TangoOptions { NewLogVersionAge = Age });
        var accounts = await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create);
        // The parameter is the log's: another option of a later runtime changes nothing.
        var otherRuntime = world.NewRuntime(new TangoOptions { NewLogVersionAge = 1000 });
        var other = await otherRuntime.OpenAsync<Accounts>("accounts", OpenMode.Create);

        var old = await runtime.BeginTransferAsync(accounts, "x");
        await other.SetAsync("a", 1);
        for (var i = 0; i < 10; i++) await other.SetAsync("b", i);
        var aborted = Assert.IsType<TxOutcome.Aborted>(await old.EndTxAsync());
        Assert.Equal(AbortReason.SnapshotTooOld, aborted.Reason);
        Assert.True((await runtime.TransferAsync(accounts, "x", 1)).IsCommitted);

        await otherRuntime.SyncAsync();
        await runtime.Checkpoints.WriteAsync(accounts);
        var late = world.NewRuntime();
        var loaded = await late.OpenAsync<Accounts>("accounts");
        var states = new[] { accounts, other, loaded }.Select(
            static handle => ((ObjectHost)handle.Host).Hosted!.Versions.Capture()).ToList();
        Assert.All(states, state => Assert.Equal(states[0].LowWaterMark, state.LowWaterMark));
        Assert.All(states, static state => Assert.Equal(2, state.Keys.Length));
        Assert.NotNull(states[0].LowWaterMark);
    }

    [Fact]
    public async Task A_write_of_the_whole_object_leaves_no_versions_of_keys()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        for (var i = 0; i < 50; i++) await accounts.SetAsync($"{i}", 1);
        var old = await runtime.BeginTransferAsync(accounts, "49");
        await accounts.ClearAsync();
        Assert.False((await old.EndTxAsync()).IsCommitted);
        Assert.Empty(((ObjectHost)accounts.Host).Hosted!.Versions.Capture().Keys);
        Assert.True((await runtime.TransferAsync(accounts, "49", 1)).IsCommitted);
    }

    [Fact]
    public async Task A_snapshot_below_the_low_water_mark_aborts_and_a_newer_one_does_not()
    {
        await using var world = new World();
        var options = new TangoOptions { NewObjectVersionCapacity = 2 };
        var runtime = world.NewRuntime(options);
        var accounts = await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create);
        var other = await world.NewRuntime().OpenAsync<Accounts>("accounts", OpenMode.Create);

        var old = runtime.BeginTx();
        Assert.Equal(0, await accounts.BalanceAsync("x"));
        foreach (var key in new[] { "a", "b", "c" }) await other.SetAsync(key, 1);
        await accounts.SetAsync("x", 1);
        var aborted = Assert.IsType<TxOutcome.Aborted>(await old.EndTxAsync());
        Assert.Equal(AbortReason.SnapshotTooOld, aborted.Reason);

        var fresh = runtime.BeginTx();
        Assert.Equal(1, await accounts.BalanceAsync("a"));
        await accounts.SetAsync("x", 1);
        Assert.True((await fresh.EndTxAsync()).IsCommitted);
    }

    [Fact]
    public async Task Writing_the_same_keys_again_evicts_no_versions()
    {
        await using var world = new World();
        var runtime = world.NewRuntime(new TangoOptions { NewObjectVersionCapacity = 2 });
        var accounts = await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create);
        var other = await world.NewRuntime().OpenAsync<Accounts>("accounts", OpenMode.Create);
        var transaction = runtime.BeginTx();
        Assert.Equal(0, await accounts.BalanceAsync("x"));
        for (var i = 0; i < 10; i++) await other.SetAsync(i % 2 == 0 ? "a" : "b", i);
        await accounts.SetAsync("x", 1);
        Assert.True((await transaction.EndTxAsync()).IsCommitted);
    }
}
