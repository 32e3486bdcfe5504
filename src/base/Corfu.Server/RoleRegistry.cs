using Microsoft.AspNetCore.Connections;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Corfu.Server;

/// <summary>The roles that this process serves, and its connections. Roles come and go while it listens: a new
/// sequencer incarnation is a new handler, and removing a role closes the connections that were bound to it.</summary>
public sealed class RoleRegistry : IDisposable, IServerFigures
{
    /// <summary>Connections without a place that are told so; further ones are closed without a word.</summary>
    private const int MaxRefusing = 64;

    private readonly Lock _gate = new();
    private readonly ITimer _sweep;
    private volatile ServerTransportOptions _options;
    private readonly DenialLimit _denials;

    // Guarded by _gate. A connection stands in _connections from accept to close, and is bound to a role of _roles or
    // to none yet.
    private readonly Dictionary<NodeId, IRoleHandler> _roles = [];
    private readonly HashSet<ServerConnection> _connections = [];
    private int _refusing;
    private bool _disposed;

    /// <param name="requests">The requests of all roles that the process may serve.</param>
    public RoleRegistry(ClusterId cluster, RequestTable requests, ServerTransportOptions? options = null,
        TimeProvider? time = null, ILogger? logger = null)
    {
        if (cluster.IsNone) throw new ArgumentException("A process serves one cluster.", nameof(cluster));
        Cluster = cluster;
        Requests = requests;
        _options = options ?? new ServerTransportOptions();
        _options.Validate();
        Time = time ?? TimeProvider.System;
        Logger = logger ?? NullLogger.Instance;
        Lines = new LineLimit(Time);
        Book = new IdentityBook(this);
        Frames = new FrameBudget(this);
        Handshakes = new HandshakePlaces(this);
        _denials = new DenialLimit(Time);
        ServerTelemetry.Registries.Add(this);
        _sweep = Time.CreateTimer(static state => ((RoleRegistry)state!).Sweep(), this, Options.SweepInterval,
            Options.SweepInterval);
    }

    public ClusterId Cluster { get; }

    /// <summary>Addresses of the cluster's processes, as far as this process knows them.</summary>
    public KnownAddresses KnownAddresses { get; } = new();

    /// <summary>TLS middleware takes a place here before it reads a connection.</summary>
    internal HandshakePlaces Handshakes { get; }

    internal RequestTable Requests { get; }

    internal ServerTransportOptions Options => _options;

    internal IdentityBook Book { get; }

    internal FrameBudget Frames { get; }

    internal LineLimit Lines { get; }

    internal TimeProvider Time { get; }

    internal ILogger Logger { get; }

    /// <summary>Judges what clients may send under a condition only. Set before the process listens; without one all of
    /// that is denied.</summary>
    public IRequestGate? Gate { get; set; }

    /// <summary>Told of requests that were denied, at most once in ten seconds for each peer and opcode. Any
    /// thread.</summary>
    public Action<Denial>? Denied { get; set; }

    /// <summary>Told of refused connections, the peer's address and the reason, as rarely as they are logged. Set
    /// before the process listens. Any thread.</summary>
    public Action<string, string>? Refused { get; set; }

    /// <summary>Connections open now, bound or not.</summary>
    public int ConnectionCount
    {
        get
        {
            lock (_gate) return _connections.Count;
        }
    }

    /// <summary>The peers that are connected, those with the most connections first.</summary>
    /// <param name="limit">Peers at most.</param>
    public ImmutableArray<IdentityReport> DescribePeers(int limit = ProcessReport.MaxIdentities)
    {
        ServerConnection[] open;
        lock (_gate) open = [.. _connections];
        return
        [
            .. open.GroupBy(static connection => (connection.Principal.Role, connection.Principal.Name))
                .Select(static peer => new IdentityReport(peer.Key.Name, peer.Key.Role, peer.Count(),
                    peer.Sum(static connection => connection.Requests),
                    peer.Sum(static connection => connection.Received)))
                .OrderByDescending(static peer => peer.Connections)
                .ThenBy(static peer => peer.Name, StringComparer.Ordinal)
                .Take(limit),
        ];
    }

    /// <summary>Limits hold from the next second on; open connections stay.</summary>
    /// <exception cref="ArgumentException">An option is out of range: the ones before stay.</exception>
    public void UseOptions(ServerTransportOptions options)
    {
        options.Validate();
        _options = options;
    }

    long IServerFigures.RequestsInFlight
    {
        get
        {
            lock (_gate) return _connections.Sum(static connection => (long)connection.InFlight);
        }
    }

    ImmutableArray<IdentityReport> IServerFigures.DescribePeers() => DescribePeers();

    /// <summary>The roles, in the order of role, then identity.</summary>
    public NodeDescription Describe()
    {
        lock (_gate)
        {
            var roles = _roles.Values.OrderBy(r => r.Role).ThenBy(r => r.Id);
            return new NodeDescription(Cluster, [.. roles.Select(r => new RoleIdentity(r.Role, r.Id))]);
        }
    }

    /// <exception cref="InvalidOperationException">The identity is served already, or the process has too many
    /// roles.</exception>
    public void Add(IRoleHandler handler)
    {
        if (handler.Id.IsNone) throw new ArgumentException("A role needs an identity.", nameof(handler));
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_disposed, this);
            if (_roles.Count >= Welcome.MaxRoles)
                throw new InvalidOperationException($"A process serves at most {Welcome.MaxRoles} roles.");
            if (!_roles.TryAdd(handler.Id, handler))
                throw new InvalidOperationException($"The identity {handler.Id} is served already.");
        }
    }

    /// <summary>Stops serving the identity and closes its connections. Requests that the handler has taken may still
    /// finish, without an answer.</summary>
    public bool Remove(NodeId id)
    {
        ServerConnection[] bound;
        lock (_gate)
        {
            if (!_roles.Remove(id)) return false;
            bound = BoundTo(id);
        }

        Drop(bound, "role removed");
        Book.Forget(id);
        return true;
    }

    /// <summary>A handler takes the place of an identity, its own or another's, in one step: there is no moment with
    /// neither of them. The old one's connections are closed.</summary>
    public void Replace(NodeId old, IRoleHandler handler)
    {
        ServerConnection[] bound;
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_disposed, this);
            _roles.Remove(old);
            _roles.Add(handler.Id, handler);
            bound = BoundTo(old);
        }

        Drop(bound, "role replaced");
        Book.Forget(old);
    }

    /// <summary>Serves one accepted connection until it ends.</summary>
    public async Task ServeAsync(ConnectionContext context)
    {
        var connection = new ServerConnection(this, context);
        if (!Enter(connection))
        {
            ServerTelemetry.Refused.Add(1, ServerTelemetry.Reason(Refusals.Connections));
            LogRefused(context, Refusals.Connections);
            context.Abort();
            return;
        }

        ServerTelemetry.Connections.Add(1);
        try
        {
            await connection.RunAsync().ConfigureAwait(false);
        }
        finally
        {
            ServerTelemetry.Connections.Add(-1);
            Exit(connection);
        }
    }

    public void Dispose()
    {
        ServerConnection[] open;
        lock (_gate)
        {
            _disposed = true;
            _roles.Clear();
            open = [.. _connections];
        }

        ServerTelemetry.Registries.Remove(this);
        _sweep.Dispose();
        Drop(open, "shutdown");
    }

    /// <summary>Binds under the gate, so that a role cannot be removed between the look-up and the binding.</summary>
    internal IRoleHandler? Bind(ServerConnection connection, NodeId target)
    {
        lock (_gate)
        {
            if (!_roles.TryGetValue(target, out var handler)) return null;
            connection.Target = target;
            return handler;
        }
    }

    internal void RecordDenial(Principal peer, Opcode opcode)
    {
        ServerTelemetry.RecordDenied(peer.Role, opcode);
        if (_denials.Admit(peer, opcode) is not { } denial) return;
        ServerLog.Denied(Logger, peer.ToString(), opcode, denial.Count);
        Denied?.Invoke(denial);
    }

    /// <param name="detail">The reason in full, where it is not the same for all.</param>
    internal void LogRefused(ConnectionContext context, string reason, string? detail = null)
    {
        if (!Lines.Admits(reason)) return;
        var peer = ServerConnection.PeerOf(context);
        ServerLog.Refused(Logger, context.ConnectionId, peer, detail ?? reason);
        Refused?.Invoke(peer, detail ?? reason);
    }

    internal void LogDropped(ConnectionContext context, string reason, string? detail)
    {
        if (Lines.Admits(reason))
            ServerLog.Dropped(Logger, context.ConnectionId, ServerConnection.PeerOf(context), detail ?? reason);
    }

    // Under the gate.
    private ServerConnection[] BoundTo(NodeId id) => [.. _connections.Where(c => c.Target == id)];

    private static void Drop(ServerConnection[] connections, string reason)
    {
        foreach (var connection in connections) connection.Drop(reason, null);
    }

    private bool Enter(ServerConnection connection)
    {
        connection.NoPlace = Book.Enter(connection);
        lock (_gate)
        {
            if (!_disposed && (connection.NoPlace is null || _refusing < MaxRefusing))
            {
                if (connection.NoPlace is not null) _refusing++;
                return _connections.Add(connection);
            }
        }

        Book.Leave(connection, null);
        return false;
    }

    private void Exit(ServerConnection connection)
    {
        lock (_gate)
        {
            _connections.Remove(connection);
            if (connection.NoPlace is not null) _refusing--;
        }
    }

    private void Sweep()
    {
        ServerConnection[] open;
        lock (_gate) open = [.. _connections];
        var now = Time.GetTimestamp();
        foreach (var connection in open) connection.CheckLimits(now);
        Book.Sweep();
        foreach (var (kind, leftOut) in Lines.TakeLeftOut())
            ServerLog.LeftOut(Logger, leftOut, (int)LineLimit.Window.TotalSeconds, kind);
    }
}
