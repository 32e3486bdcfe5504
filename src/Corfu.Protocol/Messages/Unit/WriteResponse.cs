namespace Corfu.Protocol;

/// <summary>
/// The answer to write, complete and fill. With <see cref="Status.AlreadyWritten"/> it says what is stored (R4): a fill that
/// meets junk and a write that meets its own origin have succeeded, and the caller is the one who knows.
/// </summary>
public sealed record WriteResponse(Status Status, Epoch Epoch, EntryKind Stored = default, EntryOrigin StoredOrigin = default)
    : Response(Status, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        if (Status != Status.AlreadyWritten) return;
        w.Byte((byte)Stored);
        w.Guid(StoredOrigin.Writer.Value);
        w.Int64(StoredOrigin.Sequence);
    }

    internal static WriteResponse Read(Status status, Epoch epoch, ref WireReader r) => status == Status.AlreadyWritten
        ? new WriteResponse(status, epoch, (EntryKind)r.Byte(), new EntryOrigin(new WriterId(r.Guid()), r.Int64()))
        : new WriteResponse(status, epoch);
}
