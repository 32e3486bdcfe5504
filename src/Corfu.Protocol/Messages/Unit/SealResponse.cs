namespace Corfu.Protocol;

/// <param name="End">One above the highest address ever written, filled or trimmed here; durable, monotone (R5).</param>
/// <param name="TrimMark">Everything below is trimmed by prefix.</param>
public sealed record SealResponse(Status Status, Epoch Epoch, LogPosition End, LogPosition TrimMark) : Response(Status, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        if (!IsOk) return;
        w.Position(End);
        w.Position(TrimMark);
    }

    internal static SealResponse Read(Status status, Epoch epoch, ref WireReader r) =>
        status == Status.Ok ? new SealResponse(status, epoch, r.Position(), r.Position()) : new SealResponse(status, epoch, default, default);
}
