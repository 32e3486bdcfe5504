namespace Corfu.Protocol;

/// <summary>What became of one entry. With <see cref="Status.AlreadyWritten"/> it says what is stored instead, perhaps the same (R4).</summary>
public readonly record struct WriteOutcome(Status Status, EntryKind Stored = default, EntryOrigin StoredOrigin = default)
{
    internal void WriteStored(ref WireWriter w)
    {
        if (Status != Status.AlreadyWritten) return;
        w.Byte((byte)Stored);
        w.Guid(StoredOrigin.Writer.Value);
        w.Int64(StoredOrigin.Sequence);
    }

    internal static WriteOutcome Read(Status status, ref WireReader r) => status == Status.AlreadyWritten
        ? new WriteOutcome(status, (EntryKind)r.Byte(), new EntryOrigin(new WriterId(r.Guid()), r.Int64()))
        : new WriteOutcome(status);
}
