namespace Tango.ZooKeeper;

/// <summary>A client's request.</summary>
public sealed record RequestRecord(RequestHeader Header, TreeOp Op) : TreeRecord
{
    public override int Number => Op.Mutator;

    internal override RequestHeader Caller => Header;

    internal override ObjectKey Keys => Op.Keys;

    internal override bool IsShared => Op is CloseSessionOp;

    internal override TreeResult Decide(WorkingTree tree)
    {
        // Z7: what an old front end has still under way has no effect.
        var error = Header.Session == 0
            ? ZooKeeperError.Ok
            : tree.Sessions.Check(Header.Session, Header.Attachment);
        if (error != ZooKeeperError.Ok) return TreeResult.Of(error);
        // The writer had not played the mount. The client may try again.
        return Op.IsFor(tree.Mounts) ? Op.Decide(tree) : TreeResult.Of(ZooKeeperError.OperationTimeout);
    }

    internal override void Write(ref MessagePackWriter writer)
    {
        writer.WriteArrayHeader(2);
        Header.Write(ref writer);
        Op.Write(ref writer);
    }
}
