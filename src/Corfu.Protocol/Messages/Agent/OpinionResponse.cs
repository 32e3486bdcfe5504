namespace Corfu.Protocol;

/// <param name="Answers">Whether the node answered the look that this question caused.</param>
public sealed record OpinionResponse(Status Status, Epoch Epoch, bool Answers, NodeHealth Health, string Why) : Response(Status, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        if (!IsOk) return;
        w.Bool(Answers);
        w.Byte((byte)Health);
        w.Text(Why);
    }
}
