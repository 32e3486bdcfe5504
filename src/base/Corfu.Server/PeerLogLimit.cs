using System.Net;
using Microsoft.AspNetCore.Connections;

namespace Corfu.Server;

/// <summary>Bounds the log lines that connections of one address cause: a log file keeps a few megabytes, and a caller
/// must not be able to erase what it says.</summary>
internal sealed class PeerLogLimit(TimeProvider time)
{
    internal const int LinesPerMinute = 10;

    /// <summary>Further addresses share one limit.</summary>
    internal const int MaxPeers = 64;

    private static readonly TimeSpan Minute = TimeSpan.FromMinutes(1);

    private readonly Lock _gate = new();

    // Guarded by _gate. An entry is the minute that began with an address's line, with the lines asked for since.
    private readonly Dictionary<IPAddress, (long Began, int Lines)> _peers = [];

    /// <param name="leftOut">Lines that were not written in the address's minute before.</param>
    public bool Admits(ConnectionContext context, out int leftOut) =>
        Admits((context.RemoteEndPoint as IPEndPoint)?.Address ?? IPAddress.None, out leftOut);

    internal bool Admits(IPAddress peer, out int leftOut)
    {
        var now = time.GetTimestamp();
        leftOut = 0;
        lock (_gate)
        {
            if (!_peers.TryGetValue(peer, out var known) && _peers.Count >= MaxPeers)
            {
                foreach (var (other, entry) in _peers)
                {
                    if (IsOver(entry.Began, now)) _peers.Remove(other);
                }

                if (_peers.Count >= MaxPeers)
                {
                    peer = IPAddress.None;
                    known = _peers.GetValueOrDefault(peer);
                }
            }

            if (known.Lines == 0 || IsOver(known.Began, now))
            {
                leftOut = Math.Max(0, known.Lines - LinesPerMinute);
                known = (now, 0);
            }

            known.Lines = Math.Min(known.Lines, int.MaxValue - 1) + 1;
            _peers[peer] = known;
            return known.Lines <= LinesPerMinute;
        }
    }

    private bool IsOver(long began, long now) => time.GetElapsedTime(began, now) >= Minute;
}
