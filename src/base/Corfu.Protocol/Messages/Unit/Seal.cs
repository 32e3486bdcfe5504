namespace Corfu.Protocol;

/// <summary>TOCS 2.5: durably refuse every epoch below the request's, and report how far this unit got.
/// <see cref="Status.Sealed"/> when a higher seal is already in force; sealing again at the same epoch answers the
/// same.</summary>
public sealed record SealRequest(Epoch Epoch) : Request<SealResponse>(Opcode.Seal, Epoch)
{
    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => status == Status.Ok
        ? new SealResponse(status, epoch, r.Position(), r.Position())
        : Fail(status, epoch);

    public override Response Fail(Status status, Epoch epoch) => new SealResponse(status, epoch, default, default);
}

/// <param name="End">The position after the highest address ever written, filled or trimmed here; durable,
/// monotone.</param>
/// <param name="TrimMark">Everything below is trimmed by prefix.</param>
public sealed record SealResponse(Status Status, Epoch Epoch, LogPosition End, LogPosition TrimMark)
    : Response(Status, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        if (!IsOk) return;
        w.Position(End);
        w.Position(TrimMark);
    }
}
