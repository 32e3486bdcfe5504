using System.Text.Json;
using Microsoft.Extensions.Logging.Abstractions;

namespace Corfu.Hosting;

/// <summary>A role that a node process can serve. A configuration asks for it by its name. The log's own are
/// <see cref="NodeRoles.Log"/>.</summary>
public interface INodeRole
{
    /// <summary>The name in <c>node.json</c>, as <c>Unit</c>; case does not count.</summary>
    string Name { get; }

    /// <summary>The number on the wire.</summary>
    NodeRole Role { get; }

    /// <summary>Whether the role keeps data in a folder, and its identity with it. Without a folder its identity is new
    /// with every start, and a process serves it once at most.</summary>
    bool HasFolder { get; }

    /// <summary>Whether the log's projections name it. If so, it gets a new identity and folder after a decided
    /// projection has removed it.</summary>
    bool IsInProjections => false;

    /// <summary>Says what is wrong with the settings of the role in a configuration; null: nothing. A role without
    /// settings takes none.</summary>
    string? FaultOf(JsonElement? settings) =>
        settings is null ? null : $"the {Name.ToLowerInvariant()} has no settings.";

    /// <summary>Adds the role's requests to the table of the process.</summary>
    void AddRequests(RequestTable table);

    /// <summary>Opens a role of this process.</summary>
    /// <exception cref="IOException">The folder cannot be used now: the process does not start. After any other
    /// exception the data of a folder that was in use counts as lost, and its identity never serves again.</exception>
    Task<RunningRole> OpenAsync(RoleStart start);

    /// <summary>Asks a role how it is. Changes nothing.</summary>
    /// <exception cref="CorfuException">The role does not answer.</exception>
    Task<RoleAnswer> ProbeAsync(ITransport transport, NodeAddress node, CancellationToken cancellationToken);

    /// <summary>The role's duty: serving, joining (being rebuilt), spare, standby, removed (it never returns under this
    /// identity), or unknown while it does not answer. Every tool that shows a role uses these words.</summary>
    /// <param name="projection">The newest one; null: unknown.</param>
    string DutyIn(Projection? projection, NodeId id, RoleAnswer answer) => "serving";
}

/// <param name="Folder">The role's own; empty for a role without one.</param>
/// <param name="Id">The identity that the folder was formatted with; none for a role without one.</param>
/// <param name="IsNew">The role has never served from the folder. Otherwise an empty folder is a loss.</param>
public sealed record RoleStart(string Folder, ClusterId Cluster, NodeId Id, bool IsNew, NodeLimits Limits)
{
    /// <summary>The endpoint of the process, which listens once its roles are open.</summary>
    public NodeEndpoint Endpoint { get; init; }

    /// <summary>The cluster, as <see cref="Client.ConnectionString"/>; this node is part of it.</summary>
    public string Connection { get; init; } = "";

    /// <summary>TLS of the process; null: connections are plain.</summary>
    public ClusterTls? Tls { get; init; }

    /// <summary>Whether plain connections to other addresses than loopback are wanted.</summary>
    public bool Insecure { get; init; }

    /// <inheritdoc cref="NodeConfigRole.Settings"/>
    public JsonElement? Settings { get; init; }

    /// <summary>Takes handlers that the role serves beside its own, as long as it is open.</summary>
    public IRoleHandlers Beside { get; init; } = NoHandlers.Instance;

    public ILoggerFactory Loggers { get; init; } = NullLoggerFactory.Instance;

    public TimeProvider Time { get; init; } = TimeProvider.System;
}

/// <summary>A role that serves.</summary>
/// <param name="owner">Disposing it ends the role; null: nothing to end.</param>
public sealed class RunningRole(IRoleHandler handler, IAsyncDisposable? owner = null)
{
    public IRoleHandler Handler => handler;

    public IAsyncDisposable? Owner => owner;

    /// <summary>Completes, with the reason, when the role has failed and serves nothing until the process is restarted;
    /// null for a role that cannot fail.</summary>
    public Task<Exception>? Fault { get; init; }

    /// <summary>Says why the role will soon not do all that it is for, or does not now, though it serves; empty while
    /// all is well. Null for a role that needs no attention.</summary>
    public Func<string>? Warning { get; init; }
}
