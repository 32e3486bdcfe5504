using Corfu.ZooKeeper.Serving;

namespace Corfu.ZooKeeper.Sessions;

/// <summary>
/// Silence of the sessions of the tree, connected or not, and of other front ends. It counts behind confirmed beats
/// only, and begins anew with the lease: a pause, or a log that was away, is no silence of a client (Z9, Z11). Guarded
/// by the front end's gate.
/// </summary>
/// <param name="send">Sends a record about sessions, or front ends, that were silent.</param>
internal sealed class SessionTracker(FrontEndServices services, Action<TreeRecord> send)
{
    private const int MostInRecord = 64;

    private Dictionary<long, Silence> _sessions = [];
    private Dictionary<long, Silence> _frontEnds = [];
    private readonly NodeReaper _reaper = new(services);
    private long _last;

    /// <summary>All clocks begin anew.</summary>
    public void Reset()
    {
        _sessions.Clear();
        _frontEnds.Clear();
    }

    /// <summary>Called behind a confirmed beat: what others appended before it is in the root.</summary>
    public void Tick()
    {
        if (services.Dispatcher.Root is not { } root) return;
        var now = services.Time.GetTimestamp();
        var elapsed = services.Time.GetElapsedTime(_last == 0 ? now : _last, now);
        // A tick counts no more than two intervals.
        if (elapsed > 2 * services.Times.Beat && !Planted.Is("pause-is-silence"))
            elapsed = 2 * services.Times.Beat;
        _last = now;
        TakeDownSilent(root, elapsed);
        ExpireSilent(root, elapsed);
        _reaper.Tick();
    }

    private void TakeDownSilent(TreeRoot root, TimeSpan elapsed)
    {
        var silences = new Dictionary<long, Silence>();
        foreach (var row in root.AllFrontEnds)
        {
            if (row.IsDown || row.Id == services.Identity.Id) continue;
            var silence = Next(_frontEnds, row.Id, 0, row.Beat, elapsed);
            silences.Add(row.Id, silence);
            if (silence.Length > 2 * services.Times.Lease)
                send(new FrontEndDownRecord(row.Id, row.Beat));
        }

        _frontEnds = silences;
    }

    private void ExpireSilent(TreeRoot root, TimeSpan elapsed)
    {
        var silences = new Dictionary<long, Silence>(root.SessionCount);
        var silent = new List<ZooKeeperSession>();
        foreach (var session in root.AllSessions())
        {
            var isOwn = session.FrontEnd == services.Identity.Id;
            // Another front end that beats has its sessions; this one's own are heard here.
            var beat = isOwn ? 0 : root.FindFrontEnd(session.FrontEnd)?.Beat ?? 0;
            var silence = Next(_sessions, session.Id, session.Attachment, beat, elapsed);
            if (isOwn && services.Dispatcher.Connections.TakeHeard(session.Id))
                silence = silence with { Length = TimeSpan.Zero };
            silences.Add(session.Id, silence);
            // Sockets are read between two ticks: what came during a pause of this process is heard before the second.
            var margin = isOwn && !Planted.Is("pause-is-silence") ? elapsed : services.Times.Lease;
            if (silence.Length > TimeSpan.FromMilliseconds(session.Timeout) + margin) silent.Add(session);
        }

        _sessions = silences;
        services.Dispatcher.Connections.ForgetHeard();
        FrontEndTelemetry.Expired.Add(silent.Count);
        if (silent.Count > 0) FrontEndLog.Expiring(services.Logger, silent.Count);
        foreach (var group in silent.GroupBy(static session => session.FrontEnd))
        {
            // Z8: Apply ends those only whose beat and attachment are the ones seen here.
            var beat = root.FindFrontEnd(group.Key)?.Beat ?? 0;
            foreach (var chunk in group.Chunk(MostInRecord))
            {
                send(new ExpireRecord(group.Key, beat,
                    [.. chunk.Select(static session => new ExpiredSession(session.Id, session.Attachment))]));
            }
        }
    }

    private static Silence Next(
        Dictionary<long, Silence> before, long id, int attachment, long beat, TimeSpan elapsed) =>
        before.TryGetValue(id, out var silence) && silence.Attachment == attachment && silence.Beat == beat
            ? silence with { Length = silence.Length + elapsed }
            : new Silence(attachment, beat, TimeSpan.Zero);

    /// <param name="Beat">The newest of the session's front end; 0: this one.</param>
    private readonly record struct Silence(int Attachment, long Beat, TimeSpan Length);
}
