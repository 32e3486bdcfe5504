using Microsoft.Extensions.Logging.Abstractions;

namespace Corfu.Hosting;

/// <summary>A cluster inside this process. Writes are durable, as on any other.</summary>
public sealed record EmbeddedClusterOptions
{
    /// <summary>The folder of the cluster's data; an existing cluster is continued. Null takes a temporary folder,
    /// deleted at the end.</summary>
    public string? Folder { get; init; }

    /// <summary>Storage units. Default 3.</summary>
    public int Units { get; init; } = 3;

    /// <summary>Replicas of every entry. Default 2.</summary>
    public int Replicas { get; init; } = 2;

    /// <summary>Units that run without being in a chain, to take the place of one that is gone.</summary>
    public int Spares { get; init; }

    /// <summary>Sequencers: one serves, the others stand by.</summary>
    public int Sequencers { get; init; } = 1;

    /// <summary>Whether the agents reconfigure on their own when nodes are gone. A folder that holds a cluster keeps
    /// its own choice.</summary>
    public bool Automatic { get; init; } = true;

    /// <summary>Encrypts the connections, with certificates that the folder keeps. A folder that has them keeps
    /// them. Default false.</summary>
    public bool Tls { get; init; }

    /// <summary>Default: nothing is logged.</summary>
    public ILoggerFactory Loggers { get; init; } = NullLoggerFactory.Instance;

    public TimeProvider Time { get; init; } = TimeProvider.System;
}
