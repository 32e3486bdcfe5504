namespace Corfu.Protocol;

/// <summary>
/// The streams that this unit may have data positions of below <paramref name="Below"/>, and its newest positions of them: those that lie there, or all of those below the
/// epoch's start, when there are as many as it keeps. What a trim mark covers is in no page that could be copied, and whoever joins a chain must know it all the same (R15, R22).
/// </summary>
/// <param name="From">The default first, then what the answer before says.</param>
public sealed record ListStreamTailsRequest(Epoch Epoch, LogPosition Below, StreamListCursor From) : Request<ListStreamTailsResponse>(Epoch)
{
    public override Opcode Opcode => Opcode.ListStreamTails;

    public override void WriteBody(ref WireWriter w)
    {
        w.Position(Below);
        From.Write(ref w);
    }

    internal static ListStreamTailsRequest Read(Epoch epoch, ref WireReader r) => new(epoch, r.Position(), StreamListCursor.Read(ref r));

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => ListStreamTailsResponse.Read(status, epoch, ref r);

    public override Response Fail(Status status, Epoch epoch) => new ListStreamTailsResponse(status, epoch, [], default, false, false);
}
