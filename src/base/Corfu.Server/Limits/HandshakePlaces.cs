using System.Net;
using Microsoft.AspNetCore.Connections;

namespace Corfu.Server;

/// <summary>Places of connections before their TLS handshake has ended. Those that have sent nothing yet cost little; a
/// handshake costs cryptography, so few run at once. Addresses of the cluster's processes have places when the others
/// are taken.</summary>
internal sealed class HandshakePlaces
{
    private sealed class Place(Action leave) : IDisposable
    {
        private int _left;

        public void Dispose()
        {
            if (Interlocked.Exchange(ref _left, 1) == 0) leave();
        }
    }

    private readonly RoleRegistry _registry;
    private readonly AddressCounter _silent = new();
    private readonly AddressCounter _shaking = new();
    private int _reserved;

    public HandshakePlaces(RoleRegistry registry) => _registry = registry;

    /// <summary>For a connection that has sent nothing yet. Disposed when its handshake has ended. Null: it is to be
    /// closed.</summary>
    public IDisposable? TryWait(ConnectionContext context)
    {
        var address = KnownAddresses.AddressOf(context) ?? IPAddress.None;
        return TryWait(address, _registry.KnownAddresses.Has(context)) ?? Refuse(context, Refusals.Connections);
    }

    /// <summary>For a handshake. Disposed when it has ended. Null: none is free, so the connection is closed.</summary>
    public IDisposable? TryEnter(ConnectionContext context)
    {
        var address = KnownAddresses.AddressOf(context) ?? IPAddress.None;
        return TryEnter(address, _registry.KnownAddresses.Has(context)) ?? Refuse(context, Refusals.Handshakes);
    }

    internal IDisposable? TryWait(IPAddress address, bool isKnown)
    {
        var options = _registry.Options;
        var ofAddress = isKnown ? int.MaxValue : options.MaxIdentityConnections;
        return _silent.TryAdd(address, isKnown ? int.MaxValue : options.MaxConnections, ofAddress)
            ? new Place(() => _silent.Remove(address))
            : null;
    }

    internal IDisposable? TryEnter(IPAddress address, bool isKnown)
    {
        var options = _registry.Options;
        if (_shaking.TryAdd(address, options.MaxHandshakes, options.MaxAddressHandshakes))
            return new Place(() => _shaking.Remove(address));
        if (!isKnown) return null;
        if (Interlocked.Increment(ref _reserved) <= options.ReservedHandshakes)
            return new Place(() => Interlocked.Decrement(ref _reserved));
        Interlocked.Decrement(ref _reserved);
        return null;
    }

    private IDisposable? Refuse(ConnectionContext context, string reason)
    {
        ServerTelemetry.Refused.Add(1, ServerTelemetry.Reason(reason));
        _registry.LogRefused(context, reason);
        return null;
    }
}

/// <summary>Counts by address, and all together. Any thread.</summary>
internal sealed class AddressCounter
{
    private readonly Lock _gate = new();

    // Guarded by _gate. _all is the sum of _byAddress, which has no zeros.
    private readonly Dictionary<IPAddress, int> _byAddress = [];
    private int _all;

    public bool TryAdd(IPAddress address, int limit, int limitOfAddress)
    {
        lock (_gate)
        {
            var here = _byAddress.GetValueOrDefault(address);
            if (_all >= limit || here >= limitOfAddress) return false;
            _byAddress[address] = here + 1;
            _all++;
            return true;
        }
    }

    public void Remove(IPAddress address)
    {
        lock (_gate)
        {
            _all--;
            if (--_byAddress[address] == 0) _byAddress.Remove(address);
        }
    }
}
