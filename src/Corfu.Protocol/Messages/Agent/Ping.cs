using System.Collections.Immutable;

namespace Corfu.Protocol;

/// <summary>
/// The heartbeat between agents. The epoch is the caller's newest: one that is behind learns that there is a newer
/// projection.
/// </summary>
/// <param name="From">The caller, so that agents that were told of one learn of all.</param>
/// <param name="Leaving">The caller's process ends in good order and may be back soon.</param>
public sealed record PingRequest(Epoch Epoch, NodeAddress From, bool Leaving, Automation Automation)
    : Request<PingResponse>(Epoch)
{
    public override Opcode Opcode => Opcode.Ping;

    public override void WriteBody(ref WireWriter w)
    {
        ProjectionCodec.Address(ref w, From);
        w.Bool(Leaving);
        Automation.Write(ref w);
    }

    internal static PingRequest Read(Epoch epoch, ref WireReader r) =>
        new(epoch, ProjectionCodec.Address(ref r), r.Bool(), Automation.Read(ref r));

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) =>
        PingResponse.Read(status, epoch, ref r);

    public override Response Fail(Status status, Epoch epoch) => new PingResponse(status, epoch, default, []);
}

/// <param name="Peers">Every process that the answering agent knows.</param>
public sealed record PingResponse(Status Status, Epoch Epoch, Automation Automation, ImmutableArray<NodeEndpoint> Peers)
    : Response(Status, Epoch)
{
    public const int MaxPeers = 4096;

    public override void WriteBody(ref WireWriter w)
    {
        if (!IsOk) return;
        Automation.Write(ref w);
        w.Int32(Peers.Length);
        foreach (var peer in Peers)
        {
            w.Text(peer.Host);
            w.UInt16((ushort)peer.Port);
        }
    }

    internal static PingResponse Read(Status status, Epoch epoch, ref WireReader r)
    {
        if (status != Status.Ok) return new PingResponse(status, epoch, default, []);
        var automation = Automation.Read(ref r);
        var peers = ImmutableArray.CreateBuilder<NodeEndpoint>(r.Count(6, MaxPeers));
        for (var i = peers.Capacity; i > 0; i--) peers.Add(new NodeEndpoint(r.Text(), r.UInt16()));
        return new PingResponse(status, epoch, automation, peers.DrainToImmutable());
    }
}
