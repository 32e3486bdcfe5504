namespace Corfu.Protocol;

/// <summary>The streams that may have data positions below <paramref name="Below"/> at this unit, with its newest
/// positions of each: a joining replica must know them, and cannot copy them as trimmed pages. A full list
/// is given with all its positions below the epoch's start.</summary>
/// <param name="From">The default first, then the cursor of the answer before.</param>
public sealed record ListStreamTailsRequest(Epoch Epoch, LogPosition Below, StreamListCursor From)
    : Request<ListStreamTailsResponse>(Opcode.ListStreamTails, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        w.Position(Below);
        From.Write(ref w);
    }

    internal static ListStreamTailsRequest Read(Epoch epoch, ref WireReader r) =>
        new(epoch, r.Position(), StreamListCursor.Read(ref r));

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => status == Status.Ok
        ? new ListStreamTailsResponse(status, epoch, Next: StreamListCursor.Read(ref r), IsLast: r.Bool(),
            Complete: r.Bool(), Tails: r.Tails())
        : Fail(status, epoch);

    public override Response Fail(Status status, Epoch epoch) =>
        new ListStreamTailsResponse(status, epoch, [], default, false, false);
}

/// <param name="Tails">At most <see cref="MessageLimits.MaxItems"/>; possibly none although more follow. The reader
/// adds their positions to what it has: fewer than <see cref="StreamHeader.MaxBackpointers"/> do not end a
/// stream.</param>
/// <param name="Next">The cursor of the next request. A restarted unit begins again with any cursor.</param>
/// <param name="IsLast">There are no more.</param>
/// <param name="Complete">False when damaged headers may hide positions of a stream.</param>
public sealed record ListStreamTailsResponse(
    Status Status, Epoch Epoch, ImmutableArray<StreamTail> Tails, StreamListCursor Next, bool IsLast, bool Complete)
    : Response(Status, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        if (!IsOk) return;
        Next.Write(ref w);
        w.Bool(IsLast);
        w.Bool(Complete);
        w.Tails(Tails);
    }
}

/// <summary>How far a unit's streams have been listed. The default is the beginning.</summary>
/// <param name="Run">The unit's run: each run knows its streams in another order.</param>
/// <param name="Next">The first stream in that order that was not listed.</param>
public readonly record struct StreamListCursor(long Run, int Next)
{
    internal void Write(ref WireWriter w)
    {
        w.Int64(Run);
        w.Int32(Next);
    }

    internal static StreamListCursor Read(ref WireReader r)
    {
        var cursor = new StreamListCursor(r.Int64(), r.Int32());
        return cursor.Next >= 0
            ? cursor
            : throw new MalformedDataException("A list of streams cannot go on from before its beginning.");
    }
}

/// <summary>Adds data positions of streams, as another replica lists them. A position without an entry does no harm.
/// BadRequest if a position is below neither the epoch's start nor the trim mark.</summary>
public sealed record ImportStreamTailsRequest(Epoch Epoch, ImmutableArray<StreamTail> Tails)
    : AckRequest(Opcode.ImportStreamTails, Epoch)
{
    public override void WriteBody(ref WireWriter w) => w.Tails(Tails);

    internal static ImportStreamTailsRequest Read(Epoch epoch, ref WireReader r) => new(epoch, r.Tails());
}
