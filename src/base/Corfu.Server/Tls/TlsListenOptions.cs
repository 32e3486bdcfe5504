using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Corfu.Server;

/// <summary>TLS of a listener.</summary>
public sealed record TlsListenOptions
{
    /// <summary>How long a handshake may take. Default 5 s.</summary>
    public TimeSpan HandshakeTimeout { get; init; } = TimeSpan.FromSeconds(5);

    public TimeProvider Time { get; init; } = TimeProvider.System;

    public ILogger Logger { get; init; } = NullLogger.Instance;

    internal static TlsListenOptions Of(RoleRegistry registry) => new()
    {
        HandshakeTimeout = registry.Options.HandshakeTimeout,
        Time = registry.Time,
        Logger = registry.Logger,
    };
}
