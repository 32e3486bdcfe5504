using System.Buffers;

namespace Corfu.Server;

/// <summary>Limits of a process's listener.</summary>
public sealed record ServerTransportOptions
{
    internal static readonly OptionRules<ServerTransportOptions> Rules = new OptionRules<ServerTransportOptions>(new())
        .AtLeast(o => o.MaxConnections, 1)
        .AtLeast(o => o.ReservedConnections, 0)
        .AtLeast(o => o.MaxIdentityConnections, 1)
        .AtLeast(o => o.MaxHandshakes, 1)
        .AtLeast(o => o.MaxAddressHandshakes, 1)
        .AtLeast(o => o.ReservedHandshakes, 0)
        .Above(o => o.HandshakeTimeout, TimeSpan.Zero)
        .Above(o => o.IdleTimeout, TimeSpan.Zero)
        .Above(o => o.FrameTimeout, TimeSpan.Zero)
        .Above(o => o.WriteTimeout, TimeSpan.Zero)
        .AtLeast(o => o.MaxInFlight, 1)
        .AtLeast(o => o.MaxSharedInFlight, 1)
        .AtLeast(o => o.MinShare, 1)
        .AtLeast(o => o.MaxFrameBytes, 1)
        .AtLeast(o => o.MaxIdentityFrameBytes, 1)
        .AtLeast(o => o.ReservedFrameBytes, 0)
        .AtLeast(o => o.PauseReadingAt, 1)
        .AtLeast(o => o.MaxOutputBuffer, o => o.PauseReadingAt)
        .AtLeast(o => o.MaxIdentityOutput, o => o.MaxOutputBuffer)
        .AtLeast(o => o.MaxTotalOutput, o => o.MaxIdentityOutput)
        .AtLeast(o => o.MaxRequestsPerSecond, 1)
        .AtLeast(o => o.MaxBytesPerSecond, 1)
        .Above(o => o.SweepInterval, TimeSpan.Zero);

    /// <summary>Connections open at once in the process; more are closed without an answer. Default 4,096.</summary>
    public int MaxConnections { get; init; } = 4096;

    /// <summary>The part of <see cref="MaxConnections"/> for nodes and administrators alone, at most half: clients shut
    /// out neither agents nor operators. Default 128.</summary>
    public int ReservedConnections { get; init; } = 128;

    /// <summary>Connections of one identity, nodes excepted: the certificate's, or the address of a peer without TLS.
    /// Default 256.</summary>
    public int MaxIdentityConnections { get; init; } = 256;

    /// <summary>TLS handshakes under way at once; more connections are closed before any cryptography. Default
    /// 64.</summary>
    public int MaxHandshakes { get; init; } = 64;

    /// <summary>The part of <see cref="MaxHandshakes"/> that one address may have. Default 8.</summary>
    public int MaxAddressHandshakes { get; init; } = 8;

    /// <summary>Further handshakes for addresses of the cluster's processes. Default 16.</summary>
    public int ReservedHandshakes { get; init; } = 16;

    /// <summary>How long a new connection may take for its handshake. Default 5 s.</summary>
    public TimeSpan HandshakeTimeout { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>A connection without requests for this long is closed. Clients close theirs earlier. Default 5
    /// min.</summary>
    public TimeSpan IdleTimeout { get; init; } = TimeSpan.FromMinutes(5);

    /// <summary>A frame that began must be complete after this long. Default 30 s.</summary>
    public TimeSpan FrameTimeout { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>A peer that takes no answers for this long is cut off. Default 30 s.</summary>
    public TimeSpan WriteTimeout { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>Requests of one connection without an answer yet, beyond which it is not read from. Default
    /// 16,384.</summary>
    public int MaxInFlight { get; init; } = 16384;

    /// <summary>Requests in flight at one role, to be shared by the identities that ask it, nodes' certificates
    /// excepted: three quarters of a unit's waiting answers, so that no identity makes others hear
    /// <see cref="Status.Overloaded"/>. Default 49,152.</summary>
    public int MaxSharedInFlight { get; init; } = 49152;

    /// <summary>An identity's share of <see cref="MaxSharedInFlight"/> is no smaller, however many ask. Default
    /// 1,024.</summary>
    public int MinShare { get; init; } = 1024;

    /// <summary>Memory of frames from 64 KiB on that have not arrived whole; further connections with such a frame are
    /// not read from. Default 256 MiB.</summary>
    public long MaxFrameBytes { get; init; } = 256L << 20;

    /// <summary>The part of <see cref="MaxFrameBytes"/> that one identity may have. Default 64 MiB.</summary>
    public long MaxIdentityFrameBytes { get; init; } = 64L << 20;

    /// <summary>Memory for frames of nodes beyond <see cref="MaxFrameBytes"/>. Default 64 MiB.</summary>
    public long ReservedFrameBytes { get; init; } = 64L << 20;

    /// <summary>Bytes of answers waiting for a slow peer beyond which its connection is not read from. Default 1
    /// MiB.</summary>
    public int PauseReadingAt { get; init; } = 1 << 20;

    /// <summary>Bytes of answers waiting for a slow peer beyond which it is cut off. Default 64 MiB.</summary>
    public int MaxOutputBuffer { get; init; } = 64 << 20;

    /// <summary>Bytes of answers waiting for all connections of one identity, beyond which the connection with most is
    /// cut. Default 128 MiB.</summary>
    public long MaxIdentityOutput { get; init; } = 128L << 20;

    /// <summary>Bytes of answers waiting for all peers, beyond which a connection of the identity with most is cut.
    /// Default 512 MiB.</summary>
    public long MaxTotalOutput { get; init; } = 512L << 20;

    /// <summary>Requests of one identity in a second, nodes' certificates excepted; beyond, its connections are not
    /// read from. Default: none.</summary>
    public int? MaxRequestsPerSecond { get; init; }

    /// <summary>Bytes of requests of one identity in a second, nodes' certificates excepted; beyond, its connections
    /// are not read from. Default: none.</summary>
    public long? MaxBytesPerSecond { get; init; }

    /// <summary>How often the time limits are checked. Default 1 s.</summary>
    public TimeSpan SweepInterval { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>Memory for frames that arrive in parts, for tests to count.</summary>
    internal ArrayPool<byte> Scratch { get; init; } = ArrayPool<byte>.Shared;

    /// <summary>For tests of a later version.</summary>
    internal WireProtocol Protocol { get; init; } = WireProtocol.Current;

    /// <summary>All faults in one message.</summary>
    /// <exception cref="ArgumentException">An option is out of range.</exception>
    public void Validate() => Rules.Check(this);
}
