namespace Tango.ZooKeeper;

/// <summary>Ends the caller's session, with all its ephemeral nodes.</summary>
public sealed record CloseSessionOp : TreeOp
{
    internal override int Mutator => Mutators.CloseSession;

    internal override TreeResult Decide(WorkingTree tree)
    {
        if (tree.Sessions.Find(tree.CallerSession) is not { } session)
            return TreeResult.Of(ZooKeeperError.SessionExpired);
        tree.End(session);
        return OpResult.Done;
    }

    internal override void Write(ref MessagePackWriter writer) => writer.WriteArrayHeader(0);

    internal static CloseSessionOp Read(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(0);
        return new CloseSessionOp();
    }
}
