using Corfu;
using Microsoft.Extensions.Logging;
using Tango.Formatting;
using Tango.Model;
using Tango.Records;

namespace Tango.Playback;

/// <summary>
/// Finds the decision of the commit record at which playback is blocked: its read set is not hosted here, or not
/// readable (R20). It reads the hosted streams of the record's entry ahead of playback, in which its decision record
/// will stand too, and keeps decisions and undecided commit records only.
/// </summary>
/// <param name="waits">Since when the log has had records; of the playback that a probe is made for, in a
/// probe.</param>
/// <param name="probe">Not null: the playback that waits is its own.</param>
internal sealed class DecisionLookahead(
    HostedObjects hosted, Commits commits, PlaybackContext context, OrphanWaits waits, DecisionProbe? probe,
    CancellationToken lifetime)
{
    // Largest number of commit records that one replay decides.
    private const int MaxTogether = 4096;

    private readonly HashSet<StreamId> _streams = [];

    // Commit records ahead of playback, in _streams, that had no decision when they were met.
    private readonly SortedDictionary<RecordVersion, Participants> _undecided = [];

    // Reads _streams.
    private IStreamCursor? _cursor;

    /// <summary>
    /// Returns when <see cref="Commits"/> knows the outcome. A record that has stood in the log for twice the orphan
    /// time-out has no host of its read set that publishes it, and a probe plays the read set. Where that is
    /// impossible, the wait goes on until a host that can decides.
    /// </summary>
    /// <exception cref="UndecidableException">Only within a probe: while it waited, the decision that it is made for
    /// would not be looked for.</exception>
    public async ValueTask LearnAsync(LogEntry entry, RecordVersion commit)
    {
        var (options, time) = (context.Options, context.Time);
        var started = 0L;
        var mayProbe = true;
        for (var attempt = 0; ; attempt++)
        {
            if (await FindAheadAsync(entry, commit)) return;
            // The probe has decided the record for which it was made: the rest is left to the next one.
            if (probe is { IsFound: true }) throw new UndecidableException(commit, null);
            if (attempt == 0) started = waits.Since(commit.Position);
            if (mayProbe && time.GetElapsedTime(started) >= 2 * options.OrphanTimeout)
            {
                try
                {
                    await ProbeAsync(entry, commit);
                    return;
                }
                catch (Exception e) when (e is TangoTrimmedException or UndecidableException)
                {
                    // R22, R23: the state of the read set at the record cannot be played here. One of its hosts will
                    // publish the outcome.
                    if (probe is not null) throw new UndecidableException(commit, e);
                    context.Logger.LogWarning(e, "{Commit} can be decided by hosts of its read set only", commit);
                    mayProbe = e is not UndecidableException { IsFinal: true };
                    started = time.GetTimestamp();
                }
            }

            var pause = BackOff.After(
                attempt + 1, options.RetryDelay, options.MaxRetryDelay, context.Entropy, jitter: 1);
            await Task.Delay(pause, time, lifetime);
        }
    }

    /// <summary>A client that dies leaves many: all that have waited as long, and read no more than this one, are
    /// decided by one replay.</summary>
    private async ValueTask ProbeAsync(LogEntry entry, RecordVersion commit)
    {
        var others = _undecided.Where(other => other.Key.CompareTo(commit) > 0 && waits.Covers(other.Key.Position)
            && !commits.TryGet(other.Key, out _) && !IsDecidedHere(other.Key, other.Value)).Take(MaxTogether);
        context.Logger.LogWarning("No host has decided {Commit}: playing its read set", commit);
        foreach (var decided in await DecisionProbe.RunAsync(
            entry, commit, [.. others], context, waits, lifetime))
        {
            context.Calls.SendDecision(decided, static () => { });
            commits.Learn(decided.Commit, decided.Aborted, decided.Commit.Position);
        }
    }

    /// <summary>Playback decides it when it gets there.</summary>
    private bool IsDecidedHere(RecordVersion commit, Participants participants) => participants.ReadSet.TrueForAll(
        id => hosted.TryGet(id, commit.Position, out var read) && !read.Cohort.IsUnreadable);

    private async ValueTask<bool> FindAheadAsync(LogEntry entry, RecordVersion commit)
    {
        // R22: entries that were played may be trimmed, so a cursor that playback has overtaken begins anew.
        if (_cursor is null || _cursor.Position < hosted.Applied
            || !hosted.StreamsOf(entry).All(needed => _streams.Contains(needed.Stream)))
        {
            _cursor = context.OpenCursor();
            _streams.Clear();
            _undecided.Clear();
            foreach (var (stream, from) in hosted.StreamsOf(entry))
            {
                _streams.Add(stream);
                _cursor.Add(stream, from);
            }
        }

        while (_undecided.Count > 0 && _undecided.First().Key is var passed && passed.Position < hosted.Applied)
            _undecided.Remove(passed);
        waits.Saw(await _cursor.SyncAsync(ReadConsistency.Session, lifetime));
        while (!commits.TryGet(commit, out _))
        {
            if (await _cursor.ReadNextAsync(lifetime) is not { } ahead) return false;
            Read(ahead);
        }

        return true;
    }

    private void Read(LogEntry entry)
    {
        if (entry.Position < hosted.Applied) return;
        try
        {
            var reader = new MessagePackReader(entry.Payload);
            var records = EntryFormat.ReadHeader(ref reader).Records;
            for (var index = 0; index < records; index++)
            {
                var peek = reader;
                reader.SkipValue();
                var elements = peek.ReadCount();
                var kind = elements > 0 ? (RecordKind)peek.ReadInt32() : 0;
                if (kind == RecordKind.Commit && elements == RecordFormat.CommitLength)
                {
                    var needsDecision = ((CommitFlags)peek.ReadInt32()).HasFlag(CommitFlags.NeedsDecision);
                    peek.SkipValue();
                    if (needsDecision)
                        _undecided[new RecordVersion(entry.Position, index)] = CommitFormat.ReadParticipants(peek);
                }
                else if (kind == RecordKind.Decision && elements == RecordFormat.DecisionLength)
                {
                    var decision = DecisionFormat.Read(ref peek);
                    commits.Learn(decision.Commit, decision.Aborted, entry.Position);
                    _undecided.Remove(decision.Commit);
                }
            }
        }
        catch (Exception e) when (e is TangoLevelException || StrictMessagePack.IsDamage(e))
        {
            // Playback stops the objects concerned when it reaches the entry.
        }
    }
}
