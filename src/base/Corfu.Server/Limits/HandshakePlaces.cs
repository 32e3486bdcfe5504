using System.Net;
using Microsoft.AspNetCore.Connections;

namespace Corfu.Server;

/// <summary>Places of TLS handshakes under way. One is taken before any cryptography, which costs far more than a
/// connection does. Addresses of the cluster's processes have further places when the common ones are
/// taken.</summary>
public sealed class HandshakePlaces
{
    private sealed class Place(HandshakePlaces places, IPAddress address, bool isReserved) : IDisposable
    {
        private int _left;

        public void Dispose()
        {
            if (Interlocked.Exchange(ref _left, 1) == 0) places.Leave(address, isReserved);
        }
    }

    private readonly RoleRegistry _registry;
    private readonly Lock _gate = new();

    // Guarded by _gate. _common is the sum of _byAddress.
    private readonly Dictionary<IPAddress, int> _byAddress = [];
    private int _common;
    private int _reserved;

    internal HandshakePlaces(RoleRegistry registry) => _registry = registry;

    /// <summary>Disposed when the handshake has ended. Null: none is free, so the connection is closed.</summary>
    public IDisposable? TryEnter(ConnectionContext context)
    {
        var address = KnownAddresses.AddressOf(context) ?? IPAddress.None;
        if (TryEnter(address, _registry.KnownAddresses.Has(context)) is { } place) return place;
        ServerTelemetry.Refused.Add(1, ServerTelemetry.Reason(Refusals.Handshakes));
        _registry.LogRefused(context, Refusals.Handshakes);
        return null;
    }

    internal IDisposable? TryEnter(IPAddress address, bool isKnown)
    {
        var options = _registry.Options;
        lock (_gate)
        {
            var here = _byAddress.GetValueOrDefault(address);
            if (_common < options.MaxHandshakes && here < options.MaxAddressHandshakes)
            {
                _byAddress[address] = here + 1;
                _common++;
                return new Place(this, address, isReserved: false);
            }

            if (!isKnown || _reserved >= options.ReservedHandshakes) return null;
            _reserved++;
            return new Place(this, address, isReserved: true);
        }
    }

    private void Leave(IPAddress address, bool isReserved)
    {
        lock (_gate)
        {
            if (isReserved)
            {
                _reserved--;
                return;
            }

            _common--;
            if (--_byAddress[address] == 0) _byAddress.Remove(address);
        }
    }
}
