namespace Tango.ZooKeeper.Tests;

public sealed class SetAclTests
{
    private readonly World _world = new();

    [Fact]
    public void Path_list_node_right_and_version_are_looked_at_in_this_order()
    {
        Assert.Equal(ZooKeeperError.BadArguments, _world.Error(new SetAclOp("a", default, 9)));
        Assert.Equal(ZooKeeperError.InvalidAcl, _world.Error(new SetAclOp("/a", default, 9)));
        Assert.Equal(ZooKeeperError.InvalidAcl, _world.Error(new SetAclOp("/a", [], 9)));
        Assert.Equal(ZooKeeperError.NoNode, _world.Error(new SetAclOp("/a", Op.Open, 9)));
        _world.Do(new CreateOp("/a", null, Op.Acl(~Permissions.Admin, "world", "anyone"), CreateFlags.Persistent));
        Assert.Equal(ZooKeeperError.NoAuth, _world.Error(new SetAclOp("/a", Op.Open, 9)));
        _world.Create("/b");
        Assert.Equal(ZooKeeperError.BadVersion, _world.Error(new SetAclOp("/b", Op.Open, 9)));
    }

    [Fact]
    public void List_is_replaced_and_only_the_version_of_lists_is_raised()
    {
        _world.Create("/a");
        var before = _world.Stat("/a");
        var effect = _world.Apply(new SetAclOp("/a", AclList.ReadOnly.Entries, 0));
        Assert.Equal(before with { Aversion = 1 }, ((OpResult)effect.Result).Stat);
        Assert.Equal(AclList.ReadOnly, _world.Node("/a").Acl);
        Assert.Empty(effect.Changes);
        Assert.Equal(ZooKeeperError.NoAuth, _world.Error(Op.Set("/a", "x")));
    }

    [Fact]
    public void Version_skips_the_number_for_any()
    {
        _world.Create("/a");
        _world.LoadNode("/a", counters => counters with { Aversion = -2 });
        Assert.Equal(0, _world.Do(new SetAclOp("/a", Op.Open, -1)).Stat!.Value.Aversion);
    }

    [Fact]
    public void Nodes_share_equal_lists()
    {
        var acl = Op.Acl(Permissions.All, "digest", "u:h");
        _world.Do(new CreateOp("/a", null, acl, CreateFlags.Persistent));
        _world.Do(new CreateOp("/b", null, Op.Acl(Permissions.All, "digest", "u:h"), CreateFlags.Persistent));
        Assert.Same(_world.Node("/a").Acl, _world.Node("/b").Acl);
        _world.Reload();
        Assert.Same(_world.Node("/a").Acl, _world.Node("/b").Acl);
    }

    /// <summary>A failed request leaves its lists in the cache.</summary>
    [Fact]
    public void Cache_keeps_no_list_of_many_entries_or_of_a_long_id()
    {
        var cache = new AclCache();
        Assert.Same(cache.Share(Users(AclCache.MaxEntries)), cache.Share(Users(AclCache.MaxEntries)));
        Assert.NotSame(cache.Share(Users(AclCache.MaxEntries + 1)), cache.Share(Users(AclCache.MaxEntries + 1)));
        Assert.Same(cache.Share(User(AclCache.MaxIdLength)), cache.Share(User(AclCache.MaxIdLength)));
        Assert.NotSame(cache.Share(User(AclCache.MaxIdLength + 1)), cache.Share(User(AclCache.MaxIdLength + 1)));

        static AclList Users(int count) => new(
            [.. Enumerable.Range(0, count).Select(static i => new AclEntry(Permissions.All, "digest", $"u{i}:h"))]);

        static AclList User(int length) => new(Op.Acl(Permissions.All, "x509", new string('u', length)));
    }

    [Fact]
    public void Names_of_schemes_that_were_read_are_shared()
    {
        _world.Ids = [new AuthId("x509", "CN=one")];
        ImmutableArray<AclEntry> asked =
        [
            new(Permissions.All, "ip", "::1"), new(Permissions.All, "digest", "u:h"),
            new(Permissions.All, "auth", ""),
        ];
        _world.Do(new CreateOp("/a", null, asked, CreateFlags.Persistent));
        AssertShared();
        _world.Reload();
        AssertShared();

        void AssertShared() => Assert.Equal(
            [true, true, true],
            _world.Node("/a").Acl.Entries.Zip((string[])["ip", "digest", "x509"],
                static (entry, name) => ReferenceEquals(entry.Scheme, name)));
    }
}
