namespace Tango.ZooKeeper.Tests;

/// <summary>Sessions, their attachments, and their end.</summary>
public sealed class SessionTests
{
    private const long Other = 8;

    private readonly World _world = new();

    public SessionTests() => _world.Do(new FrontEndUpRecord(Other, TreeLevel.First, "10.0.0.8:2181"));

    [Fact]
    public void Created_session_is_attached_once()
    {
        var result = _world.Do(new CreateSessionRecord(42, 99, 4_000, World.FrontEnd)).Result;
        Assert.Equal(new SessionResult(ZooKeeperError.Ok, 42, 1), result);
        var session = _world.Root.FindSession(42)!;
        Assert.Equal((UInt128)99, session.Hash);
        Assert.Equal((4_000, World.FrontEnd), (session.Timeout, session.FrontEnd));
        Assert.Equal(1, _world.Root.FindFrontEnd(World.FrontEnd)!.Sessions);
    }

    [Theory]
    [InlineData(0, 4_000, World.FrontEnd)]
    [InlineData(-1, 4_000, World.FrontEnd)]
    [InlineData((1L << 62) + 1, 4_000, World.FrontEnd)]
    [InlineData(42, 0, World.FrontEnd)]
    [InlineData(42, 4_000, 99)]
    [InlineData(41, 4_000, World.FrontEnd)]
    public void Session_of_bad_id_time_or_front_end_or_a_known_id_is_refused(long id, int timeout, long frontEnd)
    {
        _world.StartSession(41);
        Assert.Equal(new SessionResult(ZooKeeperError.SystemError, id, 0),
            _world.Apply(new CreateSessionRecord(id, 5, timeout, frontEnd)).Result);
        Assert.Equal(1, _world.Root.SessionCount);
        Assert.Equal((UInt128)1, _world.Root.FindSession(41)!.Hash);
    }

    [Fact]
    public void Attach_moves_the_session_and_keeps_the_nodes()
    {
        _world.StartSession();
        _world.Create("/a", CreateFlags.Ephemeral);
        var result = _world.Do(new AttachRecord(42, 1, 9_000, Other)).Result;
        Assert.Equal(new SessionResult(ZooKeeperError.Ok, 42, 2), result);
        var session = _world.Root.FindSession(42)!;
        Assert.Equal((Other, 9_000, 2), (session.FrontEnd, session.Timeout, session.Attachment));
        Assert.Equal(["/a"], session.Ephemerals);
        Assert.Equal((0, 1),
            (_world.Root.FindFrontEnd(World.FrontEnd)!.Sessions, _world.Root.FindFrontEnd(Other)!.Sessions));
    }

    [Fact]
    public void Attach_to_the_same_front_end_is_another_attachment()
    {
        _world.StartSession();
        _world.Do(new AttachRecord(42, 1, 9_000, World.FrontEnd));
        Assert.Equal(2, _world.Root.FindSession(42)!.Attachment);
        Assert.Equal(1, _world.Root.FindFrontEnd(World.FrontEnd)!.Sessions);
    }

    [Theory]
    [InlineData(43, 1)]
    [InlineData(42, 2)]
    public void Attach_of_an_unknown_session_or_with_a_wrong_password_finds_none(long id, int hash)
    {
        _world.StartSession();
        Assert.Equal(new SessionResult(ZooKeeperError.SessionExpired, id, 0),
            _world.Apply(new AttachRecord(id, (UInt128)hash, 9_000, Other)).Result);
        Assert.Equal(1, _world.Root.FindSession(42)!.Attachment);
    }

    [Fact]
    public void Attach_to_a_missing_front_end_is_refused()
    {
        _world.StartSession();
        Assert.Equal(ZooKeeperError.SystemError, _world.Apply(new AttachRecord(42, 1, 9_000, 99)).Result.Error);
        _world.Do(new FrontEndDownRecord(Other, 0));
        Assert.Equal(ZooKeeperError.SystemError, _world.Apply(new AttachRecord(42, 1, 9_000, Other)).Result.Error);
    }

    // Z7: a paused front end sends a set after its client has moved.
    [Fact]
    public void Request_of_an_old_attachment_has_no_effect()
    {
        _world.StartSession();
        _world.Create("/a", data: "one");
        _world.Do(new AttachRecord(42, 1, 9_000, Other));
        Assert.Equal(ZooKeeperError.SessionMoved, _world.Error(Op.Set("/a", "late")));
        Assert.Equal(ZooKeeperError.SessionMoved, _world.Error(new CloseSessionOp()));
        Assert.Equal("one", Op.Text(_world.Node("/a")));
        _world.Attachment = 2;
        _world.Do(Op.Set("/a", "two"));
        Assert.Equal("two", Op.Text(_world.Node("/a")));
    }

    [Fact]
    public void Request_of_an_unknown_session_is_expired_before_any_other_check()
    {
        _world.Session = 77;
        Assert.Equal(ZooKeeperError.SessionExpired, _world.Error(Op.Create("no path", (CreateFlags)99)));
        Assert.Equal(ZooKeeperError.SessionExpired, _world.Error(new CloseSessionOp()));
    }

    // Z12: one record ends the session and all its nodes.
    [Fact]
    public void Close_deletes_the_sessions_nodes_in_path_order()
    {
        _world.StartSession(41);
        _world.Create("/kept", CreateFlags.Ephemeral);
        _world.StartSession();
        _world.Create("/p");
        foreach (var path in (string[])["/p/b", "/c", "/p/a"]) _world.Create(path, CreateFlags.Ephemeral);
        var effect = _world.Apply(new CloseSessionOp());
        Assert.Equal(OpResult.Done, effect.Result);
        Assert.Equal(
            [
                (TreeChangeKind.Deleted, "/c"), (TreeChangeKind.ChildrenChanged, "/"),
                (TreeChangeKind.Deleted, "/p/a"), (TreeChangeKind.ChildrenChanged, "/p"),
                (TreeChangeKind.Deleted, "/p/b"), (TreeChangeKind.ChildrenChanged, "/p"),
            ],
            effect.Changes.Select(change => (change.Kind, change.Path)));
        Assert.Equal((0, effect.Zxid), (_world.Stat("/p").ChildCount, _world.Stat("/p").Pzxid));
        Assert.NotNull(_world.Root.Find("/kept"));
        Assert.Null(_world.Root.FindSession(42));
        Assert.Equal(1, _world.Root.FindFrontEnd(World.FrontEnd)!.Sessions);
        Assert.Equal(ZooKeeperError.SessionExpired, _world.Error(Op.Create("/late")));
    }

    [Fact]
    public void Program_without_a_session_has_no_session_to_close() =>
        Assert.Equal(ZooKeeperError.SessionExpired, _world.Error(new CloseSessionOp()));
}
