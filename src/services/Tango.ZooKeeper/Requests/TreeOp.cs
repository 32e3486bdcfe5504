namespace Tango.ZooKeeper;

/// <summary>Request of a client in a <see cref="RequestRecord"/>.</summary>
public abstract record TreeOp
{
    private protected TreeOp()
    {
    }

    internal abstract int Mutator { get; }

    /// <summary>Parts of the tree that the request may change (Z15); none: all of it.</summary>
    internal virtual ObjectKey Keys => ObjectKey.None;

    /// <summary>Whether this partition decides the request.</summary>
    internal virtual bool IsFor(MountTable mounts) => true;

    internal abstract void Write(ref MessagePackWriter writer);

    internal abstract TreeResult Decide(WorkingTree tree);
}

/// <summary>A request about one node, which may be part of a multi.</summary>
public abstract record NodeOp : TreeOp
{
    private protected NodeOp()
    {
    }

    /// <summary>Number in a multi, ZooKeeper's own; null: not allowed there.</summary>
    internal abstract int? PartNumber { get; }

    /// <summary>Path whose partition decides the request.</summary>
    internal abstract string Home { get; }

    internal sealed override ObjectKey Keys => TreeKeys.All(Writes());

    internal sealed override bool IsFor(MountTable mounts) => mounts.IsHere(Home);

    /// <summary>Keys of what the request changes.</summary>
    internal abstract IEnumerable<ObjectKey> Writes();

    /// <summary>Keys of all that its success hangs on.</summary>
    internal abstract IEnumerable<ObjectKey> Reads();

    internal sealed override TreeResult Decide(WorkingTree tree) => DecideNode(tree);

    /// <summary>The checks in ZooKeeper's order, then the change.</summary>
    internal abstract OpResult DecideNode(WorkingTree tree);

    /// <param name="asked">-1: any.</param>
    private protected static bool VersionIs(int asked, int version) => asked == -1 || asked == version;

    private protected static OpResult Failed(ZooKeeperError error) => new(error);
}
