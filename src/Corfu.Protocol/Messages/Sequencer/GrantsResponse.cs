using System.Collections.Immutable;

namespace Corfu.Protocol;

/// <summary>The grants still remembered, in request order.</summary>
public sealed record GrantsResponse(Status Status, Epoch Epoch, ImmutableArray<Grant> Grants) : Response(Status, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        if (!IsOk) return;
        w.Int32(Grants.Length);
        foreach (var grant in Grants)
        {
            w.Position(grant.Position);
            StreamTail.WriteAll(ref w, grant.Previous);
        }
    }

    internal static GrantsResponse Read(Status status, Epoch epoch, ref WireReader r)
    {
        if (status != Status.Ok) return new GrantsResponse(status, epoch, []);
        var grants = ImmutableArray.CreateBuilder<Grant>(r.Count(12, MessageLimits.MaxItems));
        for (var i = grants.Capacity; i > 0; i--) grants.Add(new Grant(r.Position(epoch), StreamTail.ReadAll(ref r)));
        return new GrantsResponse(status, epoch, grants.DrainToImmutable());
    }
}
