using Corfu;

namespace Tango.Playback;

/// <summary>
/// Since when, at least, the log has had its records: one clock for all at which playback is blocked one after the
/// other. A record below the tail that was seen when a wait began has waited as long as the one that was waited for.
/// </summary>
internal sealed class OrphanWaits(TimeProvider time)
{
    // Invariant: all below _below was granted at _since.
    private LogPosition _below;
    private long _since;

    // The newest tail that was seen.
    private LogPosition _tail;

    public void Saw(LogPosition tail) => _tail = LogPosition.Max(_tail, tail);

    /// <summary>Since when a record that was read is in the log. The clock starts anew for one that was not there
    /// when it started last.</summary>
    public long Since(LogPosition record)
    {
        if (!Covers(record)) (_below, _since) = (LogPosition.Max(_tail, record.Next), time.GetTimestamp());
        return _since;
    }

    /// <summary>The record has waited as long as the one that was asked about last.</summary>
    public bool Covers(LogPosition record) => record < _below;
}
