namespace Tango.ZooKeeper.Tests;

/// <summary>Expiry by beat and attachment: an observer may be late, and ends no session that lives (Z8).</summary>
public sealed class ExpireTests
{
    private const long Other = 8;

    private readonly World _world = new();

    public ExpireTests()
    {
        _world.Do(new FrontEndUpRecord(Other, TreeLevel.First, "10.0.0.8:2181"));
        _world.Do(new BeatRecord(World.FrontEnd, 5));
        _world.StartSession();
        _world.Create("/a", CreateFlags.Ephemeral);
    }

    [Fact]
    public void Session_of_the_observed_beat_and_attachment_ends_with_all_nodes()
    {
        _world.StartSession(43);
        _world.Create("/b", CreateFlags.Ephemeral);
        var effect = Expire(World.FrontEnd, 5, (42, 1), (43, 1), (44, 1));
        Assert.Equal(new ExpireResult([42, 43]), effect.Result);
        Assert.Equal(["/a", "/b"], effect.Changes.Where(c => c.Kind == TreeChangeKind.Deleted).Select(c => c.Path));
        Assert.Equal(0, _world.Root.SessionCount);
        Assert.Equal(0, _world.Root.FindFrontEnd(World.FrontEnd)!.Sessions);
        Assert.Null(_world.Root.Find("/a"));
    }

    [Fact]
    public void Later_beat_of_the_front_end_keeps_the_session()
    {
        _world.Do(new BeatRecord(World.FrontEnd, 6));
        AssertLives(Expire(World.FrontEnd, 5, (42, 1)));
    }

    [Fact]
    public void Attach_to_another_front_end_keeps_the_session()
    {
        _world.Do(new AttachRecord(42, 1, 1_000, Other));
        AssertLives(Expire(World.FrontEnd, 5, (42, 1)));
        AssertLives(Expire(World.FrontEnd, 5, (42, 2)));
        AssertLives(Expire(Other, 0, (42, 1)));
    }

    [Fact]
    public void Attach_to_the_same_front_end_keeps_the_session()
    {
        _world.Do(new AttachRecord(42, 1, 1_000, World.FrontEnd));
        AssertLives(Expire(World.FrontEnd, 5, (42, 1)));
    }

    [Fact]
    public void Unknown_front_end_has_no_sessions_to_expire() => AssertLives(Expire(99, 5, (42, 1)));

    [Fact]
    public void Session_of_a_front_end_taken_down_ends_by_the_last_beat()
    {
        _world.Do(new FrontEndDownRecord(World.FrontEnd, 5));
        Assert.True(_world.Root.FindFrontEnd(World.FrontEnd)!.IsDown);
        Assert.Equal(new ExpireResult([42]), Expire(World.FrontEnd, 5, (42, 1)).Result);
        // The last session has left.
        Assert.Null(_world.Root.FindFrontEnd(World.FrontEnd));
    }

    private TreeEffect Expire(long frontEnd, long beat, params ReadOnlySpan<(long Session, int Attachment)> sessions)
    {
        var seen = ImmutableArray.CreateBuilder<ExpiredSession>();
        foreach (var (session, attachment) in sessions) seen.Add(new ExpiredSession(session, attachment));
        return _world.Do(new ExpireRecord(frontEnd, beat, seen.ToImmutable()));
    }

    private void AssertLives(TreeEffect effect)
    {
        Assert.Equal(new ExpireResult([]), effect.Result);
        Assert.Empty(effect.Changes);
        Assert.NotNull(_world.Root.FindSession(42));
        Assert.NotNull(_world.Root.Find("/a"));
    }
}
