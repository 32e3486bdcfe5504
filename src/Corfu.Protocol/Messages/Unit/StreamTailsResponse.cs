using System.Collections.Immutable;

namespace Corfu.Protocol;

/// <param name="Complete">False when damaged headers may hide positions of a stream: this unit's word is not enough.</param>
public sealed record StreamTailsResponse(Status Status, Epoch Epoch, ImmutableArray<StreamTail> Tails, bool Complete) : Response(Status, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        if (!IsOk) return;
        w.Bool(Complete);
        StreamTail.WriteAll(ref w, Tails);
    }

    internal static StreamTailsResponse Read(Status status, Epoch epoch, ref WireReader r)
    {
        if (status != Status.Ok) return new StreamTailsResponse(status, epoch, [], false);
        var complete = r.Bool();
        return new StreamTailsResponse(status, epoch, StreamTail.ReadAll(ref r), complete);
    }
}
