namespace Corfu.ZooKeeper.Serving;

/// <summary>Random ids, as the log has them. Guarded by the front end's gate.</summary>
internal sealed class FrontEndIdentity
{
    private const int Bits = 62;

    private readonly RandomFill _fill;

    public FrontEndIdentity(RandomFill fill)
    {
        _fill = fill;
        Id = Draw();
    }

    /// <summary>Id of this front end; another one once the log takes it for dead.</summary>
    public long Id { get; private set; }

    public void Renew() => Id = Draw();

    /// <summary>From 1 to 2^62: of a front end, or of a session.</summary>
    public long Draw() => Draw(_fill);

    public static long Draw(RandomFill fill)
    {
        Span<byte> bytes = stackalloc byte[sizeof(long)];
        fill(bytes);
        return (BitConverter.ToInt64(bytes) & ((1L << Bits) - 1)) + 1;
    }

    /// <summary>A password of a session.</summary>
    public ImmutableArray<byte> DrawPassword()
    {
        var bytes = new byte[Wire.ConnectResponse.PasswordSize];
        _fill(bytes);
        return [.. bytes];
    }
}

/// <summary>Fills a span with random bytes.</summary>
internal delegate void RandomFill(Span<byte> bytes);
