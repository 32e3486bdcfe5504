namespace Tango.ZooKeeper.Tests;

public sealed class FrontEndTests
{
    private readonly World _world = new();

    [Fact]
    public void Front_end_is_up_once()
    {
        Assert.Equal(new FrontEnd(World.FrontEnd, TreeLevel.Newest, "10.0.0.7:2181"),
            _world.Root.FindFrontEnd(World.FrontEnd));
        Assert.Equal(ZooKeeperError.SystemError, Error(new FrontEndUpRecord(World.FrontEnd, 1, "again")));
    }

    [Theory]
    [InlineData(0, 1)]
    [InlineData(-5, 1)]
    [InlineData(5, 0)]
    public void Front_end_of_bad_id_or_older_code_is_refused(long id, int codeLevel) =>
        Assert.Equal(ZooKeeperError.SystemError, Error(new FrontEndUpRecord(id, codeLevel, "a")));

    [Fact]
    public void Beats_only_rise()
    {
        _world.Do(new BeatRecord(World.FrontEnd, 1));
        _world.Do(new BeatRecord(World.FrontEnd, 3));
        Assert.Equal(ZooKeeperError.SystemError, Error(new BeatRecord(World.FrontEnd, 3)));
        Assert.Equal(ZooKeeperError.SystemError, Error(new BeatRecord(World.FrontEnd, 2)));
        Assert.Equal(ZooKeeperError.SystemError, Error(new BeatRecord(99, 4)));
        Assert.Equal(3, _world.Root.FindFrontEnd(World.FrontEnd)!.Beat);
    }

    [Fact]
    public void Front_end_without_sessions_leaves_when_taken_down()
    {
        _world.Do(new FrontEndDownRecord(World.FrontEnd, 0));
        Assert.Empty(_world.Root.AllFrontEnds);
        Assert.Equal(ZooKeeperError.SystemError, Error(new BeatRecord(World.FrontEnd, 1)));
    }

    [Fact]
    public void Later_beat_keeps_the_front_end_up()
    {
        _world.Do(new BeatRecord(World.FrontEnd, 4));
        Assert.Equal(ZooKeeperError.SystemError, Error(new FrontEndDownRecord(World.FrontEnd, 3)));
        Assert.False(_world.Root.FindFrontEnd(World.FrontEnd)!.IsDown);
    }

    [Fact]
    public void Front_end_taken_down_keeps_sessions_until_the_last_has_left()
    {
        _world.Do(new FrontEndUpRecord(8, 1, "other"));
        _world.StartSession();
        _world.Do(new FrontEndDownRecord(World.FrontEnd, 0));
        Assert.Equal(ZooKeeperError.SystemError, Error(new BeatRecord(World.FrontEnd, 1)));
        Assert.Equal(ZooKeeperError.SystemError, Error(new FrontEndDownRecord(World.FrontEnd, 0)));
        Assert.Equal(ZooKeeperError.SystemError, Error(new CreateSessionRecord(50, 1, 1_000, World.FrontEnd)));
        Assert.Equal(ZooKeeperError.SystemError, Error(new FrontEndUpRecord(World.FrontEnd, 1, "again")));
        // The session lives, and its client may write.
        _world.Create("/a");
        _world.Do(new AttachRecord(42, 1, 1_000, 8));
        Assert.Equal([8L], _world.Root.AllFrontEnds.Select(row => row.Id));
    }

    private ZooKeeperError Error(TreeRecord record) => _world.Apply(record).Result.Error;
}
