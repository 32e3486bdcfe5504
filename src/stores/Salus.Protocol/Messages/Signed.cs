namespace Salus.Protocol;

/// <summary>The answer of a pass down the chain of members: the signatures of the receiver and of the members behind
/// it, over the statement of the request.</summary>
public sealed record SignedResponse(Status Status, Epoch Epoch) : Response(Status, Epoch)
{
    public ImmutableArray<WeakSignature> Signatures { get; init; } = [];

    public override void WriteBody(ref WireWriter w)
    {
        if (IsOk) w.Signatures(Signatures);
    }

    internal static SignedResponse Read(Status status, Epoch epoch, ref WireReader r) =>
        new(status, epoch) { Signatures = status == Status.Ok ? r.Signatures() : [] };
}
