using Corfu.Client;
using Corfu.Protocol;
using Microsoft.Extensions.Logging;
using Tango.Formatting;
using Tango.Records;

namespace Tango.Playback;

/// <summary>
/// Finds the decision of the commit record at which playback is blocked: its read set is not hosted here, or not
/// readable (R20). It reads the hosted streams of the record's entry ahead of playback, in which its decision record
/// will stand too, and keeps decisions only.
/// </summary>
/// <param name="isProbe">The playback that waits is itself a probe's.</param>
internal sealed class DecisionLookahead(
    HostedObjects hosted, Decisions decisions, PlaybackContext context, bool isProbe, CancellationToken lifetime)
{
    private readonly HashSet<StreamId> _streams = [];

    // Reads _streams.
    private IStreamCursor? _cursor;

    /// <summary>
    /// Returns when <see cref="Decisions"/> knows the outcome. After twice the orphan time-out no host of the read set
    /// has published it, and a probe plays the read set. Where that is impossible, the wait goes on until a host that
    /// can decides.
    /// </summary>
    /// <exception cref="UndecidableException">Only within a probe: while it waited, the decision that it is made for
    /// would not be looked for.</exception>
    public async ValueTask LearnAsync(LogEntry entry, RecordVersion commit)
    {
        var (options, time) = (context.Options, context.Time);
        var started = time.GetTimestamp();
        var mayProbe = true;
        for (var attempt = 0; ; attempt++)
        {
            if (await FindAheadAsync(entry, commit)) return;
            if (mayProbe && time.GetElapsedTime(started) >= 2 * options.OrphanTimeout)
            {
                try
                {
                    context.Logger.LogWarning("No host has decided {Commit}: playing its read set", commit);
                    var probed = await DecisionProbe.RunAsync(entry, commit, context, lifetime);
                    decisions.Publish(commit, probed);
                    decisions.Learn(commit, probed.Aborted, commit.Position);
                    return;
                }
                catch (Exception e) when (e is TangoTrimmedException or UndecidableException)
                {
                    // R22, R23: the state of the read set at the record cannot be played here. One of its hosts will
                    // publish the outcome.
                    if (isProbe) throw new UndecidableException(commit, e);
                    context.Logger.LogWarning(e, "{Commit} can be decided by hosts of its read set only", commit);
                    mayProbe = e is not UndecidableException { IsFinal: true };
                    started = time.GetTimestamp();
                }
            }

            await Task.Delay(Backoff.Delay(attempt, options, context.Entropy), time, lifetime);
        }
    }

    private async ValueTask<bool> FindAheadAsync(LogEntry entry, RecordVersion commit)
    {
        // R22: entries that were played may be trimmed, so a cursor that playback has overtaken begins anew.
        if (_cursor is null || _cursor.Position < hosted.Applied
            || !hosted.StreamsOf(entry).All(needed => _streams.Contains(needed.Stream)))
        {
            _cursor = context.OpenCursor();
            _streams.Clear();
            foreach (var (stream, from) in hosted.StreamsOf(entry))
            {
                _streams.Add(stream);
                _cursor.Add(stream, from);
            }
        }

        await _cursor.SyncAsync(ReadConsistency.Session, lifetime);
        while (!decisions.IsLearnt(commit) && await _cursor.ReadNextAsync(lifetime) is { } ahead)
            LearnDecisionsOf(ahead);
        return decisions.IsLearnt(commit);
    }

    private void LearnDecisionsOf(LogEntry entry)
    {
        if (entry.Position < hosted.Applied) return;
        try
        {
            var reader = new MessagePackReader(entry.Payload);
            for (var left = EntryFormat.ReadHeader(ref reader).Records; left > 0; left--)
            {
                var peek = reader;
                reader.SkipValue();
                if (peek.ReadCount() != RecordFormat.DecisionLength
                    || peek.ReadInt32() != (int)RecordKind.Decision) continue;
                var decision = DecisionFormat.Read(ref peek);
                decisions.Learn(decision.Commit, decision.Aborted, entry.Position);
            }
        }
        catch (Exception e) when (e is TangoLevelException || StrictMessagePack.IsDamage(e))
        {
            // Playback stops the objects concerned when it reaches the entry.
        }
    }
}
