namespace Corfu.Server;

/// <summary>A connection that is to be ended, and the reason for people.</summary>
internal sealed record CutOff(ServerConnection Connection, string Detail);

/// <summary>Connections, requests in flight and waiting answers of each identity. The gate is taken when connections
/// come and go and by the sweep, never for a request.</summary>
internal sealed class IdentityBook(RoleRegistry registry)
{
    /// <summary>Identities without a connection are kept for their rates, up to this number.</summary>
    private const int MaxIdle = 8192;

    private static readonly TimeSpan s_idleFor = TimeSpan.FromMinutes(1);

    private readonly Lock _gate = new();

    // Guarded by _gate. A connection with a place is in its identity's Connections, and counted in _connections.
    private readonly Dictionary<(AccessRole Role, string Name), Identity> _identities = [];
    private readonly Dictionary<NodeId, RoleLoad> _roles = [];
    private int _connections;

    private long _answerBytes;

    /// <summary>Takes a place for a connection.</summary>
    /// <returns>Null, or the reason why there is none.</returns>
    public string? Enter(ServerConnection connection)
    {
        if (connection.IsRefused) return Refusals.Certificate;
        var principal = connection.Principal;
        var isNode = IsNode(connection);
        var options = registry.Options;
        var reserved = isNode || principal is { Serial: not null, Role: AccessRole.Admin }
            ? 0
            : Math.Min(options.ReservedConnections, options.MaxConnections / 2);
        lock (_gate)
        {
            if (_connections >= options.MaxConnections - reserved) return Refusals.Connections;
            if (!TryJoin(connection, Find(principal, isNode))) return Refusals.IdentityConnections;
            _connections++;
            return null;
        }
    }

    /// <summary>The share by which a connection's requests to the role are counted, from now on. A handshake may have
    /// lowered the peer's role, which makes it another identity.</summary>
    /// <returns>Null: that one has all its connections.</returns>
    public RequestShare? Bind(ServerConnection connection, IRoleHandler handler)
    {
        var isNode = IsNode(connection);
        var role = handler.Id;
        lock (_gate)
        {
            var identity = connection.Identity!;
            if (KeyOf(identity.Principal) != KeyOf(connection.Principal))
            {
                identity.Connections.Remove(connection);
                var lowered = Find(connection.Principal, isNode);
                if (!TryJoin(connection, lowered))
                {
                    identity.Connections.Add(connection);
                    return null;
                }

                identity = lowered;
            }

            if (!_roles.TryGetValue(role, out var load))
                _roles.Add(role, load = new RoleLoad(role, handler.MaxWaiting));
            if (!identity.Shares.TryGetValue(role, out var share))
            {
                identity.Shares.Add(role, share = new RequestShare(load, identity.IsProvenNode));
                load.Shares++;
            }

            share.Connections++;
            return share;
        }
    }

    /// <summary>A connection without a place is passed over.</summary>
    public void Leave(ServerConnection connection, RequestShare? share)
    {
        lock (_gate)
        {
            if (connection.Identity is not { } identity || !identity.Connections.Remove(connection)) return;
            _connections--;
            if (share is not null) share.Connections--;
            if (identity.Connections.Count > 0) return;
            identity.LastLeft = registry.Time.GetTimestamp();
            if (_identities.Count > MaxIdle && identity.Shares.Count == 0)
                _identities.Remove(KeyOf(identity.Principal));
        }
    }

    /// <summary>Once a second.</summary>
    public void Sweep()
    {
        lock (_gate)
        {
            foreach (var (key, identity) in _identities)
            {
                foreach (var (role, share) in identity.Shares)
                {
                    if (!share.Sweep()) Forget(identity, role);
                }

                if (identity.Connections.Count == 0 && identity.Shares.Count == 0
                    && registry.Time.GetElapsedTime(identity.LastLeft) >= s_idleFor) _identities.Remove(key);
            }
        }
    }

    /// <summary>A role that is gone answers nothing more.</summary>
    public void Forget(NodeId role)
    {
        lock (_gate)
        {
            foreach (var identity in _identities.Values) Forget(identity, role);
        }
    }

    /// <param name="change">Bytes of answers more, or less, that a connection's peer does not take.</param>
    /// <returns>The connection to cut, with the reason; null: all is within the limits.</returns>
    public CutOff? AddAnswerBytes(Identity identity, long change)
    {
        var options = registry.Options;
        var ofIdentity = identity.AddAnswerBytes(change);
        var all = Interlocked.Add(ref _answerBytes, change);
        if (change <= 0) return null;
        if (ofIdentity > options.MaxIdentityOutput)
            return Cut(identity, $"The answers that {identity.Principal} does not take exceed maxIdentityOutput.");
        if (all <= options.MaxTotalOutput) return null;
        Identity? fullest;
        lock (_gate) fullest = _identities.Values.MaxBy(i => i.AnswerBytes);
        return fullest is null
            ? null
            : Cut(fullest, $"The answers that peers do not take exceed maxTotalOutput; {fullest.Principal} has most.");
    }

    /// <summary>The identity of a name, for tests; null: there is none.</summary>
    public Identity? Find(string name)
    {
        lock (_gate) return _identities.Values.FirstOrDefault(identity => identity.Principal.Name == name);
    }

    private static (AccessRole Role, string Name) KeyOf(Principal principal) => (principal.Role, principal.Name);

    // An address proves less than a certificate, and is all that there is without TLS.
    private static bool IsNode(ServerConnection connection) => connection.Principal.Serial is null
        ? connection.IsKnown
        : connection.Principal.Role == AccessRole.Node;

    private CutOff? Cut(Identity identity, string detail)
    {
        lock (_gate)
            return identity.Connections.MaxBy(c => c.WaitingBytes) is { } fullest ? new CutOff(fullest, detail) : null;
    }

    // Under the gate.
    private bool TryJoin(ServerConnection connection, Identity identity)
    {
        if (!identity.IsNode && identity.Connections.Count >= registry.Options.MaxIdentityConnections) return false;
        identity.Connections.Add(connection);
        connection.Identity = identity;
        return true;
    }

    // Under the gate.
    private void Forget(Identity identity, NodeId role)
    {
        if (!identity.Shares.Remove(role, out var share)) return;
        share.Deactivate();
        if (--share.Role.Shares == 0) _roles.Remove(role);
    }

    // Under the gate. What an idle identity was may have changed: its address may have become a process's.
    private Identity Find(Principal principal, bool isNode)
    {
        if (_identities.TryGetValue(KeyOf(principal), out var known))
        {
            if (known.IsNode == isNode || known.Connections.Count > 0) return known;

            // The sweep finds this identity no more: a share left active would make all others smaller.
            foreach (var role in known.Shares.Keys) Forget(known, role);
        }

        return _identities[KeyOf(principal)] = new Identity(principal, isNode, registry.Time);
    }
}
