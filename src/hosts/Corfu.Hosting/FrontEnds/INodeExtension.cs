using Corfu.Client;

namespace Corfu.Hosting;

/// <summary>A part of a node process for operators, an HTTP endpoint for instance, beside the roles.</summary>
public interface INodeExtension
{
    /// <summary>Called before the roles are opened, so that a long recovery can be watched. Disposing the result ends
    /// it, after the roles have ended.</summary>
    /// <returns>Null: the configuration does not ask for it.</returns>
    /// <exception cref="NodeStartException">The configuration cannot be followed: the message is for the
    /// operator.</exception>
    Task<IAsyncDisposable?> StartAsync(NodeSurroundings node, CancellationToken cancellationToken);
}

/// <summary>A node as an <see cref="INodeExtension"/> sees it.</summary>
/// <param name="Running">Null before the roles serve, and after they have ended.</param>
public sealed record NodeSurroundings(NodeOptions Options, Func<CorfuNode?> Running, ILoggerFactory Loggers,
    TimeProvider Time)
{
    /// <summary>Front ends that do not serve their callers, each with the reason.</summary>
    public Func<ImmutableArray<string>> FrontEndFaults { get; init; } = static () => [];

    /// <summary>The process's certificate and its rules for peers; null: it has none.</summary>
    public ClusterTls? Tls => Options.OpenTls;

    /// <summary>The cluster, as <see cref="Client.ConnectionString"/>; the node is part of it.</summary>
    public string Connection => Options.Connection;

    /// <summary>For clients in the process: its identity and its trust.</summary>
    public CorfuClientOptions Client => Options.OpenTls is { } tls
        ? CorfuClientOptions.Default with { Tls = Options.Tls with { Source = tls.Source } }
        : CorfuClientOptions.Default;
}
