using System.Security.Cryptography;

namespace Corfu.ZooKeeper.Serving;

/// <summary>Random ids, as the log has them. Guarded by the front end's gate.</summary>
internal sealed class FrontEndIdentity
{
    private const int Bits = 62;

    /// <summary>Id of this front end; another one once the log takes it for dead.</summary>
    public long Id { get; private set; } = Draw();

    public void Renew() => Id = Draw();

    /// <summary>From 1 to 2^62: of a front end, or of a session.</summary>
    public static long Draw()
    {
        Span<byte> bytes = stackalloc byte[sizeof(long)];
        RandomNumberGenerator.Fill(bytes);
        return (BitConverter.ToInt64(bytes) & ((1L << Bits) - 1)) + 1;
    }
}
