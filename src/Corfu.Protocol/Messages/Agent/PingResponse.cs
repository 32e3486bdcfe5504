using System.Collections.Immutable;

namespace Corfu.Protocol;

/// <param name="Peers">Every process that the answering agent knows.</param>
public sealed record PingResponse(Status Status, Epoch Epoch, Automation Automation, ImmutableArray<NodeEndpoint> Peers) : Response(Status, Epoch)
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
