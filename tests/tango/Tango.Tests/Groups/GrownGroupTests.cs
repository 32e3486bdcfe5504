using Corfu;
using Tango.Tests.Feeds;
using Tango.Tests.SecondViews;

namespace Tango.Tests.Groups;

/// <summary>Other ways of playing a group: past states, forks, feeds, second views, deletions.</summary>
public class GrownGroupTests
{
    [Fact]
    public async Task Past_state_has_the_members_of_that_position()
    {
        await using var world = new World();
        var older = await Group.OpenOlderAsync(world);
        await older.First.SetAsync("x", 1);
        var newer = await Group.OpenNewerAsync(world);
        var birth = (await newer.Runtime.Directory.ListAsync()).Single(static e => e.Birth is not null).Birth!.Value;
        await newer.Late!.SetAsync("x", 2);
        foreach (var at in new[] { birth, birth.Next, await world.TailAsync() })
        {
            var past = await older.Runtime.History.OpenAsync(at);
            Assert.Equal(1, await (await past.OpenAsync<Accounts>("first")).BalanceAsync("x"));
            Assert.Equal(at == birth ? 2 : 3, past.Objects.Length);
            if (at == birth)
                await Assert.ThrowsAsync<TangoObjectNotFoundException>(
                    async () => await past.OpenAsync<Accounts>("late"));
            else
                Assert.Equal(at == birth.Next ? 0 : 2,
                    await (await past.OpenAsync<Accounts>("late")).BalanceAsync("x"));
        }
    }

    [Fact]
    public async Task Added_member_is_forked_like_an_original_member()
    {
        await using var world = new World();
        var newer = await GrownAsync(world);
        var at = await world.TailAsync();
        await newer.Late!.SetAsync("x", 9);
        var made = await newer.Runtime.History.ForkAsync("late", at, "fork");
        Assert.Equal(((string?)null, (LogPosition?)null), (made.Group, made.Birth));
        var fork = await world.NewRuntime().OpenAsync<Accounts>("fork");
        Assert.Equal((2, 9), (await fork.BalanceAsync("x"), await newer.Late.BalanceAsync("x")));
    }

    [Fact]
    public async Task A_grown_group_is_deleted_as_a_whole()
    {
        await using var world = new World();
        var older = await Group.OpenOlderAsync(world);
        var newer = await GrownAsync(world);
        await newer.Runtime.Directory.DeleteGroupAsync("group");
        await Assert.ThrowsAsync<TangoObjectDeletedException>(async () => await newer.Late!.BalanceAsync("x"));
        await Assert.ThrowsAsync<TangoObjectDeletedException>(async () => await older.First.BalanceAsync("x"));
        Assert.Empty(await older.Runtime.Directory.ListAsync());
        var again = await Group.OpenNewerAsync(world);
        Assert.Equal(0, await again.Late!.BalanceAsync("x"));
    }

    [Fact]
    public async Task Feed_of_an_added_member_begins_at_the_birth()
    {
        await using var world = new World();
        var older = await Group.OpenOlderAsync(world);
        var newer = await GrownAsync(world);
        await newer.Runtime.RunTransactionAsync(async _ =>
            await newer.Late!.SetAsync("y", await newer.First.BalanceAsync("x")));
        Assert.Equal(["Set x 2", "Set y 1 in a transaction"], await ReadAsync(older.Runtime, LogPosition.Zero, 2));

        // R22: from a checkpoint above the birth, the state is told.
        var end = await newer.Runtime.Checkpoints.WriteAsync(newer.First);
        await newer.Runtime.Checkpoints.WriteDirectoryAsync();
        await newer.Late!.SetAsync("z", 3);
        await world.Log.TrimPrefixAsync(end);
        Assert.Equal([$"{end.Offset} Reset", "Set z 3"], await ReadAsync(newer.Runtime, LogPosition.Zero, 2));
    }

    [Fact]
    public async Task Feed_trimmed_below_the_birth_misses_no_change()
    {
        await using var world = new World();
        var older = await Group.OpenOlderAsync(world);
        await older.First.SetAsync("x", 1);
        var end = await older.Runtime.Checkpoints.WriteAsync(older.First);
        await older.Runtime.Checkpoints.WriteDirectoryAsync();
        var newer = await GrownAsync(world);
        await world.Log.TrimPrefixAsync(end);
        Assert.Equal(["Set x 2"], await ReadAsync(newer.Runtime, LogPosition.Zero, 1));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Second_view_of_an_added_member_shows_acknowledged_writes(bool isTrimmed)
    {
        await using var world = new World();
        var older = await Group.OpenOlderAsync(world);
        await older.First.SetAsync("x", 1);
        var end = await older.Runtime.Checkpoints.WriteAsync(older.First);
        await older.Runtime.Checkpoints.WriteDirectoryAsync();
        var newer = await GrownAsync(world);
        if (isTrimmed)
        {
            end = await newer.Runtime.Checkpoints.WriteAsync(newer.First);
            await newer.Runtime.Checkpoints.WriteDirectoryAsync();
        }

        await world.Log.TrimPrefixAsync(end);
        var wealth = await world.NewRuntime().OpenViewAsync<Accounts, Wealth>("late");
        Assert.Equal(["x"], await wealth.RichestAsync());
        await newer.Late!.SetAsync("rich", 10);
        Assert.Equal(["rich", "x"], await wealth.RichestAsync());
    }

    /// <summary>The view's player meets the birth of a member that the view does not show.</summary>
    [Fact]
    public async Task A_second_view_of_another_member_goes_on()
    {
        await using var world = new World();
        var older = await Group.OpenOlderAsync(world);
        var wealth = await older.Runtime.OpenViewAsync<Accounts, Wealth>("first");
        var newer = await GrownAsync(world);
        var outcome = await newer.Runtime.RunTransactionAsync(async _ =>
            await newer.First.SetAsync("y", await newer.Late!.BalanceAsync("x")));
        Assert.True(outcome.IsCommitted);
        Assert.Equal(["y", "x"], await wealth.RichestAsync());
    }

    private static async Task<Group> GrownAsync(World world)
    {
        var newer = await Group.OpenNewerAsync(world);
        await newer.First.SetAsync("x", 1);
        await newer.Late!.SetAsync("x", 2);
        return newer;
    }

    private static async Task<List<string>> ReadAsync(TangoRuntime runtime, LogPosition from, int count) =>
    [
        .. (await runtime.History.ChangesAsync<Accounts>(
                "late", from, FeedReader.Quick, TestContext.Current.CancellationToken).TakeAsync(count))
            .Select(FeedReader.Describe),
    ];
}
