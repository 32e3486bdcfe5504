namespace Corfu.Protocol;

/// <summary>The newest decided projection that this acceptor knows, and the highest slot above it that it holds anything for.</summary>
public sealed record LatestRequest(Epoch Epoch) : LayoutRequest(Epoch)
{
    public override Opcode Opcode => Opcode.Latest;
}
