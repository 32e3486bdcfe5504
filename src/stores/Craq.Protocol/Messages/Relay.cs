namespace Craq.Protocol;

/// <summary>A record with its values, ahead of its place in the chain (CRAQ 4.2). The receiver passes it on to its
/// children in the tree of members. A record counts for nothing before the predecessor has sent its heads.</summary>
/// <param name="Record">Encoded whole, and a slice of the connection's buffer at the receiver.</param>
public sealed record ValuesRequest(Epoch Epoch, ChainId Chain, ReadOnlyMemory<byte> Record)
    : AckRequest(CraqOpcode.Values, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        w.Guid(Chain.Value);
        w.Bytes(Record.Span);
    }

    internal static ValuesRequest Read(Epoch epoch, ref WireReader r) => new(epoch, new ChainId(r.Guid()), r.Bytes());
}

/// <summary>The mark of a tail, for the members that the chain's answers reach later.</summary>
/// <param name="Mark">Everything up to it is committed.</param>
public sealed record MarkedRequest(Epoch Epoch, ChainId Chain, ObjectVersion Mark)
    : AckRequest(CraqOpcode.Marked, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        w.Guid(Chain.Value);
        w.Version(Mark);
    }

    internal static MarkedRequest Read(Epoch epoch, ref WireReader r) => new(epoch, new ChainId(r.Guid()), r.Version());
}
