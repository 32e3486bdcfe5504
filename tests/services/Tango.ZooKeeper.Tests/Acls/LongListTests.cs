using System.Runtime.InteropServices;

namespace Tango.ZooKeeper.Tests;

/// <summary>A list may be as long as a request, and a multi may have as many parts.</summary>
public sealed class LongListTests
{
    private readonly World _world = new();

    [Fact]
    public void Long_list_is_read_once_for_a_record_and_a_permission()
    {
        _world.Create("/a");
        var entries = new AclEntry[AclCache.MaxEntries + 1];
        Array.Fill(entries, new AclEntry(Permissions.Read, "ip", "10.0.0.0/8"));
        var node = _world.Node("/a").WithAcl(new AclList(ImmutableCollectionsMarshal.AsImmutableArray(entries)));
        var header = new RequestHeader(0, 0, 1, 1, [new AuthId("ip", "10.0.0.1")]);
        var tree = new WorkingTree(_world.Root, 1, header);
        Assert.True(tree.IsPermitted(node, Permissions.Read));
        Assert.False(tree.IsPermitted(node, Permissions.Write));

        // Changed under the list: a tree that read it again would say otherwise.
        Array.Fill(entries, new AclEntry(Permissions.Write, "ip", "10.0.0.0/8"));
        Assert.True(tree.IsPermitted(node, Permissions.Read));
        Assert.False(tree.IsPermitted(node, Permissions.Write));
        Assert.True(new WorkingTree(_world.Root, 1, header).IsPermitted(node, Permissions.Write));
    }

    [Fact]
    public void Each_part_of_a_multi_is_decided_by_the_list_of_the_node()
    {
        _world.Do(new CreateOp("/read", null, Long(Permissions.Read), CreateFlags.Persistent));
        _world.Do(new CreateOp("/write", null, Long(Permissions.Write), CreateFlags.Persistent));
        CheckOp readsRead = new("/read", -1), readsWrite = new("/write", -1);
        Assert.Equal(ZooKeeperError.Ok, Error(readsRead, Op.Set("/write", "x"), readsRead));
        Assert.Equal(ZooKeeperError.NoAuth, Error(readsRead, Op.Set("/write", "x"), Op.Set("/read", "x")));
        Assert.Equal(ZooKeeperError.NoAuth, Error(Op.Set("/write", "x"), readsWrite));
    }

    private ZooKeeperError Error(params ImmutableArray<NodeOp> parts) => _world.Error(new MultiOp(parts));

    private static ImmutableArray<AclEntry> Long(Permissions permission) =>
    [
        .. Enumerable.Range(0, AclCache.MaxEntries).Select(
            static i => new AclEntry(Permissions.All, "digest", $"u{i}:h")),
        new AclEntry(permission, "ip", "10.0.0.0/8"),
    ];
}
