namespace Corfu.Protocol;

/// <summary>The streams that positions were granted for in this epoch, so that a filler can write junk with the lost
/// append's headers. Positions that are not remembered are left out of the answer.</summary>
public sealed record GrantsRequest(Epoch Epoch, ImmutableArray<LogPosition> Positions)
    : Request<GrantsResponse>(Opcode.Grants, Epoch)
{
    public override void WriteBody(ref WireWriter w) => w.Positions(Positions);

    internal static GrantsRequest Read(Epoch epoch, ref WireReader r) => new(epoch, r.Positions());

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => status == Status.Ok
        ? new GrantsResponse(status, epoch, ReadExamined(ref r),
            r.Array(12, (ref r) => new Grant(r.Position(epoch), r.Tails())))
        : Fail(status, epoch);

    public override Response Fail(Status status, Epoch epoch) => new GrantsResponse(status, epoch, 0, []);

    // A caller that asks again for the rest gets on with each answer.
    private int ReadExamined(ref WireReader r)
    {
        var examined = r.Int32();
        return examined >= Math.Min(1, Positions.Length) && examined <= Positions.Length
            ? examined
            : throw new MalformedDataException("An answer is about more grants than were asked for, or none.");
    }
}

/// <summary>The grants still remembered, in request order. The answer stops early at
/// <see cref="MessageLimits.GrantBudget"/>, after the first position at the soonest.</summary>
/// <param name="Examined">The number of positions, from the request's first one, that the answer covers.</param>
public sealed record GrantsResponse(Status Status, Epoch Epoch, int Examined, ImmutableArray<Grant> Grants)
    : Response(Status, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        if (!IsOk) return;
        w.Int32(Examined);
        w.Array(Grants, static (ref w, grant) =>
        {
            w.Position(grant.Position);
            w.Tails(grant.Previous);
        });
    }
}

/// <summary>A remembered grant: the headers that the writer was given.</summary>
public sealed record Grant(LogPosition Position, ImmutableArray<StreamTail> Previous);
