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
        if (detail > ReadDetail.Full) throw new MalformedDataException("A read detail is unknown.");
        var positions = ImmutableArray.CreateBuilder<LogPosition>(r.Count(8, MessageLimits.MaxItems));
        for (var i = positions.Capacity; i > 0; i--) positions.Add(r.Position());
        return new ReadRequest(epoch, positions.DrainToImmutable(), detail);
    }

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => Protocol.ReadResponse.Read(status, epoch, ref r);

    public override Response Fail(Status status, Epoch epoch) => new ReadResponse(status, epoch, []);
}

/// <summary>Per-page outcomes are in the pages; the status speaks of the request (sealed, failed...).</summary>
public sealed record ReadResponse(Status Status, Epoch Epoch, ImmutableArray<PageResult> Pages) : Response(Status, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        if (!IsOk) return;
        w.Int32(Pages.Length);
        foreach (var page in Pages) page.Write(ref w);
    }

    internal static ReadResponse Read(Status status, Epoch epoch, ref WireReader r)
    {
        if (status != Status.Ok) return new ReadResponse(status, epoch, []);
        var pages = ImmutableArray.CreateBuilder<PageResult>(r.Count(PageResult.SmallestSize, MessageLimits.MaxItems));
        for (var i = pages.Capacity; i > 0; i--) pages.Add(PageResult.Read(ref r));
        return new ReadResponse(status, epoch, pages.DrainToImmutable());
    }
}
