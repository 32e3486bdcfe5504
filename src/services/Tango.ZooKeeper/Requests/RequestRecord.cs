namespace Tango.ZooKeeper;

/// <summary>A client's request.</summary>
public sealed record RequestRecord(RequestHeader Header, TreeOp Op) : TreeRecord
{
    public override int Number => Op.Mutator;

    internal override RequestHeader Caller => Header;

    internal override TreeResult Decide(WorkingTree tree)
    {
        // Z7: what an old front end has still under way has no effect.
        var error = Header.Session == 0
            ? ZooKeeperError.Ok
            : tree.Sessions.Check(Header.Session, Header.Attachment);
        return error == ZooKeeperError.Ok ? Op.Decide(tree) : TreeResult.Of(error);
    }

    internal override void Write(ref MessagePackWriter writer)
    {
        writer.WriteArrayHeader(2);
        Header.Write(ref writer);
        Op.Write(ref writer);
    }
}
