namespace Corfu.Protocol;

/// <param name="SealedBelow">Epochs below this are refused.</param>
/// <param name="Installed">The epoch that is served, none before the first install.</param>
public sealed record UnitInfoResponse(
    Status Status, Epoch Epoch, Epoch SealedBelow, Epoch Installed, LogPosition End, LogPosition TrimMark, long Pages, long StoredBytes)
    : Response(Status, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        if (!IsOk) return;
        w.Epoch(SealedBelow);
        w.Epoch(Installed);
        w.Position(End);
        w.Position(TrimMark);
        w.Int64(Pages);
        w.Int64(StoredBytes);
    }

    internal static UnitInfoResponse Read(Status status, Epoch epoch, ref WireReader r) => status == Status.Ok
        ? new UnitInfoResponse(status, epoch, r.Epoch(), r.Epoch(), r.Position(), r.Position(), r.Int64(), r.Int64())
        : new UnitInfoResponse(status, epoch, default, default, default, default, 0, 0);
}
