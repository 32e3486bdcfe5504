namespace Corfu.Protocol;

/// <summary>The three verbs that carry one encoded entry (<see cref="EntryCodec"/>). On the receiving side the bytes
/// are a slice of the connection's buffer, valid only until the handler returns.</summary>
public abstract record EntryRequest(Opcode Opcode, Epoch Epoch, ReadOnlyMemory<byte> Entry)
    : Request<WriteResponse>(Opcode, Epoch)
{
    public override void WriteBody(ref WireWriter w) => w.Bytes(Entry.Span);

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) =>
        new WriteResponse(WriteOutcome.Read(status, ref r), epoch);

    public override Response Fail(Status status, Epoch epoch) => new WriteResponse(status, epoch);
}

/// <summary>Write-once append of data by its own writer: entry epoch = request epoch = unit epoch.</summary>
public sealed record WriteRequest(Epoch Epoch, ReadOnlyMemory<byte> Entry) : EntryRequest(Opcode.Write, Epoch, Entry);

/// <summary>Copies what an earlier replica of the chain was read to hold, data or junk, of this or an older epoch, to
/// the replicas behind it.</summary>
public sealed record CompleteRequest(Epoch Epoch, ReadOnlyMemory<byte> Entry)
    : EntryRequest(Opcode.Complete, Epoch, Entry);

/// <summary>Closes a hole with junk; sent to the head first. The entry's kind is junk and its epoch the
/// request's.</summary>
public sealed record FillRequest(Epoch Epoch, ReadOnlyMemory<byte> Entry) : EntryRequest(Opcode.Fill, Epoch, Entry);

/// <summary>The answer to write, complete and fill. With <see cref="Status.AlreadyWritten"/> it says what is stored:
/// the caller knows whether that is its own entry.</summary>
public sealed record WriteResponse(Status Status, Epoch Epoch, EntryKind Stored = default,
    EntryOrigin StoredOrigin = default)
    : Response(Status, Epoch)
{
    public WriteResponse(WriteOutcome outcome, Epoch epoch)
        : this(outcome.Status, epoch, outcome.Stored, outcome.StoredOrigin)
    {
    }

    public override void WriteBody(ref WireWriter w) =>
        new WriteOutcome(Status, Stored, StoredOrigin).WriteStored(ref w);
}

/// <summary>The outcome for one entry; with <see cref="Status.AlreadyWritten"/>, the origin and kind stored.</summary>
public readonly record struct WriteOutcome(Status Status, EntryKind Stored = default,
    EntryOrigin StoredOrigin = default)
{
    internal void WriteStored(ref WireWriter w)
    {
        if (Status != Status.AlreadyWritten) return;
        w.Byte((byte)Stored);
        w.Origin(StoredOrigin);
    }

    internal static WriteOutcome Read(Status status, ref WireReader r) => status == Status.AlreadyWritten
        ? new WriteOutcome(status, (EntryKind)r.Byte(), r.Origin())
        : new WriteOutcome(status);
}
