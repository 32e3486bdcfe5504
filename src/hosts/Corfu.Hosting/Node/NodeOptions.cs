using Corfu.Client;

namespace Corfu.Hosting;

/// <summary>A Corfu node: any set of roles behind one listener.</summary>
public sealed class NodeOptions
{
    /// <summary>For people: appears in logs.</summary>
    public string Name { get; set; } = "node";

    /// <summary>A handshake of another cluster is refused.</summary>
    public Guid Cluster { get; set; }

    /// <summary><c>address:port</c>; an IP address or <c>localhost</c>. Clients reach the node under exactly
    /// this.</summary>
    public string Listen { get; set; } = "";

    /// <summary>Front ends that the process serves beside its roles, at most one of a kind. <see cref="NodeRunner"/>
    /// serves them, a <see cref="CorfuNode"/> alone does not. Default: none.</summary>
    public IList<FrontEndOptions> FrontEnds { get; } = [];

    /// <summary>The HTTP endpoint for operators. <see cref="NodeRunner"/> serves it, a <see cref="CorfuNode"/> alone
    /// does not. Default: none.</summary>
    public NodeHttpOptions? Http { get; set; }

    /// <summary>The collector of figures and traces. As <see cref="Http"/>.</summary>
    public NodeTelemetryOptions? Telemetry { get; set; }

    /// <summary>The log of the process. As <see cref="Http"/>. Default: the console.</summary>
    public NodeLogOptions Log { get; set; } = new();

    /// <summary>Allows addresses other than loopback although connections may be neither encrypted nor authenticated.
    /// Default false.</summary>
    public bool Insecure { get; set; }

    /// <summary>The node's certificate, and whom it trusts. Default: none, so that connections are plain.</summary>
    public TlsOptions Tls { get; set; } = new();

    /// <summary>Null: required where <see cref="Tls"/> has a certificate, else off.</summary>
    public TlsMode? TlsMode { get; set; }

    /// <summary>TLS of the process, where other listeners of it have opened it. Null: the node opens it, with <see
    /// cref="Tls"/>.</summary>
    public ClusterTls? OpenTls { get; set; }

    internal bool HasCertificate => OpenTls is not null || Tls.Source is not null || Tls.Folder is { Length: > 0 };

    internal TlsMode Mode => TlsMode ?? (HasCertificate ? Protocol.TlsMode.Required : Protocol.TlsMode.Off);

    /// <summary>Gives an empty role folder a new identity at the first start. Default false, since an acceptor or a
    /// unit whose folder vanished must not come back empty under its name.</summary>
    public bool FormatNewFolders { get; set; }

    public IList<NodeRoleOptions> Roles { get; } = [];

    /// <summary>The roles that <see cref="Roles"/> may name. Default: those of the log.</summary>
    public NodeRoles KnownRoles { get; set; } = NodeRoles.Log;

    /// <summary><c>address:port</c> of other processes of the cluster. A single one that runs is enough: agents tell
    /// each other about all.</summary>
    public IList<string> Peers { get; } = [];

    /// <summary>Whether the node's agent reconfigures on its own when nodes are gone. Default true; it looks and
    /// reports in any case.</summary>
    public bool Automatic { get; set; } = true;

    /// <summary>The file in which the node's agent keeps its setting (<c>corfu reconfigure auto</c>), so that a restart
    /// does not forget it. Null: none.</summary>
    public string? AgentFile { get; set; }

    /// <summary>The folder of the node's audit files (<see cref="AuditFiles"/>). Null: nothing is audited.</summary>
    public string? AuditFolder { get; set; }

    /// <summary>The file that these options come from: a unit that has left the cluster gets its new identity there.
    /// Null: nowhere.</summary>
    public string? ConfigFile { get; set; }

    public NodeLimits Limits { get; set; } = new();

    internal INodeRole KindOf(NodeRoleOptions role) => KnownRoles.Find(role.Role)
        ?? throw new InvalidOperationException("The options were not validated.");

    /// <summary>The cluster, for clients in this process: one without an acceptor finds it through the
    /// others.</summary>
    internal string Connection => ConnectionWith(OpenTls);

    internal NodeEndpoint Endpoint => NodeEndpoint.TryParse(Listen, out var endpoint)
        ? endpoint
        : throw new InvalidOperationException("The options were not validated.");

    /// <param name="tls">TLS of the process, where the options do not have it open.</param>
    internal string ConnectionWith(ClusterTls? tls) => new ConnectionString(
    [
        .. Peers.Prepend(Listen).Distinct().Take(ConnectionString.MaxEndpoints)
            .Select(peer => NodeEndpoint.TryParse(peer, out var endpoint) ? endpoint : default),
    ])
    {
        IsTls = tls is not null,
        IsInsecure = tls is null && Insecure,
    }.ToString();
}
