namespace Corfu.Server;

/// <summary>The identities that ask one role of this process.</summary>
internal sealed class RoleLoad(NodeId role, int maxWaiting)
{
    private int _active;

    public NodeId Role => role;

    public int MaxWaiting => maxWaiting;

    /// <summary>Guards which shares are active.</summary>
    public Lock Gate { get; } = new();

    /// <summary>Shares of the role, active or not. Guarded by the book's gate.</summary>
    public int Shares { get; set; }

    /// <summary>Identities, nodes excepted, that asked within the last second or wait for answers.</summary>
    public int Active => Volatile.Read(ref _active);

    public void Count(int change) => Interlocked.Add(ref _active, change);
}

/// <summary>Requests in flight of one identity at one role, over all its connections. A role has one queue of waiting
/// answers, so each has shares of its own: an identity that waits for a unit's disk still reaches the agent. Any
/// thread; told once a batch, not for each request.</summary>
internal sealed class RequestShare(RoleLoad role, bool isNode) : IRoleShare
{
    /// <summary>Every connection may have so many in flight, whatever the others of its identity hold: each gets on,
    /// and a probe does not wait behind appends. Fewer where a role lets few wait.</summary>
    internal const int Floor = 32;

    // The floor and the least share are meant for roles that share as many: units.
    private const int Usual = 49152;

    private int _inFlight;
    private long _held;
    private int _connections;
    private volatile bool _isActive;
    private volatile bool _isUsed;

    public RoleLoad Role => role;

    public int InFlight => Volatile.Read(ref _inFlight);

    /// <summary>Changed under the book's gate.</summary>
    public int Connections
    {
        get => Volatile.Read(ref _connections);
        set => Volatile.Write(ref _connections, value);
    }

    /// <param name="change">Requests taken from a batch, less those answered.</param>
    public void Add(int change) => Interlocked.Add(ref _inFlight, change);

    /// <summary>The requests that a connection may have in flight now.</summary>
    /// <param name="own">Requests that the connection has in flight.</param>
    public int LimitOf(int own, ServerTransportOptions options)
    {
        if (isNode) return options.MaxInFlight;
        if (!_isUsed) MarkUsed();
        var shared = Math.Min(options.MaxSharedInFlight, OfRole);
        var share = Math.Max(Scale(options.MinShare), shared / Math.Max(1, role.Active));

        // Connections take turns: the last eighth is for those that have less than their part.
        var part = share / Math.Max(1, Connections);
        var free = (own < part ? share : share - (share / 8)) - InFlight;
        return Math.Min(options.MaxInFlight, Math.Max(Scale(Floor), own + Math.Max(0, free)));
    }

    public bool TryHold(long amount, long total)
    {
        var held = Interlocked.Add(ref _held, amount);

        // The first one is always let in.
        if (isNode || held == amount || held <= total / 4 * 3 / Math.Max(1, role.Active)) return true;
        Release(amount);
        return false;
    }

    public void Release(long amount) => Interlocked.Add(ref _held, -amount);

    private int OfRole => role.MaxWaiting / 4 * 3;

    private int Scale(int ofMany) => OfRole >= Usual ? ofMany : Math.Max(1, (int)((long)ofMany * OfRole / Usual));

    /// <summary>Once a second: an identity that asked nothing since gives its share to the others.</summary>
    /// <returns>Whether it is in use: by connections, or by requests of those that are gone.</returns>
    public bool Sweep()
    {
        if (!_isUsed && InFlight <= 0) Deactivate();
        _isUsed = false;
        return Connections > 0 || InFlight > 0;
    }

    public void Deactivate()
    {
        lock (role.Gate)
        {
            if (!_isActive) return;
            _isActive = false;
            role.Count(-1);
        }
    }

    private void MarkUsed()
    {
        _isUsed = true;
        lock (role.Gate)
        {
            if (_isActive) return;
            _isActive = true;
            role.Count(1);
        }
    }
}
