namespace Corfu.Protocol;

/// <summary>
/// The three verbs that carry one encoded entry (<see cref="EntryCodec"/>). On the receiving side the bytes are a slice of the
/// connection's buffer, valid only until the handler returns.
/// </summary>
public abstract record EntryRequest(Epoch Epoch, ReadOnlyMemory<byte> Entry) : Request<WriteResponse>(Epoch)
{
    public override void WriteBody(ref WireWriter w) => w.Raw(Entry.Span);

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => WriteResponse.Read(status, epoch, ref r);

    public override Response Fail(Status status, Epoch epoch) => new WriteResponse(status, epoch);
}
