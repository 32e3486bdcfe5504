namespace Corfu.Server;

/// <summary>Requests of one peer that its role does not allow.</summary>
/// <param name="Count">How many there were since the peer's last report about the opcode.</param>
public sealed record Denial(Principal Peer, Opcode Opcode, long Count);

/// <summary>Bounds the reports about denied requests: the first one for a peer and an opcode is told at once, the
/// others with the next report, which comes ten seconds later at the soonest.</summary>
internal sealed class DenialLimit(TimeProvider time)
{
    /// <summary>Further peers and opcodes share one entry for each role.</summary>
    internal const int MaxEntries = 1024;

    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(10);

    private readonly Lock _gate = new();

    // Guarded by _gate. Count: denials since Told.
    private readonly Dictionary<(string Peer, Opcode Opcode), (long Told, long Count)> _entries = [];

    /// <summary>Counts a denial. Null: it goes with the next report.</summary>
    public Denial? Admit(Principal peer, Opcode opcode)
    {
        var now = time.GetTimestamp();
        lock (_gate)
        {
            var key = (peer.ToString(), opcode);
            var isKnown = _entries.TryGetValue(key, out var entry);
            if (!isKnown)
            {
                if (_entries.Count >= MaxEntries) Forget(now);
                if (_entries.Count >= MaxEntries)
                {
                    peer = new Principal(peer.Role, "others");
                    key = (peer.ToString(), Opcode.None);
                    isKnown = _entries.TryGetValue(key, out entry);
                }
            }

            var isDue = !isKnown || time.GetElapsedTime(entry.Told, now) >= Interval;
            _entries[key] = isDue ? (now, 0) : (entry.Told, entry.Count + 1);
            return isDue ? new Denial(peer, opcode, entry.Count + 1) : null;
        }
    }

    private void Forget(long now)
    {
        foreach (var (key, entry) in _entries)
        {
            if (time.GetElapsedTime(entry.Told, now) >= Interval) _entries.Remove(key);
        }
    }
}
