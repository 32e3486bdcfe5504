namespace Corfu.Protocol;

/// <summary>Phase 2 for the slot, whose number is the projection's epoch.</summary>
public sealed record AcceptRequest(Ballot Ballot, Projection Value) : LayoutRequest(Value.Epoch)
{
    public override Opcode Opcode => Opcode.Accept;

    public override void WriteBody(ref WireWriter w)
    {
        Ballot.Write(ref w);
        ProjectionCodec.Write(ref w, Value);
    }

    internal static AcceptRequest Read(Epoch epoch, ref WireReader r)
    {
        var ballot = Ballot.Read(ref r);
        var value = ProjectionCodec.Read(ref r);
        return value.Epoch == epoch ? new AcceptRequest(ballot, value) : throw new MalformedDataException("A projection's epoch is not its frame's.");
    }
}
