namespace Corfu.Protocol;

/// <summary>
/// The answer to write, complete and fill. With <see cref="Status.AlreadyWritten"/> it says what is stored (R4): a fill that
/// meets junk and a write that meets its own origin have succeeded, and the caller is the one who knows.
/// </summary>
public sealed record WriteResponse(Status Status, Epoch Epoch, EntryKind Stored = default, EntryOrigin StoredOrigin = default)
    : Response(Status, Epoch)
{
    public WriteResponse(WriteOutcome outcome, Epoch epoch)
        : this(outcome.Status, epoch, outcome.Stored, outcome.StoredOrigin)
    {
    }

    public override void WriteBody(ref WireWriter w) => new WriteOutcome(Status, Stored, StoredOrigin).WriteStored(ref w);

    internal static WriteResponse Read(Status status, Epoch epoch, ref WireReader r) => new(WriteOutcome.Read(status, ref r), epoch);
}
