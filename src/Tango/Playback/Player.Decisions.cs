using System.Collections.Immutable;
using Corfu.Client;
using Corfu.Protocol;
using Microsoft.Extensions.Logging;
using Tango.Calls;
using Tango.Formatting;
using Tango.Records;

namespace Tango.Playback;

// R20: decision records, for transactions over objects that are not always hosted together.
internal sealed partial class Player
{
    // Decisions learnt ahead of playback, until playback has passed them. Within a cycle only.
    private readonly Dictionary<RecordVersion, TxOutcome.Aborted?> _learnt = [];

    // Guarded by _decisionGate: decided here, exactly at the record's position, but not yet seen as a decision record.
    private readonly Lock _decisionGate = new();
    private readonly SortedDictionary<RecordVersion, PendingDecision> _pending = [];
    private bool _isWatching;

    // Reads ahead of playback, decisions only. Made when playback is first blocked.
    private IStreamCursor? _scout;
    private TangoDivergenceException? _divergence;

    /// <summary>Where playback of the unit that is furthest behind stands.</summary>
    private LogPosition SlowestPlayedTo => _catchingUp.Aggregate(_applied, static (least, unit) => LogPosition.Min(least, unit.PlayedTo));

    private bool TryGetDecision(RecordVersion commit, out TxOutcome.Aborted? aborted)
    {
        if (_learnt.TryGetValue(commit, out aborted)) return true;
        lock (_decisionGate)
        {
            if (!_pending.TryGetValue(commit, out var own)) return false;
            aborted = own.Aborted;
            return true;
        }
    }

    private void DecideHere(RecordVersion commit, TxOutcome.Aborted? aborted, ImmutableArray<StreamId> streams, bool isOwn)
    {
        if (_probe is { } probe)
        {
            if (probe.Commit == commit) probe.Found(aborted);
            return;
        }

        if (_learnt.TryGetValue(commit, out var learnt))
        {
            RequireSame(commit, aborted, learnt, commit);
            return;
        }

        var pending = new PendingDecision(aborted, streams, time.GetTimestamp());
        bool startWatching;
        lock (_decisionGate)
        {
            _pending[commit] = pending;
            startWatching = !_isWatching;
            _isWatching = true;
        }

        // Tango 4.1, C: the generating client publishes at once; the others only if nobody does in time.
        if (isOwn) PublishDecision(commit, pending);
        if (startWatching) _ = WatchOrphansAsync();
    }

    /// <summary>The main playback meets a decision record: what was decided here must agree with it.</summary>
    private void ApplyDecision(Decision decision, RecordVersion version)
    {
        PendingDecision? own;
        lock (_decisionGate) _pending.Remove(decision.Commit, out own);
        if (own is not null) RequireSame(decision.Commit, own.Aborted, decision.Aborted, version);
        _learnt.Remove(decision.Commit);
    }

    private void RequireSame(RecordVersion commit, TxOutcome.Aborted? here, TxOutcome.Aborted? there, RecordVersion decision)
    {
        if (here is null == there is null) return;
        _divergence = new TangoDivergenceException(commit, here is null, decision);
        context.Logger.LogCritical(_divergence, "Decisions differ");
        throw _divergence;
    }

    private void PublishDecision(RecordVersion commit, PendingDecision pending)
    {
        try
        {
            context.Calls.Send(new DecisionCall(DecisionFormat.Encode(commit, pending.Aborted), pending.Streams));
        }
        catch (Exception e) when (e is TangoException or ObjectDisposedException)
        {
            context.Logger.LogWarning(e, "The decision about {Commit} could not be sent; it is left to others", commit);
        }
    }

    /// <summary>Tango 4.1, Failure handling: any host of the read set may publish what an orphaned commit record came to.</summary>
    private async Task WatchOrphansAsync()
    {
        try
        {
            while (true)
            {
                await Task.Delay(options.OrphanTimeout, time, lifetime);
                await SyncForAWhileAsync();
                List<KeyValuePair<RecordVersion, PendingDecision>> orphans;
                lock (_decisionGate)
                {
                    if (_pending.Count == 0)
                    {
                        _isWatching = false;
                        return;
                    }

                    orphans = [.. _pending.Where(p => time.GetElapsedTime(p.Value.DecidedAt) >= options.OrphanTimeout)];
                }

                foreach (var (commit, pending) in orphans) PublishDecision(commit, pending);
            }
        }
        catch (Exception e)
        {
            lock (_decisionGate) _isWatching = false;
            if (!lifetime.IsCancellationRequested) context.Logger.LogWarning(e, "Orphaned commit records are not watched until the next one");
        }
    }

    /// <summary>
    /// Learns what has been published meanwhile, unless playback is blocked: it may be waiting for the decision of another host, which waits for one that is to be
    /// published here. A decision that stands in the log twice does no harm.
    /// </summary>
    private async Task SyncForAWhileAsync()
    {
        var synced = SyncAsync(lifetime);
        await Task.WhenAny(synced, Task.Delay(options.OrphanTimeout, time, lifetime));
        if (synced.IsCompleted) await synced;
        else _ = synced.ContinueWith(static failed => failed.Exception, CancellationToken.None, TaskContinuationOptions.OnlyOnFaulted, TaskScheduler.Current);
    }

    /// <summary>Playback is blocked at a commit record whose read set is not hosted here: finds its decision further on in the log.</summary>
    private async ValueTask LearnDecisionAsync(LogEntry entry, RecordVersion commit)
    {
        var started = time.GetTimestamp();
        for (var attempt = 0; ; attempt++)
        {
            if (await ScoutAsync(commit)) return;
            if (time.GetElapsedTime(started) >= 2 * options.OrphanTimeout)
            {
                try
                {
                    _learnt[commit] = await ProbeAsync(entry, commit);
                    return;
                }
                catch (TangoTrimmedException e)
                {
                    // R22: what the read set was at the record cannot be played here any more. Its hosts know, and one of them will publish it.
                    context.Logger.LogWarning(e, "{Commit} can be decided by hosts of its read set only", commit);
                    started = time.GetTimestamp();
                }
            }

            await Task.Delay(Backoff.Delay(attempt, options, entropy), time, lifetime);
        }
    }

    private async ValueTask<bool> ScoutAsync(RecordVersion commit)
    {
        // R22: what has been played may be trimmed. A scout that playback has overtaken would have to read there, for nothing.
        if (_scout is null || _scout.Position < SlowestPlayedTo)
        {
            _scout = context.OpenCursor();
            foreach (var hosted in _objects.Values.OrderBy(static hosted => hosted.Slot)) _scout.Add(hosted.Id.Stream, SlowestPlayedTo);
        }

        await _scout.SyncAsync(ReadConsistency.Session, lifetime);
        while (!_learnt.ContainsKey(commit) && await _scout.ReadNextAsync(lifetime) is { } ahead) IndexDecisions(ahead);
        return _learnt.ContainsKey(commit);
    }

    private void IndexDecisions(LogEntry entry)
    {
        if (entry.Position < SlowestPlayedTo) return;
        try
        {
            var reader = new MessagePackReader(entry.Payload);
            for (var left = EntryFormat.ReadHeader(ref reader).Records; left > 0; left--)
            {
                var probe = reader;
                reader.Skip();
                if (probe.ReadArrayHeader() != RecordFormat.DecisionLength || probe.ReadInt32() != (int)RecordKind.Decision) continue;
                var decision = DecisionFormat.Read(ref probe);
                _learnt[decision.Commit] = decision.Aborted;
            }
        }
        catch (TangoFormatException)
        {
            // Playback will meet the entry and stop the objects concerned.
        }
    }

    /// <summary>
    /// Tango 4.1, Failure handling, last resort: plays the versions of the read set, without views, exactly up to the commit record, and
    /// publishes the outcome.
    /// </summary>
    private async ValueTask<TxOutcome.Aborted?> ProbeAsync(LogEntry entry, RecordVersion commit)
    {
        context.Logger.LogWarning("Nobody has decided {Commit}: playing its read set", commit);
        var (readSet, streams) = ParticipantsOf(entry, commit.Index);
        var probe = new DecisionProbe(commit);
        var player = new Player(context.OpenCursor(), context, options, time, entropy, lifetime) { _probe = probe };
        var attached = new HashSet<ObjectId>();
        foreach (var id in readSet)
        {
            if (attached.Contains(id)) continue;
            var group = context.GroupOf(id);
            if (group.Count == 0) throw new TangoFormatException($"Commit record {commit} reads object {id}, which the directory does not know");
            attached.UnionWith(group.Select(static member => member.Id));
            player.Attach(new HostedUnit([.. group.Select(static member => new HostedObject(member, null))]));
        }

        await player.SyncAsync(lifetime);
        if (!probe.IsFound) throw new TangoFormatException($"Commit record {commit} was not met in the streams of its read set");
        PublishDecision(commit, new PendingDecision(probe.Aborted, streams, 0));
        return probe.Aborted;
    }

    private static (List<ObjectId> ReadSet, ImmutableArray<StreamId> Streams) ParticipantsOf(LogEntry entry, int index)
    {
        var reader = new MessagePackReader(entry.Payload);
        EntryFormat.ReadHeader(ref reader);
        for (; index > 0; index--) reader.Skip();
        reader.ReadArrayHeader(RecordFormat.CommitLength);
        for (var i = 0; i < 3; i++) reader.Skip();
        return CommitFormat.ReadParticipants(reader);
    }
}
