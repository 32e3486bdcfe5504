namespace Corfu.Protocol;

/// <summary>Reads pages, in request order. The answer may stop early at <see cref="MessageLimits.ReadBudget"/>, but
/// never before one page.</summary>
public sealed record ReadRequest(Epoch Epoch, ImmutableArray<LogPosition> Positions, ReadDetail Detail)
    : Request<ReadResponse>(Opcode.Read, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        w.Byte((byte)Detail);
        w.Positions(Positions);
    }

    /// <summary>Pages are not copied.</summary>
    public override bool AnswerKeepsInput() => true;

    internal static ReadRequest Read(Epoch epoch, ref WireReader r)
    {
        var detail = (ReadDetail)r.Byte();
        if (detail > ReadDetail.Verify) throw new MalformedDataException("A read detail is unknown.");
        return new ReadRequest(epoch, r.Positions(), detail);
    }

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => status == Status.Ok
        ? new ReadResponse(status, epoch, r.Array(PageResult.SmallestSize, PageResult.Read))
        : Fail(status, epoch);

    public override Response Fail(Status status, Epoch epoch) => new ReadResponse(status, epoch, []);
}

/// <summary>Per-page outcomes are in the pages; the status speaks of the request (sealed, failed...).</summary>
public sealed record ReadResponse(Status Status, Epoch Epoch, ImmutableArray<PageResult> Pages)
    : Response(Status, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        if (!IsOk) return;
        w.Array(Pages, static (ref w, page) => page.Write(ref w));
    }
}

/// <summary>A page of a read answer.</summary>
/// <param name="BelowMark">With <see cref="PageState.Trimmed"/>: by a prefix trim.</param>
/// <param name="Bytes">The whole entry or its headers, as asked; of a page trimmed on its own the tombstone.</param>
public readonly record struct PageResult(
    LogPosition Position, PageState State, bool BelowMark, EntryOrigin Origin, ReadOnlyMemory<byte> Bytes)
{
    internal const int SmallestSize = 8 + 1 + 1 + 16 + 8 + 4;

    internal void Write(ref WireWriter w)
    {
        w.Position(Position);
        w.Byte((byte)State);
        w.Bool(BelowMark);
        w.Origin(Origin);
        w.Bytes(Bytes.Span);
    }

    internal static PageResult Read(ref WireReader r)
    {
        var position = r.Position();
        var state = (PageState)r.Byte();
        if (state > PageState.Corrupt) throw new MalformedDataException("A page state is unknown.");
        return new PageResult(position, state, r.Bool(), r.Origin(), r.Bytes());
    }
}
