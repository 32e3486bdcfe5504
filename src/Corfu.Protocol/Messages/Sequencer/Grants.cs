using System.Collections.Immutable;

namespace Corfu.Protocol;

/// <summary>
/// Which streams the positions were granted for, so that a filler can write junk with the lost append's headers (R8).
/// Asked of the incarnation and epoch that granted them; positions it no longer remembers are left out of the answer.
/// </summary>
public sealed record GrantsRequest(Epoch Epoch, ImmutableArray<LogPosition> Positions) : Request<GrantsResponse>(Epoch)
{
    public override Opcode Opcode => Opcode.Grants;

    public override void WriteBody(ref WireWriter w)
    {
        w.Int32(Positions.Length);
        foreach (var position in Positions) w.Position(position);
    }

    internal static GrantsRequest Read(Epoch epoch, ref WireReader r)
    {
        var positions = ImmutableArray.CreateBuilder<LogPosition>(r.Count(8, MessageLimits.MaxItems));
        for (var i = positions.Capacity; i > 0; i--) positions.Add(r.Position());
        return new GrantsRequest(epoch, positions.DrainToImmutable());
    }

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) =>
        GrantsResponse.Read(status, epoch, ref r);

    public override Response Fail(Status status, Epoch epoch) => new GrantsResponse(status, epoch, []);
}

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

/// <summary>One remembered grant: the headers that the writer was given.</summary>
public sealed record Grant(LogPosition Position, ImmutableArray<StreamTail> Previous);
