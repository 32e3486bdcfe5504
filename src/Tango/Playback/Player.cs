using Corfu.Client;
using Corfu.Protocol;
using Microsoft.Extensions.Logging;
using Tango.Calls;

namespace Tango.Playback;

/// <summary>
/// Plays the streams of all hosted objects, merged in log order, one record at a time (Tango 3.1, 4). Cycles of check,
/// play, publish run one after the other while a caller waits; all callers that wait when a cycle starts share its
/// check.
/// </summary>
internal sealed class Player
{
    private readonly PlayerContext _context;
    private readonly TangoOptions _options;
    private readonly TimeProvider _time;
    private readonly IEntropy _entropy;
    private readonly CancellationToken _lifetime;
    private readonly DecisionProbe? _probe;

    private readonly HostedObjects _hosted = new();
    private readonly Decisions _decisions;
    private readonly RecordApplier _applier;
    private readonly DecisionLookahead _lookahead;

    // Everything below runs inside a cycle, until _gate.
    private IStreamCursor _cursor;

    // An entry whose records are not all applied: it waits for a decision, or a cycle failed within it. Invariant
    // (R17): while it is not null nothing is published, because views are shown at whole entries only.
    private LogEntry? _entry;
    private EntryProgress _progress;
    private readonly List<PendingCall> _answerable = [];

#if PLANTED
    private LogPosition _plantedTail;
#endif

    private readonly Lock _gate = new();

    // Guarded by _gate: the cycle that callers may still join, because it has not started.
    private Cycle? _next;
    private bool _isRunning;
    private long _caughtUpTo;

    /// <param name="probe">Not null: plays versions up to the probe's commit record, answers no caller.</param>
    public Player(
        PlayerContext context, TangoOptions options, TimeProvider time, IEntropy entropy, CancellationToken lifetime,
        DecisionProbe? probe = null)
    {
        (_context, _options, _time, _entropy, _lifetime, _probe) = (context, options, time, entropy, lifetime, probe);
        _cursor = context.OpenCursor();
        _decisions = new Decisions(context.Calls, SyncAsync, options.OrphanTimeout, time, context.Logger, lifetime);
        _applier = new RecordApplier(_hosted, _decisions, probe is null ? context.Calls : null, probe, context.Logger);
        _lookahead = new DecisionLookahead(
            _hosted, _decisions, context, options, time, entropy, probe is not null, lifetime);
    }

    /// <summary>The newest complete views; never older than any cycle that a caller has awaited.</summary>
    public PublishedViews Published => _hosted.Published;

    /// <summary>Completes when everything acknowledged before the call is applied and published.</summary>
    public Task SyncAsync(CancellationToken cancellationToken) =>
        Join(ReadConsistency.Linearizable, null).WaitOrCancelAsync(cancellationToken);

    /// <summary>Starts hosting the unit, unless an earlier call did; completes when its objects can be read.</summary>
    public Task AttachAsync(HostedUnit unit, CancellationToken cancellationToken) =>
        Join(ReadConsistency.Linearizable, unit).WaitOrCancelAsync(cancellationToken);

    /// <summary>Starts hosting the unit. Within a cycle, or before the first one.</summary>
    public void Attach(HostedUnit unit)
    {
        if (!_hosted.TryAdd(unit)) return;
        foreach (var added in unit.Objects) _cursor.Add(added.Id.Stream, LogPosition.Zero);
        _lookahead.Add(unit);
    }

    /// <summary>Completes when the entry that ends at <paramref name="end"/>, of a stream that is hosted here, is
    /// applied and published.</summary>
    public async ValueTask PlayToAsync(LogPosition end, CancellationToken cancellationToken)
    {
        for (var attempt = 0; Published.End < end; attempt++)
        {
            // A sequencer that was replaced meanwhile may answer the cheap check with an old tail; then ask properly.
            var consistency = attempt == 0 ? ReadConsistency.Session : ReadConsistency.Linearizable;
            try
            {
                await Join(consistency, null).WaitOrCancelAsync(cancellationToken);
                if (attempt < _options.MaxPlaybackAttempts || Published.End >= end) continue;
            }
            catch (Exception e) when (attempt < _options.MaxPlaybackAttempts
                && e is not (OperationCanceledException or ObjectDisposedException or TangoTrimmedException
                    or TangoDivergenceException))
            {
                await Task.Delay(Backoff.Delay(attempt, _options, _entropy), _time, cancellationToken);
                continue;
            }

            throw new TangoException($"Playback does not reach {end}: it ends at {Published.End}");
        }
    }

    /// <summary>
    /// Completes when hosted objects show what this runtime knows to be in the log below <paramref name="end"/>. One
    /// cheap check is enough, and the position need not be reached: it may be in a stream that is not hosted.
    /// </summary>
    public async ValueTask CatchUpAsync(LogPosition end, CancellationToken cancellationToken)
    {
        if (Published.End >= end || Volatile.Read(ref _caughtUpTo) >= end.Offset) return;
        await Join(ReadConsistency.Session, null).WaitOrCancelAsync(cancellationToken);
        lock (_gate) Volatile.Write(ref _caughtUpTo, Math.Max(_caughtUpTo, end.Offset));
    }

    private Task Join(ReadConsistency consistency, HostedUnit? unit)
    {
        Cycle cycle;
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_lifetime.IsCancellationRequested, typeof(TangoRuntime));
            cycle = _next ??= new Cycle();
            if (consistency == ReadConsistency.Linearizable) cycle.Consistency = consistency;
            if (unit is not null) cycle.NewUnits.Add(unit);
            if (_isRunning) return cycle.Done.Task;
            _isRunning = true;
        }

        _ = RunCyclesAsync();
        return cycle.Done.Task;
    }

    private async Task RunCyclesAsync()
    {
        while (true)
        {
            Cycle cycle;
            lock (_gate)
            {
                if (_next is null)
                {
                    _isRunning = false;
                    return;
                }

                cycle = _next;
                _next = null;
            }

            try
            {
                await RunCycleAsync(cycle);
                cycle.Done.TrySetResult();
            }
            catch (Exception e)
            {
                // Whole entries that were applied can be shown; the next cycle goes on from there.
                if (_entry is null) Publish();
                if (e is LogTrimmedException or PageCorruptException) DropCatchingUp();
                Fail(cycle, e);
            }
        }
    }

    private async Task RunCycleAsync(Cycle cycle)
    {
        _decisions.ThrowIfDiverged();
        // R20: before new units are attached. They have played nothing yet and must not take part in an entry from the
        // middle of the log.
        if (_entry is { } unfinished) await ApplyEntryAsync(unfinished);
        foreach (var unit in cycle.NewUnits) Attach(unit);
        TangoTelemetry.Checks.Add(1);
#if PLANTED
        _plantedTail =
#endif
        await _cursor.SyncAsync(cycle.Consistency, _lifetime);
        await PlayAsync();
    }

    private async ValueTask PlayAsync()
    {
        var sincePublished = 0;
        while (await _cursor.ReadNextAsync(_lifetime) is { } entry)
        {
            TangoTelemetry.Entries.Add(1);
            await ApplyEntryAsync(entry);
            if (_probe is { IsFound: true }) return;
            if (++sincePublished < _options.PublishEvery) continue;
            Publish();
            sincePublished = 0;
        }

        // R10: not the tail that the check answered. A grant above the cursor's position may be void, and a later epoch
        // may put an entry of a hosted stream there; a snapshot that claimed to include it would miss a conflict.
        _hosted.AdvanceTo(_cursor.Position);
#if PLANTED
        if (Planted.Is("tail-counts-as-played")) _hosted.AdvanceTo(_plantedTail);
#endif
        _hosted.EndCatchUp();
        Publish();
    }

    private async ValueTask ApplyEntryAsync(LogEntry entry)
    {
        _entry = entry;
        while (_applier.ApplyRecords(entry, ref _progress) is { } undecided)
            await _lookahead.LearnAsync(entry, undecided);
        if (_progress.Calls is { } calls) _answerable.AddRange(calls);
        _entry = null;
        _progress = default;
        _hosted.EntryApplied(entry.Position);
    }

    /// <summary>Shows readers everything applied so far, then answers the callers whose records are in it.</summary>
    private void Publish()
    {
        _hosted.Publish();
        foreach (var call in _answerable) call.OnPublished();
        _answerable.Clear();
    }

    private void DropCatchingUp()
    {
        if (!_hosted.IsCatchingUp || _entry is not null) return;
        _hosted.DropCatchingUp();
        _lookahead.Reset();
        _cursor = _context.OpenCursor();
        _hosted.AddStreamsTo(_cursor, _hosted.Applied);
    }

    private void Fail(Cycle cycle, Exception reason)
    {
        var typed = reason is LogTrimmedException ? new TangoTrimmedException(reason) : reason;
        if (_lifetime.IsCancellationRequested) typed = new ObjectDisposedException(nameof(TangoRuntime));
        else
            _context.Logger.LogWarning(reason, "Playback stopped at {Position}; it goes on with the next caller",
                _hosted.Applied);
        cycle.Done.TrySetException(typed);
        // Observed here: every caller may have been cancelled.
        _ = cycle.Done.Task.Exception;
    }

    private sealed class Cycle
    {
        public TaskCompletionSource Done { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        /// <summary>The strongest that a caller of this cycle asked for.</summary>
        public ReadConsistency Consistency { get; set; } = ReadConsistency.Session;

        public List<HostedUnit> NewUnits { get; } = [];
    }
}

/// <summary>What the player needs of the rest of its runtime.</summary>
/// <param name="GroupOf">The directory's entries of the object's group, or of the object alone; empty if the id is
/// unknown.</param>
internal sealed record PlayerContext(
    CallBatcher Calls, ILogger Logger, Func<IStreamCursor> OpenCursor,
    Func<ObjectId, IReadOnlyList<DirectoryEntry>> GroupOf);
