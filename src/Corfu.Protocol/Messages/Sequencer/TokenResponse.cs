using System.Collections.Immutable;

namespace Corfu.Protocol;

/// <summary>
/// The run starts at <see cref="First"/>; <see cref="Previous"/> are the backpointers of its first token, in request order. Those of the
/// i-th token follow: the run's earlier positions come before them.
/// </summary>
/// <param name="Unknown">With <see cref="Status.UnknownStream"/>: the streams to hand over first.</param>
public sealed record TokenResponse(
    Status Status, Epoch Epoch, LogPosition First, ImmutableArray<StreamTail> Previous, ImmutableArray<StreamId> Unknown) : Response(Status, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        if (Status == Status.UnknownStream) StreamTail.WriteIds(ref w, Unknown);
        if (!IsOk) return;
        w.Position(First);
        StreamTail.WriteAll(ref w, Previous);
    }

    internal static TokenResponse Read(Status status, Epoch epoch, ref WireReader r) => status switch
    {
        Status.Ok => new TokenResponse(status, epoch, r.Position(epoch), StreamTail.ReadAll(ref r), []),
        Status.UnknownStream => new TokenResponse(status, epoch, default, [], StreamTail.ReadIds(ref r)),
        _ => new TokenResponse(status, epoch, default, [], []),
    };
}
