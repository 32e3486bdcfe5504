namespace Corfu.Protocol;

/// <summary>The heartbeat between agents. The epoch is the caller's newest, so that agents learn of newer
/// projections.</summary>
/// <param name="From">The caller, so that agents that were told of one learn of all.</param>
/// <param name="Leaving">The caller's process shuts down and may be back soon.</param>
public sealed record PingRequest(Epoch Epoch, NodeAddress From, bool Leaving, Automation Automation)
    : Request<PingResponse>(Opcode.Ping, Epoch)
{
    /// <summary>Equal for equal lists of denied certificates: an agent with another list tells its own. Zero for an
    /// empty one.</summary>
    public ulong DeniedDigest { get; init; }

    public override void WriteBody(ref WireWriter w)
    {
        w.Address(From);
        w.Bool(Leaving);
        Automation.Write(ref w);
        if (w.Version >= WireProtocol.Version2) w.UInt64(DeniedDigest);
    }

    internal static PingRequest Read(Epoch epoch, ref WireReader r) =>
        new(epoch, r.Address(), r.Bool(), Automation.Read(ref r))
        {
            DeniedDigest = r.Version >= WireProtocol.Version2 ? r.UInt64() : 0,
        };

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => status == Status.Ok
        ? new PingResponse(status, epoch, Automation.Read(ref r),
            r.Array(6, static (ref r) => r.Endpoint(), PingResponse.MaxPeers))
        {
            Denied = r.Version >= WireProtocol.Version2 ? DeniedCertificate.ReadAll(ref r) : [],
        }
        : Fail(status, epoch);

    public override Response Fail(Status status, Epoch epoch) => new PingResponse(status, epoch, default, []);
}

/// <param name="Peers">Every process that the answering agent knows.</param>
public sealed record PingResponse(Status Status, Epoch Epoch, Automation Automation, ImmutableArray<NodeEndpoint> Peers)
    : Response(Status, Epoch)
{
    public const int MaxPeers = 4096;

    /// <summary>The answering agent's whole list of denied certificates, where the caller's is another.</summary>
    public ImmutableArray<DeniedCertificate> Denied { get; init; } = [];

    public override void WriteBody(ref WireWriter w)
    {
        if (!IsOk) return;
        Automation.Write(ref w);
        w.Array(Peers, static (ref w, peer) => w.Endpoint(peer));
        if (w.Version >= WireProtocol.Version2) DeniedCertificate.WriteAll(ref w, Denied);
    }
}
