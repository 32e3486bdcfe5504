using System.Collections.Immutable;
using System.Diagnostics.CodeAnalysis;
using Corfu.Protocol;
using Microsoft.Extensions.Logging;
using Tango.Calls;
using Tango.Checkpoints;
using Tango.Records;

namespace Tango.Playback;

/// <summary>
/// R20: what is known of commit records whose read set is not always hosted as a whole. A commit record is
/// <em>pending</em> from its decision here until its decision record is played, and <em>learnt</em> while only a
/// decision record further on in the log is known.
/// </summary>
/// <param name="sync">Completes when playback has reached the tail. Null: orphans are left to other hosts.</param>
internal sealed class Decisions(
    CallBatcher calls, Func<CancellationToken, Task>? sync, TimeSpan orphanTimeout, TimeProvider time,
    LoopContext loops, ILogger logger, CancellationToken lifetime)
{
    // Used within a cycle only. At: where it was learnt, at or below its decision record.
    private readonly Dictionary<RecordVersion, (TxOutcome.Aborted? Aborted, LogPosition At)> _learnt = [];

    // Used within a cycle only: commit records that read a hosted object, from their positions to the decision record,
    // with the streams of all participants. A decision that is only learnt is not played. Every key of _pending is one.
    private readonly SortedDictionary<RecordVersion, ImmutableArray<StreamId>> _awaited = [];

    private readonly Lock _gate = new();

    // Guarded by _gate.
    private readonly SortedDictionary<RecordVersion, PendingDecision> _pending = [];
    private bool _isWatching;

    // Guarded by _gate. Decisions from here that are on their way or in the log, until they are played: the watch
    // must not repeat them while playback fails.
    private readonly HashSet<RecordVersion> _sent = [];

    private TangoDivergenceException? _divergence;

    /// <summary>A decision here differs from one in the log: nothing is played any more.</summary>
    public void ThrowIfDiverged()
    {
        if (_divergence is not null) throw _divergence;
    }

    public bool IsLearnt(RecordVersion commit) => _learnt.ContainsKey(commit);

    /// <param name="aborted">Null: it committed.</param>
    public bool TryGet(RecordVersion commit, out TxOutcome.Aborted? aborted)
    {
        if (_learnt.TryGetValue(commit, out var learnt))
        {
            aborted = learnt.Aborted;
            return true;
        }

        aborted = null;
        lock (_gate)
        {
            if (!_pending.TryGetValue(commit, out var own)) return false;
            aborted = own.Aborted;
            return true;
        }
    }

    /// <summary>Playback has met a commit record that reads a hosted object, or is decided here: its decision record
    /// will follow.</summary>
    public void Expect(RecordVersion commit, ImmutableArray<StreamId> streams) => _awaited[commit] = streams;

    /// <summary>Commit records that concern any of the streams and whose decision records were not played, lowest
    /// first.</summary>
    public ImmutableArray<AwaitedDecision> AwaitedBy(IReadOnlySet<StreamId> streams)
    {
        var awaited = ImmutableArray.CreateBuilder<AwaitedDecision>();
        foreach (var (commit, participants) in _awaited)
        {
            if (!participants.Any(streams.Contains)) continue;
            var isDecided = TryGet(commit, out var aborted);
            awaited.Add(new AwaitedDecision(commit, participants, isDecided, aborted));
        }

        return awaited.DrainToImmutable();
    }

    /// <summary>The decision stands in the log ahead of playback.</summary>
    /// <param name="at">Where playback meets its record, or before.</param>
    public void Learn(RecordVersion commit, TxOutcome.Aborted? aborted, LogPosition at) =>
        _learnt[commit] = (aborted, at);

    /// <summary>Whether a decision record will follow that concerns the cohort (R20): until it is played, what was
    /// decided here may be the only answer for others.</summary>
    public bool Concerns(Cohort cohort) =>
        _awaited.Count > 0 && cohort.Objects.Any(
            member => _awaited.Values.Any(participants => participants.Contains(member.Id.Stream)));

    /// <summary>Some streams are not played any more, and their decision records below are not met.</summary>
    public void ForgetLearntBelow(LogPosition position)
    {
        foreach (var (commit, learnt) in _learnt)
        {
            if (learnt.At < position && !_awaited.ContainsKey(commit)) _learnt.Remove(commit);
        }
    }

    /// <summary>Playback has decided the record exactly at its position.</summary>
    public void DecidedHere(RecordVersion commit, TxOutcome.Aborted? aborted, ImmutableArray<StreamId> streams,
        bool isOwn)
    {
        if (_learnt.TryGetValue(commit, out var learnt))
        {
            RequireSame(commit, aborted, learnt.Aborted, commit);
            return;
        }

        var pending = new PendingDecision(aborted, streams, time.GetTimestamp());
        Await(commit, pending);
        // Tango 4.1, C: the generating client publishes at once; another host only if the record is orphaned.
        if (isOwn) Publish(commit, pending);
    }

    /// <summary>A cohort of another playback, or of a checkpoint, goes on here: what was decided about its commit
    /// records without their decision records having been played.</summary>
    public void TakeOver(ImmutableArray<AwaitedDecision> awaited)
    {
        foreach (var one in awaited)
        {
            _awaited[one.Commit] = one.Streams;
            if (!one.IsDecided) continue;
            if (TryGet(one.Commit, out var known)) RequireSame(one.Commit, one.Aborted, known, one.Commit);
            else Await(one.Commit, new PendingDecision(one.Aborted, one.Streams, time.GetTimestamp()));
        }
    }

    /// <summary>For another playback, which goes on from here; this one has ended.</summary>
    public ImmutableArray<AwaitedDecision> HandOver()
    {
        lock (_gate)
        {
            ImmutableArray<AwaitedDecision> awaited =
            [
                .. _awaited.Select(one => new AwaitedDecision(
                    one.Key, one.Value, _pending.TryGetValue(one.Key, out var pending), pending?.Aborted)),
            ];
            _pending.Clear();
            return awaited;
        }
    }

    /// <summary>Playback has reached a decision record: what was decided here must agree with it.</summary>
    public void OnDecisionRecord(Decision decision, RecordVersion version)
    {
        PendingDecision? own;
        lock (_gate)
        {
            _pending.Remove(decision.Commit, out own);
            _sent.Remove(decision.Commit);
        }

        if (own is not null) RequireSame(decision.Commit, own.Aborted, decision.Aborted, version);
        _learnt.Remove(decision.Commit);
        _awaited.Remove(decision.Commit);
    }

    public void Publish(RecordVersion commit, PendingDecision pending)
    {
        lock (_gate)
        {
            if (!_sent.Add(commit)) return;
        }

        Send(commit, pending);
    }

    /// <summary>Playback has ended without another that goes on from here.</summary>
    public void PublishPending()
    {
        if (sync is null) return;
        KeyValuePair<RecordVersion, PendingDecision>[] decided;
        lock (_gate)
        {
            decided = [.. _pending];
            _pending.Clear();
        }

        foreach (var (commit, pending) in decided) Publish(commit, pending);
    }

    private void Send(RecordVersion commit, PendingDecision pending)
    {
        try
        {
            calls.Send(new DecisionCall(
                DecisionFormat.Encode(commit, pending.Aborted), pending.Streams, () => NotSent(commit)));
        }
        catch (Exception e) when (e is TangoException or ObjectDisposedException)
        {
            NotSent(commit);
            logger.LogWarning(e, "The decision about {Commit} could not be sent; it is left to other hosts", commit);
        }
    }

    private void Await(RecordVersion commit, PendingDecision pending)
    {
        bool startWatching;
        lock (_gate)
        {
            _pending[commit] = pending;
            startWatching = !_isWatching && sync is not null;
            _isWatching |= startWatching;
        }

        if (startWatching) loops.Start(WatchOrphansAsync);
    }

    private void NotSent(RecordVersion commit)
    {
        lock (_gate) _sent.Remove(commit);
    }

    private void RequireSame(RecordVersion commit, TxOutcome.Aborted? here, TxOutcome.Aborted? there,
        RecordVersion decision)
    {
        if (here is null == there is null) return;
        _divergence = new TangoDivergenceException(commit, here is null, decision);
        logger.LogCritical(_divergence, "Decisions differ");
        throw _divergence;
    }

    /// <summary>
    /// Tango 4.1, Failure handling: any host of the read set may publish the outcome of an orphaned commit record. The
    /// watch ends when nothing is pending, with the runtime, or when decisions differ.
    /// </summary>
    private async Task WatchOrphansAsync()
    {
        try
        {
            do await Task.Delay(orphanTimeout, time, lifetime);
            while (await TryPublishOrphansAsync());
        }
        catch (Exception e)
        {
            lock (_gate) _isWatching = false;
            if (!lifetime.IsCancellationRequested)
                logger.LogWarning(e, "Orphaned commit records are not watched until the next one");
        }
    }

    /// <returns>False: nothing is pending, and the watch has ended.</returns>
    private async ValueTask<bool> TryPublishOrphansAsync()
    {
        try
        {
            await SyncForAWhileAsync();
        }
        catch (Exception e) when (e is not TangoDivergenceException && !lifetime.IsCancellationRequested)
        {
            // What is decided here stays decided, and other hosts may be blocked until they hear of it.
            logger.LogWarning(e, "Playback failed; decided commit records are published without it");
        }

        if (!TryTakeOrphans(out var orphans)) return false;
        foreach (var (commit, pending) in orphans) Send(commit, pending);
        return true;
    }

    /// <returns>False: nothing is pending, and the watch has ended.</returns>
    private bool TryTakeOrphans([NotNullWhen(true)] out List<KeyValuePair<RecordVersion, PendingDecision>>? orphans)
    {
        lock (_gate)
        {
            _isWatching = _pending.Count > 0;
            orphans = null;
            if (!_isWatching) return false;
            orphans = [];
            foreach (var pending in _pending)
            {
                if (time.GetElapsedTime(pending.Value.DecidedAt) >= orphanTimeout && _sent.Add(pending.Key))
                    orphans.Add(pending);
            }

            return true;
        }
    }

    /// <summary>
    /// Plays what has been published meanwhile, but only for a while. Playback may be blocked at a decision of another
    /// host that itself waits for a decision from here. A decision that stands in the log twice does no harm.
    /// </summary>
    private async Task SyncForAWhileAsync()
    {
        using var late = new CancellationTokenSource(orphanTimeout, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(lifetime, late.Token);
        try
        {
            await sync!(either.Token);
        }
        catch (OperationCanceledException)
            when (late.IsCancellationRequested && !lifetime.IsCancellationRequested)
        {
        }
    }
}

/// <summary>A commit record decided here whose decision record has not been played yet (R20).</summary>
/// <param name="Aborted">Null: it committed.</param>
/// <param name="DecidedAt">Timestamp of the TimeProvider.</param>
internal sealed record PendingDecision(TxOutcome.Aborted? Aborted, ImmutableArray<StreamId> Streams, long DecidedAt);
