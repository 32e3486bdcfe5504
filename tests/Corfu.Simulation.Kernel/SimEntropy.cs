namespace Corfu.Simulation.Kernel;

/// <summary>Seeded identities. One per process, so that the draws of one process shift no other's.</summary>
public sealed class SimEntropy(SimRandom random) : IEntropy
{
    public Guid NewGuid()
    {
        Span<byte> bytes = stackalloc byte[16];
        random.Fill(bytes);
        return new Guid(bytes);
    }

    public double NextDouble() => random.NextDouble();
}
