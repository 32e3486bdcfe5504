namespace Corfu;

/// <summary>The port for everything random: cryptographic in production, seeded in the simulator only.</summary>
public interface IEntropy
{
    Guid NewGuid();

    /// <summary>Uniform in [0, 1): for jitter, never for identities.</summary>
    double NextDouble();
}
