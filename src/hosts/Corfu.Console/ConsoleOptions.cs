using Microsoft.Extensions.Logging.Abstractions;

namespace Corfu.WebConsole;

/// <summary>How a console reaches its cluster.</summary>
public sealed record ConsoleOptions
{
    /// <summary>The cluster's connection string; any process of the cluster will do.</summary>
    public required string Connection { get; init; }

    /// <summary>The identity and the trust of its connections; the console sets its own time-outs.</summary>
    public CorfuClientOptions Client { get; init; } = CorfuClientOptions.Default;

    /// <summary>Default: nothing is logged.</summary>
    public ILoggerFactory Loggers { get; init; } = NullLoggerFactory.Instance;

    public TimeProvider Time { get; init; } = TimeProvider.System;
}
