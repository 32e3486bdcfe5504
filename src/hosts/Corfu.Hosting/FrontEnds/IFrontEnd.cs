using System.Net;
using System.Text.Json;

namespace Corfu.Hosting;

/// <summary>A protocol that a node process can serve beside its roles, with a listener of its own. A configuration asks
/// for it by its kind.</summary>
public interface IFrontEnd
{
    /// <summary>The name in <c>node.json</c>, as <c>grpc</c>.</summary>
    string Kind { get; }

    /// <summary>Whether it has settings of its own (<see cref="FrontEndOptions.Settings"/>).</summary>
    bool HasSettings => false;

    /// <summary>Listens over an ordinary client, which connects when it is needed. Disposing the result ends
    /// it.</summary>
    /// <exception cref="CorfuException">The port is occupied, or a right unknown: the message is for the
    /// operator.</exception>
    Task<IAsyncDisposable> StartAsync(FrontEndStart start, CancellationToken cancellationToken);
}

/// <summary>A front end that runs (<see cref="IFrontEnd.StartAsync"/>), and may not serve its callers now.</summary>
public interface IFrontEndHealth
{
    /// <summary>Why it does not serve, as the node's readiness tells it; null: it does.</summary>
    string? Fault { get; }
}

/// <param name="Listen">An IP address or <c>localhost</c>.</param>
/// <param name="Connection">The cluster, as <see cref="Client.ConnectionString"/>; this node is part of it.</param>
/// <param name="Allow">As <see cref="FrontEndOptions.Allow"/>.</param>
public sealed record FrontEndStart(
    NodeEndpoint Listen, string Connection, IReadOnlyCollection<string> Allow, ILoggerFactory Loggers)
{
    /// <summary><see cref="Listen"/> for a socket; <c>localhost</c> is 127.0.0.1.</summary>
    public IPEndPoint EndPoint =>
        new(Listen.Host == "localhost" ? IPAddress.Loopback : IPAddress.Parse(Listen.Host), Listen.Port);

    /// <summary>TLS of the process, which is the front end's too; null: connections are plain.</summary>
    public ClusterTls? Tls { get; init; }

    /// <summary>The folder of the node's configuration, for files of the front end; null: there is none.</summary>
    public string? Folder { get; init; }

    /// <inheritdoc cref="FrontEndOptions.Settings"/>
    public JsonElement? Settings { get; init; }

    /// <summary>The front end's limits, as the configuration has them below <c>limits</c> with its kind. Null: its
    /// defaults.</summary>
    public JsonElement? Limits { get; init; }
}

/// <summary>A front end of a node.</summary>
/// <param name="Kind">As <see cref="IFrontEnd.Kind"/>.</param>
/// <param name="Listen"><c>address:port</c>, another one than the node's.</param>
public sealed record FrontEndOptions(string Kind, string Listen)
{
    /// <summary>Further rights of its callers, beside reading and appending; their names are the front end's. Default:
    /// none.</summary>
    public IReadOnlyList<string>? Allow { get; init; }

    /// <summary>Settings that only this kind has, by name. Null: its defaults.</summary>
    public JsonElement? Settings { get; init; }

    internal NodeEndpoint? Endpoint => NodeEndpoint.TryParse(Listen, out var endpoint) ? endpoint : null;
}

/// <summary>A front end that every node of a cluster gets, at a port of its own.</summary>
/// <param name="Kind">As <see cref="IFrontEnd.Kind"/>.</param>
public sealed record FrontEndShape(string Kind)
{
    /// <inheritdoc cref="FrontEndOptions.Allow"/>
    public ImmutableArray<string> Allow { get; init; } = [];
}
