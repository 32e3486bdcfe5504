using System.Collections.Immutable;

namespace Corfu.Protocol;

/// <summary>Reads pages, in request order. The answer may stop early at <see cref="MessageLimits.ReadBudget"/>, but never before one page.</summary>
public sealed record ReadRequest(Epoch Epoch, ImmutableArray<LogPosition> Positions, ReadDetail Detail) : Request<ReadResponse>(Epoch)
{
    public override Opcode Opcode => Opcode.Read;

    public override void WriteBody(ref WireWriter w)
    {
        w.Byte((byte)Detail);
        w.Int32(Positions.Length);
        foreach (var position in Positions) w.Position(position);
    }

    internal static ReadRequest Read(Epoch epoch, ref WireReader r)
    {
        var detail = (ReadDetail)r.Byte();
        if (detail > ReadDetail.Verify) throw new MalformedDataException("A read detail is unknown.");
        var positions = ImmutableArray.CreateBuilder<LogPosition>(r.Count(8, MessageLimits.MaxItems));
        for (var i = positions.Capacity; i > 0; i--) positions.Add(r.Position());
        return new ReadRequest(epoch, positions.DrainToImmutable(), detail);
    }

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => Protocol.ReadResponse.Read(status, epoch, ref r);

    public override Response Fail(Status status, Epoch epoch) => new ReadResponse(status, epoch, []);
}
