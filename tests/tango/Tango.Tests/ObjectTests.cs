using System.Collections.Immutable;
using Corfu;
using Tango.Formatting;

namespace Tango.Tests;

public class ObjectTests
{
    [Fact]
    public async Task Acknowledged_write_is_read_by_another_runtime()
    {
        await using var world = new World();
        var (_, a) = await world.OpenAccountsAsync();
        var (_, b) = await world.OpenAccountsAsync();
        await a.SetAsync("x", 5);
        Assert.Equal(5, await b.BalanceAsync("x"));
        Assert.Equal(8, await b.AddAsync("x", 3));
        Assert.Equal(8, await a.BalanceAsync("x"));
    }

    [Fact]
    public async Task Rejected_call_throws_and_leaves_the_object_unchanged()
    {
        await using var world = new World();
        var (_, accounts) = await world.OpenAccountsAsync();
        await accounts.SetAsync("x", 5);
        var rejected =
            await Assert.ThrowsAsync<TangoRejectedException>(async () => await accounts.WithdrawAsync("x", 6));
        Assert.Equal("insufficient funds", rejected.Reason);
        Assert.Equal(5, await accounts.BalanceAsync("x"));
        await accounts.WithdrawAsync("x", 5);
        Assert.Equal(0, await accounts.BalanceAsync("x"));
    }

    [Fact]
    public async Task Each_of_many_concurrent_callers_gets_the_result_of_that_call()
    {
        await using var world = new World();
        var (_, accounts) = await world.OpenAccountsAsync();
        var results = await Task.WhenAll(Enumerable.Range(0, 500).Select(_ => accounts.AddAsync("x", 1).AsTask()));
        Assert.Equal(Enumerable.Range(1, 500).Select(i => (long)i), results.Order());
        var tail = (await world.Log.CheckAsync([])).Tail;
        Assert.True(tail.Offset < 250, $"500 concurrent updates took {tail} entries: they should share them");
    }

    [Fact]
    public async Task Objects_of_one_name_must_have_one_type()
    {
        await using var world = new World();
        await world.OpenAccountsAsync("name");
        var other = world.NewRuntime();
        await Assert.ThrowsAsync<TangoDirectoryException>(async () =>
            await other.OpenAsync<Fragile>("name", OpenMode.Create));
    }

    [Fact]
    public async Task An_object_opened_late_has_the_whole_history()
    {
        await using var world = new World();
        var (runtime, first) = await world.OpenAccountsAsync("first");
        var writer = world.NewRuntime();
        var second = await writer.OpenAsync<Accounts>("second", OpenMode.Create);
        for (var i = 0; i < 20; i++)
        {
            await first.AddAsync("x", 1);
            await second.AddAsync("y", 1);
        }

        Assert.Equal(20, await first.BalanceAsync("x"));
        var late = await runtime.OpenAsync<Accounts>("second", OpenMode.Create);
        Assert.Equal(20, await late.BalanceAsync("y"));
        Assert.Equal(20, await first.BalanceAsync("x"));
    }

    [Fact]
    public async Task Opening_one_member_of_a_group_opens_all()
    {
        await using var world = new World();
        Accounts a = null!, b = null!;
        await world.NewRuntime().OpenGroupAsync("pair", g => { a = g.Add<Accounts>("a"); b = g.Add<Accounts>("b"); });
        await a.SetAsync("x", 1);

        var runtime = world.NewRuntime();
        var alone = await runtime.OpenAsync<Accounts>("b", OpenMode.Create);
        var transaction = runtime.BeginTx();
        await alone.AddAsync("x", 7);
        var both =
            await runtime.OpenWriteOnlyAsync<Accounts>("other", OpenMode.Create)
                .AsTask().ContinueWith(t => t.IsFaulted);
        Assert.True(both, "opening inside a transaction is refused");
        Assert.True((await transaction.EndTxAsync()).IsCommitted);
        Assert.Equal(7, await b.BalanceAsync("x"));
    }

    [Fact]
    public async Task Write_only_handle_writes_and_refuses_calls_that_read()
    {
        await using var world = new World();
        var (_, hosted) = await world.OpenAccountsAsync("remote");
        var writer = await world.NewRuntime().OpenWriteOnlyAsync<Accounts>("remote", OpenMode.Create);
        await writer.SetAsync("x", 4);
        Assert.Equal(4, await hosted.BalanceAsync("x"));
        await Assert.ThrowsAsync<TangoNotHostedException>(async () => await writer.AddAsync("x", 1));
        await Assert.ThrowsAsync<TangoNotHostedException>(async () => await writer.BalanceAsync("x"));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Object_whose_history_was_trimmed_fails_only_the_opener(bool realCursor)
    {
        await using var world = new World(realCursor: realCursor);
        var (_, trimmed) = await world.OpenAccountsAsync("trimmed");
        var (runtime, accounts) = await world.OpenAccountsAsync("accounts");
        await trimmed.SetAsync("x", 1);
        var last = await world.TailAsync();
        await world.Log.TrimAsync(new LogPosition(last.Offset - 1));
        await accounts.SetAsync("x", 2);
        for (var attempt = 0; attempt < 2; attempt++)
        {
            await Assert.ThrowsAsync<TangoTrimmedException>(async () =>
                await runtime.OpenAsync<Accounts>("trimmed", OpenMode.Create));
            Assert.Equal(2 + attempt, await accounts.BalanceAsync("x"));
            await accounts.AddAsync("x", 1);
        }

        var other = await runtime.OpenAsync<Accounts>("other", OpenMode.Create);
        await other.SetAsync("x", 5);
        Assert.Equal(5, await other.BalanceAsync("x"));
        Assert.Equal(4, await accounts.BalanceAsync("x"));
    }

    [Fact]
    public async Task An_object_whose_apply_fails_stops_alone_and_alike_everywhere()
    {
        await using var world = new World();
        var runtime = world.NewRuntime();
        var fragile = await runtime.OpenAsync<Fragile>("fragile", OpenMode.Create);
        var accounts = await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create);
        await fragile.PutAsync(1);
        await fragile.PutAsync(13);
        var here = await Assert.ThrowsAsync<TangoObjectStoppedException>(async () => await fragile.SumAsync());
        await accounts.SetAsync("x", 2);
        Assert.Equal(2, await accounts.BalanceAsync("x"));

        var elsewhere = await world.NewRuntime().OpenAsync<Fragile>("fragile", OpenMode.Create);
        var there = await Assert.ThrowsAsync<TangoObjectStoppedException>(async () => await elsewhere.SumAsync());
        Assert.Equal(here.Version, there.Version);
        Assert.True(here.WasRebuilt && there.WasRebuilt);
        Assert.Contains("also when it was played anew", here.Message, StringComparison.Ordinal);
        await Assert.ThrowsAsync<TangoObjectStoppedException>(async () => await fragile.PutAsync(1));
    }

    /// <summary>Raw streams took ids from 256 on, as objects do: a raw entry stopped the object from birth.</summary>
    [Fact]
    public async Task A_raw_append_does_not_reach_an_object()
    {
        await using var world = new World();
        await Assert.ThrowsAsync<StreamRangeException>(
            async () => await world.Log.AppendAsync("raw"u8.ToArray(), [ObjectId.FirstUser.Stream]));
        await world.Log.AppendAsync("raw"u8.ToArray(), [StreamId.FromName("raw")]);
        var (_, accounts) = await world.OpenAccountsAsync();
        await accounts.SetAsync("x", 1);
        Assert.Equal(1, await accounts.BalanceAsync("x"));
    }

    /// <summary>Streams of checkpoints and raw streams begin above the last object, on every replica alike.</summary>
    [Fact]
    public void The_directory_gives_no_ids_that_are_other_streams()
    {
        ITangoView directory = new TangoDirectory();
        var state = new ArgumentBuffer();
        var writer = new MessagePackWriter(state);
        writer.WriteArrayHeader(DirectoryFormat.StateLength);
        writer.Write(FeatureLevel.First);
        writer.Write(TangoDirectory.DefaultMaxSpan);
        writer.Write(TangoDirectory.DefaultVersionAge);
        writer.Write(ObjectId.EndOfUser - 2);
        writer.WriteArrayHeader(0);
        ClaimFormat.WriteState(ref writer, TrimClaims.None);
        writer.WriteArrayHeader(0);
        writer.Flush();
        directory.LoadState(state.WrittenMemory);

        Assert.Throws<TangoRejectedException>(() => Create(directory, "group", "a", "b", "c"));
        Assert.Equal(
            [ObjectId.EndOfUser - 2, ObjectId.EndOfUser - 1], Create(directory, "group", "a", "b"));
        Assert.Throws<TangoRejectedException>(() => Create(directory, null, "c"));
        Assert.Equal([ObjectId.EndOfUser - 2, ObjectId.EndOfUser - 1], Create(directory, "group", "a", "b"));
    }

    private static IEnumerable<ulong> Create(ITangoView directory, string? group, params string[] names)
    {
        var arguments = new ArgumentBuffer();
        var writer = new MessagePackWriter(arguments);
        writer.WriteArrayHeader(5);
        writer.Write(FeatureLevel.First);
        writer.Write(TangoDirectory.DefaultMaxSpan);
        writer.Write(TangoDirectory.DefaultVersionAge);
        writer.Write(group);
        writer.WriteArrayHeader(names.Length);
        foreach (var name in names)
        {
            writer.WriteArrayHeader(3);
            writer.Write(name);
            writer.Write("type");
            writer.Write(16);
        }

        writer.Flush();
        var result = new ApplyResult<ImmutableArray<DirectoryEntry>>();
        directory.Apply(1, default, arguments.WrittenMemory, new ApplyContext(result));
        return result.Value.Select(entry => entry.Id.Value);
    }
}
