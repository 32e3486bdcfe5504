namespace Corfu.Simulation.Tests;

/// <summary>Errors in the packets of a connection are found: a checker that cannot fail proves nothing.</summary>
public sealed class WatchCheckerTests
{
    private static readonly LeavesWatch s_data = new(WatchTableKind.Data, "/a");

    // Zxid 1 makes the nodes, 2 and 3 set one, 4 deletes it and makes a child of the other.
    private static NodeChanges Log()
    {
        var log = new NodeChanges();
        log.Add([new(1, NodeChangeKind.Created, "/a"), new(1, NodeChangeKind.Created, "/b")]);
        log.Add([new(2, NodeChangeKind.DataChanged, "/a")]);
        log.Add([new(3, NodeChangeKind.DataChanged, "/a")]);
        log.Add([new(4, NodeChangeKind.Deleted, "/a"), new(4, NodeChangeKind.ChildrenChanged, "/b")]);
        return log;
    }

    private static string? Checker(params WatchPacket[] packets) =>
        WatchChecker.Check("client", packets, Log())?.Checker;

    private static EventPacket Set(long zxid) => new(zxid, NodeChangeKind.DataChanged, "/a");

    private static SetsWatches Again(long seen, params string[] data) => new(seen, data, [], [], [], []);

    [Fact]
    public void Watch_of_one_shot_hears_the_first_change() =>
        Assert.Null(Checker(new ReplyPacket(1, s_data), Set(2), new ReplyPacket(2), new ReplyPacket(4)));

    [Fact]
    public void Event_behind_the_reply_of_the_same_zxid_is_late() => Assert.Equal(CheckerNames.ZooKeeperOrder,
        Checker(new ReplyPacket(1, s_data), new ReplyPacket(2), Set(2)));

    [Fact]
    public void Change_without_an_event_is_lost() => Assert.Equal(CheckerNames.ZooKeeperWatch,
        Checker(new ReplyPacket(1, s_data), new ReplyPacket(3)));

    [Fact]
    public void Second_event_of_one_shot_is_one_too_many() => Assert.Equal(CheckerNames.ZooKeeperWatch,
        Checker(new ReplyPacket(1, s_data), Set(2), Set(3)));

    [Fact]
    public void Event_that_skips_a_change_is_no_first_one() => Assert.Equal(CheckerNames.ZooKeeperWatch,
        Checker(new ReplyPacket(1, s_data), Set(3)));

    [Fact]
    public void Event_without_a_change_is_found() => Assert.Equal(CheckerNames.ZooKeeperWatch,
        Checker(new ReplyPacket(2, new LeavesWatch(WatchTableKind.Child, "/b")),
            new EventPacket(3, NodeChangeKind.ChildrenChanged, "/b")));

    [Fact]
    public void Zxids_that_fall_are_found() => Assert.Equal(CheckerNames.ZooKeeperOrder,
        Checker(new ReplyPacket(3), new ReplyPacket(2)));

    [Fact]
    public void Watch_that_stays_hears_each_change_once()
    {
        var added = new ReplyPacket(1, new LeavesWatch(WatchTableKind.Recursive, "/"));
        var deleted = new EventPacket(4, NodeChangeKind.Deleted, "/a");
        Assert.Null(Checker(added, Set(2), Set(3), deleted, new ReplyPacket(4)));
        Assert.Equal(CheckerNames.ZooKeeperWatch, Checker(added, Set(2), deleted, new ReplyPacket(4)));
        Assert.Equal(CheckerNames.ZooKeeperWatch, Checker(added, Set(2), Set(2), Set(3)));
    }

    [Fact]
    public void Removed_watch_hears_no_change()
    {
        var removed = new ReplyPacket(1, new RemovesWatches("/a"));
        Assert.Null(Checker(new ReplyPacket(1, s_data), removed, new ReplyPacket(3)));
        Assert.Equal(CheckerNames.ZooKeeperWatch, Checker(new ReplyPacket(1, s_data), removed, Set(2)));
    }

    [Fact]
    public void Watches_that_are_set_again_hear_of_the_time_between()
    {
        Assert.Null(Checker(Set(3), new ReplyPacket(3, Again(1, "/a")), new ReplyPacket(4)));
        Assert.Equal(CheckerNames.ZooKeeperWatch, Checker(new ReplyPacket(3, Again(1, "/a"))));
        Assert.Equal(CheckerNames.ZooKeeperWatch, Checker(Set(3), new ReplyPacket(3, Again(3, "/a"))));
        Assert.Null(Checker(new EventPacket(4, NodeChangeKind.Deleted, "/a"), new ReplyPacket(4, Again(3, "/a"))));
    }

    /// <summary>All that told of a record have loaded a checkpoint behind it.</summary>
    [Fact]
    public void Change_that_only_a_stat_shows_is_told_to_watches_that_are_set_again()
    {
        var log = Log();
        log.Show("/b", NodeChangeKind.DataChanged, 5);
        Assert.Null(WatchChecker.Check("client",
            [new EventPacket(6, NodeChangeKind.DataChanged, "/b"), new ReplyPacket(6, Again(4, "/b"))], log));
        Assert.NotNull(WatchChecker.Check("client", [new ReplyPacket(6, Again(4, "/b"))], log));
        Assert.Null(WatchChecker.Check("client", [new ReplyPacket(6, Again(5, "/b"))], log));
    }

    [Fact]
    public void Watch_that_stands_again_hears_the_next_change()
    {
        Assert.Null(Checker(new ReplyPacket(2, Again(2, "/a")), Set(3), new ReplyPacket(3)));
        Assert.Equal(CheckerNames.ZooKeeperWatch, Checker(new ReplyPacket(2, Again(2, "/a")), new ReplyPacket(3)));
    }

    [Fact]
    public void Events_of_one_record_are_heard_whatever_partition_is_first() => Assert.Null(Checker(
        new ReplyPacket(3, s_data), new ReplyPacket(3, new LeavesWatch(WatchTableKind.Child, "/b")),
        new EventPacket(4, NodeChangeKind.ChildrenChanged, "/b"), new EventPacket(4, NodeChangeKind.Deleted, "/a"),
        new ReplyPacket(4)));
}
