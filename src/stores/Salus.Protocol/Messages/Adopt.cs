namespace Salus.Protocol;

/// <summary>Down the chain of a new generation's members: the longest prefix that they found, and the record that opens
/// the generation behind it (S10). A receiver that lacks records of the prefix copies them first.</summary>
/// <param name="Head">The opening's: its link before is the chain up to the prefix, its index is behind it.</param>
/// <param name="Opening">The content of that record.</param>
/// <param name="StoresRead">Stores that the sender has read from.</param>
/// <param name="Signatures">From the members before the receiver.</param>
public sealed record AdoptRequest(Epoch Epoch, RecordHead Head, Opening Opening, int StoresRead,
    ImmutableArray<OpeningSignatures> Signatures) : Request<AdoptResponse>(SalusOpcode.Adopt, Epoch)
{
    public RegionKey Region => Head.Region;

    public override void WriteBody(ref WireWriter w)
    {
        Head.Write(ref w);
        w.Bytes(Opening.Encode());
        w.Int32(StoresRead);
        OpeningSignatures.Write(ref w, Signatures);
    }

    internal static AdoptRequest Read(Epoch epoch, ref WireReader r)
    {
        var head = RecordHead.Read(ref r);
        var content = r.Bytes();
        if (head.Kind != RegionRecordKind.Open || head.Generation != epoch || head.Digest != Hash128.Of(content.Span))
            throw new MalformedDataException("An adopted prefix has no opening of its generation.");
        return new AdoptRequest(epoch, head, Opening.Decode(content), r.Int32(), OpeningSignatures.Read(ref r));
    }

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => status switch
    {
        Status.Ok => new AdoptResponse(status, epoch) { Signatures = OpeningSignatures.Read(ref r) },
        SalusStatus.Gap => new AdoptResponse(status, epoch)
        {
            LastIndex = r.Number(),
            Chain = r.Hash(),
            Member = new Incarnation(r.Guid()),
        },
        _ => Fail(status, epoch),
    };

    public override Response Fail(Status status, Epoch epoch) => new AdoptResponse(status, epoch);
}

/// <summary>Ok: the opening is durable at the receiver and at all members behind it.
/// <see cref="SalusStatus.Gap"/>: a member can show a longer prefix. <see cref="SalusStatus.Pending"/>: a member is
/// still reading.</summary>
public sealed record AdoptResponse(Status Status, Epoch Epoch) : Response(Status, Epoch)
{
    /// <summary>Signatures of the receiver and the members behind it.</summary>
    public ImmutableArray<OpeningSignatures> Signatures { get; init; } = [];

    /// <summary>With <see cref="SalusStatus.Gap"/>: the end of the longer prefix.</summary>
    public long LastIndex { get; init; }

    /// <summary>With <see cref="SalusStatus.Gap"/>: the chain up to there.</summary>
    public Hash128 Chain { get; init; }

    /// <summary>With <see cref="SalusStatus.Gap"/>: the member whose store has it.</summary>
    public Incarnation Member { get; init; }

    public override void WriteBody(ref WireWriter w)
    {
        if (IsOk) OpeningSignatures.Write(ref w, Signatures);
        if (Status != SalusStatus.Gap) return;
        w.Int64(LastIndex);
        w.Hash(Chain);
        w.Guid(Member.Value);
    }
}

/// <summary>A member's two signatures of an opening.</summary>
/// <param name="Logged">Over the record, as of any other.</param>
/// <param name="Opening">Over the opening, for the log of the cluster.</param>
public readonly record struct OpeningSignatures(WeakSignature Logged, WeakSignature Opening)
{
    internal static void Write(ref WireWriter w, ImmutableArray<OpeningSignatures> all) =>
        w.Array(all, static (ref w, one) =>
        {
            w.Hash(one.Logged.Value);
            w.Hash(one.Opening.Value);
        });

    internal static ImmutableArray<OpeningSignatures> Read(ref WireReader r) => r.Array(2 * Hash128.Size,
        static (ref r) => new OpeningSignatures(new WeakSignature(r.Hash()), new WeakSignature(r.Hash())),
        VolumeGeometry.MaxCopies);
}
