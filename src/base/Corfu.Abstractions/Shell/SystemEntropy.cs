using System.Security.Cryptography;

namespace Corfu;

/// <summary>Production randomness: identities from the operating system's generator.</summary>
public sealed class SystemEntropy : IEntropy
{
    public static readonly SystemEntropy Instance = new();

    private SystemEntropy()
    {
    }

    public Guid NewGuid() => new(RandomNumberGenerator.GetBytes(16));

    public double NextDouble() => Random.Shared.NextDouble();
}
