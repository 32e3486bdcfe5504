namespace Tango.ZooKeeper;

/// <summary>Request of a client in a <see cref="RequestRecord"/>.</summary>
public abstract record TreeOp
{
    private protected TreeOp()
    {
    }

    internal abstract int Mutator { get; }

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

    internal sealed override TreeResult Decide(WorkingTree tree) => DecideNode(tree);

    /// <summary>The checks in ZooKeeper's order, then the change.</summary>
    internal abstract OpResult DecideNode(WorkingTree tree);

    /// <param name="asked">-1: any.</param>
    private protected static bool VersionIs(int asked, int version) => asked == -1 || asked == version;

    private protected static OpResult Failed(ZooKeeperError error) => new(error);
}
