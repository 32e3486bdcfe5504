namespace Salus.Nbd;

/// <summary>Limits of an <see cref="NbdServer"/>.</summary>
public sealed record NbdServerOptions
{
    // Larger requests are refused by every client without a word from the server.
    internal const int MaxRequest = 32 << 20;

    internal static readonly OptionRules<NbdServerOptions> Rules = new OptionRules<NbdServerOptions>(new())
        .AtLeast(o => o.MaxConnections, 1)
        .Above(o => o.HandshakeTimeout, TimeSpan.Zero)
        .Above(o => o.FrameTimeout, TimeSpan.Zero)
        .Above(o => o.WriteTimeout, TimeSpan.Zero)
        .Above(o => o.MountTimeout, TimeSpan.Zero)
        .AtLeast(o => o.Linger, TimeSpan.Zero)
        .AtLeast(o => o.StopTimeout, TimeSpan.Zero)
        .AtLeast(o => o.MaxConnectionBytes, 1)
        .AtLeast(o => o.MaxBytes, o => o.MaxConnectionBytes)
        .AtLeast(o => o.RecentBytes, 0);

    public static readonly NbdServerOptions Default = new();

    /// <summary>Connections open at once; more are closed at once. Default 256.</summary>
    public int MaxConnections { get; init; } = 256;

    /// <summary>A connection that has not chosen an export by then is closed; mounting a volume takes none of this
    /// time. Default 10 s.</summary>
    public TimeSpan HandshakeTimeout { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>A command that began must be there whole after this long. Default 60 s.</summary>
    public TimeSpan FrameTimeout { get; init; } = TimeSpan.FromSeconds(60);

    /// <summary>A client that takes no replies for this long is cut off. Default 60 s.</summary>
    public TimeSpan WriteTimeout { get; init; } = TimeSpan.FromSeconds(60);

    /// <summary>A volume that cannot be mounted for this long is refused to the client. Default 30 s.</summary>
    public TimeSpan MountTimeout { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>A volume stays mounted for so long after its last client has gone. Default 10 s.</summary>
    public TimeSpan Linger { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>Commands under way may end for so long when the server stops. Default 10 s.</summary>
    public TimeSpan StopTimeout { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>Memory of one connection's commands without a reply, beyond which it is not read from; one command may
    /// have more. Default 64 MiB.</summary>
    public long MaxConnectionBytes { get; init; } = 64L << 20;

    /// <summary>Memory of all commands without a reply. Default 512 MiB.</summary>
    public long MaxBytes { get; init; } = 512L << 20;

    /// <summary>Memory, for each mounted volume, of blocks that were written in part. Default 16 MiB.</summary>
    public long RecentBytes { get; init; } = 16L << 20;

    /// <summary>All faults in one message.</summary>
    /// <exception cref="ArgumentException">An option is out of range.</exception>
    public void Validate() => Rules.Check(this);
}
