using System.Buffers;

namespace Corfu.Server;

/// <summary>Limits of a process's listener.</summary>
public sealed record ServerTransportOptions
{
    /// <summary>Connections open at once in the process; more are closed without an answer.</summary>
    public int MaxConnections { get; init; } = 4096;

    /// <summary>How long a new connection may take for its handshake.</summary>
    public TimeSpan HandshakeTimeout { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>A connection without requests for this long is closed. Clients close theirs earlier.</summary>
    public TimeSpan IdleTimeout { get; init; } = TimeSpan.FromMinutes(5);

    /// <summary>A frame that began must be complete after this long.</summary>
    public TimeSpan FrameTimeout { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>A peer that takes no answers for this long is cut off.</summary>
    public TimeSpan WriteTimeout { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>Requests of one connection without an answer yet, beyond which it is not read from.</summary>
    public int MaxInFlight { get; init; } = 16384;

    /// <summary>Bytes of answers waiting for a slow peer beyond which its connection is not read from.</summary>
    public int PauseReadingAt { get; init; } = 1 << 20;

    /// <summary>Bytes of answers waiting for a slow peer beyond which it is cut off.</summary>
    public int MaxOutputBuffer { get; init; } = 256 << 20;

    /// <summary>How often the time limits are checked.</summary>
    public TimeSpan SweepInterval { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>Memory for frames that arrive in parts, for tests to count.</summary>
    internal ArrayPool<byte> Scratch { get; init; } = ArrayPool<byte>.Shared;

    /// <summary>For tests of a later version.</summary>
    internal WireProtocol Protocol { get; init; } = WireProtocol.Current;

    /// <summary>All faults in one message.</summary>
    /// <exception cref="ArgumentException">An option is out of range.</exception>
    public void Validate() => OptionRules.Check(
        nameof(ServerTransportOptions),
        (nameof(MaxConnections), MaxConnections > 0),
        (nameof(HandshakeTimeout), HandshakeTimeout > TimeSpan.Zero),
        (nameof(IdleTimeout), IdleTimeout > TimeSpan.Zero),
        (nameof(FrameTimeout), FrameTimeout > TimeSpan.Zero),
        (nameof(WriteTimeout), WriteTimeout > TimeSpan.Zero),
        (nameof(MaxInFlight), MaxInFlight > 0),
        (nameof(PauseReadingAt), PauseReadingAt > 0),
        (nameof(MaxOutputBuffer), MaxOutputBuffer >= PauseReadingAt),
        (nameof(SweepInterval), SweepInterval > TimeSpan.Zero));
}
