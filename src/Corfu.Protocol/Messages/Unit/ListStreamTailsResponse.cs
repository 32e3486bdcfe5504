using System.Collections.Immutable;

namespace Corfu.Protocol;

/// <param name="Tails">At most <see cref="MessageLimits.MaxItems"/>, and perhaps none though there are more.</param>
/// <param name="Next">Where to go on. A unit that was started again goes on from its beginning, whatever it was asked.</param>
/// <param name="IsLast">There are no more.</param>
/// <param name="Complete">False when damaged headers may hide positions of a stream: this unit's word is not enough.</param>
public sealed record ListStreamTailsResponse(
    Status Status, Epoch Epoch, ImmutableArray<StreamTail> Tails, StreamListCursor Next, bool IsLast, bool Complete) : Response(Status, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        if (!IsOk) return;
        Next.Write(ref w);
        w.Bool(IsLast);
        w.Bool(Complete);
        StreamTail.WriteAll(ref w, Tails);
    }

    internal static ListStreamTailsResponse Read(Status status, Epoch epoch, ref WireReader r)
    {
        if (status != Status.Ok) return new ListStreamTailsResponse(status, epoch, [], default, false, false);
        var next = StreamListCursor.Read(ref r);
        var isLast = r.Bool();
        var complete = r.Bool();
        return new ListStreamTailsResponse(status, epoch, StreamTail.ReadAll(ref r), next, isLast, complete);
    }
}
