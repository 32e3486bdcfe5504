namespace Corfu.Protocol;

/// <summary>Tells an acceptor a decided value: it stores it durably as such.</summary>
public sealed record DecidedRequest(Projection Value) : LayoutRequest(Value.Epoch)
{
    public override Opcode Opcode => Opcode.Decided;

    public override void WriteBody(ref WireWriter w) => ProjectionCodec.Write(ref w, Value);

    internal static DecidedRequest Read(Epoch epoch, ref WireReader r)
    {
        var value = ProjectionCodec.Read(ref r);
        return value.Epoch == epoch ? new DecidedRequest(value) : throw new MalformedDataException("A projection's epoch is not its frame's.");
    }
}
