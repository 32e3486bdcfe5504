using System.Collections.Immutable;

namespace Corfu.Protocol;

/// <summary>
/// Of the first entries of the request, what became of each. Those behind were not looked at, for want of room: ask again. Where that was so of
/// the first one, or the whole request was refused (sealed, failed...), the status says why and there are none.
/// </summary>
public sealed record CompleteManyResponse(Status Status, Epoch Epoch, ImmutableArray<WriteOutcome> Outcomes) : Response(Status, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        if (!IsOk) return;
        w.Int32(Outcomes.Length);
        foreach (var outcome in Outcomes)
        {
            w.Byte((byte)outcome.Status);
            outcome.WriteStored(ref w);
        }
    }

    internal static CompleteManyResponse Read(Status status, Epoch epoch, ref WireReader r)
    {
        if (status != Status.Ok) return new CompleteManyResponse(status, epoch, []);
        var outcomes = ImmutableArray.CreateBuilder<WriteOutcome>(r.Count(1, MessageLimits.MaxItems));
        for (var i = outcomes.Capacity; i > 0; i--) outcomes.Add(WriteOutcome.Read((Status)r.Byte(), ref r));
        return new CompleteManyResponse(status, epoch, outcomes.DrainToImmutable());
    }
}
