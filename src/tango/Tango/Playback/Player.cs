using System.Collections.Immutable;
using Corfu;
using Microsoft.Extensions.Logging;
using Tango.Calls;
using Tango.Model;

namespace Tango.Playback;

/// <summary>
/// Keeps all open objects at one position and shows them to readers. Cycles of check, play, publish run one after the
/// other while a caller waits; all callers that wait when a cycle starts share its check. A cohort that is opened
/// catches up beside it and joins at the end of a cycle.
/// </summary>
internal sealed class Player : IPlayedEntries
{
    // A token's answer has no more tails than this: with more streams, a check costs less than they do.
    private const int MaxFollowed = 32;

    private readonly TangoOptions _options;
    private readonly TimeProvider _time;
    private readonly IEntropy _entropy;
    private readonly ILogger _logger;
    private readonly PlaybackContext _context;
    private readonly ViewPublisher _views;
    private readonly HostedCohorts _cohorts;
    private readonly ApplyObservers _observers = new();
    private readonly CancellationToken _lifetime;

    // Used inside a cycle only. Replaced when history was trimmed under it.
    private volatile Playback _playback;

    private readonly Lock _gate = new();

    // Guarded by _gate: the cycle that callers may still join, because it has not started.
    private Cycle? _next;
    private bool _isRunning;
    private Cycle? _running;
    private long _caughtUpTo;

    // Used inside a cycle only. The cycle's number; and whether it has grown, or history was trimmed under it, so that
    // no tail is seen at its end.
    private long _cycle;
    private bool _isUneven;

    public Player(
        PlaybackContext context, ViewPublisher views, HostedCohorts cohorts, CancellationToken lifetime)
    {
        (_options, _time, _entropy, _logger) = (context.Options, context.Time, context.Entropy, context.Logger);
        (_context, _views, _cohorts, _lifetime) = (context, views, cohorts, lifetime);
        _playback = NewPlayback();
        PlaybackGauges.Players.Add(this);
    }

    /// <summary>As <see cref="Playback.Lag"/>; none when the runtime has ended.</summary>
    public long Lag => _lifetime.IsCancellationRequested ? 0 : _playback.Lag;

    /// <summary>A cycle ends: everything below is published. No handler throws.</summary>
    public event Action<LogPosition>? Played;

    /// <summary>Raised within the cycle in which a cohort gets a member. No handler throws.</summary>
    public event Action<Cohort>? Grown;

    /// <summary>Raised within the cycle in which a cohort leaves. No handler throws.</summary>
    public event Action<Cohort>? Left;

    /// <summary>The newest complete views; never older than any cycle that a caller has awaited.</summary>
    public PublishedViews Published => _views.Published;

    /// <summary>Playback has ended for good.</summary>
    /// <exception cref="TangoPlaybackFailedException">An error of the process.</exception>
    public void ThrowIfFailed() => _playback.ThrowIfFailed();

    /// <summary>Completes when everything acknowledged before the call is applied and published.</summary>
    public Task SyncAsync(CancellationToken cancellationToken) =>
        Join(ReadConsistency.Linearizable, null).WaitAsync(cancellationToken);

    /// <summary>Plays what one cheap check finds.</summary>
    public Task CatchUpAsync(CancellationToken cancellationToken = default) =>
        Join(ReadConsistency.Session, null).WaitAsync(cancellationToken);

    /// <summary>Lets a cohort that has caught up join. Completes when that was tried, at the end of a cycle.</summary>
    public Task HostAsync(CohortOpening opening) =>
        Join(ReadConsistency.Linearizable, opening).WaitAsync(CancellationToken.None);

    /// <summary>Captures the cohort for a checkpoint, when everything acknowledged before the call is
    /// applied.</summary>
    /// <exception cref="TangoObjectStoppedException">A member has stopped (R23).</exception>
    public async ValueTask<CohortSnapshot> CaptureAsync(Cohort cohort, CancellationToken cancellationToken)
    {
        var captured = new TaskCompletionSource<CohortSnapshot>(TaskCreationOptions.RunContinuationsAsynchronously);
        await Join(ReadConsistency.Linearizable, null, Capture).WaitAsync(cancellationToken);
        return await captured.Task;

        void Capture()
        {
            try
            {
                captured.TrySetResult(CohortSnapshot.Take(cohort, Published, _playback.Commits));
            }
            catch (Exception e)
            {
                captured.TrySetException(e);
            }
        }
    }

    /// <summary>Begins an observation, when everything acknowledged before the call is applied.</summary>
    /// <exception cref="TangoObjectStoppedException">An object has stopped (R23).</exception>
    public async ValueTask ObserveAsync(ApplyObservation observation, CancellationToken cancellationToken)
    {
        Exception? refused = null;
        await Join(ReadConsistency.Linearizable, null, Begin).WaitAsync(cancellationToken);
        if (refused is not null) throw refused;

        void Begin() => refused = _observers.TryBegin(observation, Published);
    }

    public ImmutableArray<StreamId> Followed =>
        _playback.Streams is { Length: <= MaxFollowed } streams ? streams : [];

    public ValueTask PlayToAsync(LogPosition end, AppendedEntry? placed, CancellationToken cancellationToken) =>
        PlayToAsync(end, cancellationToken, null, placed);

    /// <summary>Completes when the entry that ends at <paramref name="end"/>, of a stream that is hosted here, is
    /// applied and published.</summary>
    /// <param name="isHosted">Null: the object stays until then. False ends the wait.</param>
    /// <param name="placed">The entry, as its append returned it; null: that is not known.</param>
    public async ValueTask PlayToAsync(
        LogPosition end, CancellationToken cancellationToken, Func<bool>? isHosted, AppendedEntry? placed = null)
    {
        for (var attempt = 0; Published.End < end && isHosted?.Invoke() != false; attempt++)
        {
            // A sequencer that was replaced meanwhile may answer the cheap check with an old tail; then ask properly.
            var consistency = attempt == 0 ? ReadConsistency.Session : ReadConsistency.Linearizable;
            try
            {
                await Join(consistency, null, placed: attempt == 0 ? placed : null).WaitAsync(cancellationToken);
                if (attempt < _options.MaxPlaybackAttempts || Published.End >= end) continue;
            }
            catch (Exception e) when (attempt < _options.MaxPlaybackAttempts
                && e is not (OperationCanceledException or ObjectDisposedException or TangoTrimmedException
                    or TangoDivergenceException or TangoPlaybackFailedException))
            {
                var pause = BackOff.After(
                    attempt + 1, _options.RetryDelay, _options.MaxRetryDelay, _entropy, jitter: 1);
                await Task.Delay(pause, _time, cancellationToken);
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
        if (IsCaughtUp()) return;
        Completion? own;
        lock (_gate) own = Reaches(_running, end) ? _running!.Done : Reaches(_next, end) ? _next!.Done : null;
        if (own is not null) await own.WaitAsync(cancellationToken);
        if (IsCaughtUp()) return;
        await Join(ReadConsistency.Session, null).WaitAsync(cancellationToken);
        lock (_gate) Volatile.Write(ref _caughtUpTo, Math.Max(_caughtUpTo, end.Offset));

        bool IsCaughtUp() => Published.End >= end || Volatile.Read(ref _caughtUpTo) >= end.Offset;
    }

    /// <summary>An own entry is played that ends there, without a check.</summary>
    private static bool Reaches(Cycle? cycle, LogPosition end) => cycle?.Placed?.Entry.Position.Next >= end;

    /// <param name="atEnd">Runs within the cycle, when all that it played is published. It must not throw.</param>
    /// <param name="placed">An own entry that this caller waits for, and no more.</param>
    private Completion Join(
        ReadConsistency consistency, CohortOpening? opening, Action? atEnd = null, AppendedEntry? placed = null)
    {
        Cycle cycle;
        lock (_gate)
        {
            RuntimeLifetime.ThrowIfEnded(_lifetime);
            cycle = _next ??= new Cycle();
            if (consistency == ReadConsistency.Linearizable) cycle.Consistency = consistency;
            if (opening is not null) cycle.Openings.Add(opening);
            if (atEnd is not null) cycle.AtEnd.Add(atEnd);
            if (placed is null) cycle.Checks = true;
            else if (!(cycle.Placed?.Entry.Position >= placed.Entry.Position)) cycle.Placed = placed;
            if (_isRunning) return cycle.Done;
            _isRunning = true;
        }

        _context.Loops.Start(RunCyclesAsync);
        return cycle.Done;
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
                    (_isRunning, _running) = (false, null);
                    return;
                }

                (cycle, _running, _next) = (_next, _next, null);
            }

            try
            {
                await RunCycleAsync(cycle);
                cycle.Done.End(null);
            }
            catch (Exception e)
            {
                Fail(cycle, e);
            }
        }
    }

    private async Task RunCycleAsync(Cycle cycle)
    {
        (_cycle, _isUneven) = (_cycle + 1, false);
        try
        {
            await PlayAsync(cycle);
        }
        catch (LogTrimmedException e) when (!_playback.Hosted.IsEmpty)
        {
            Drop(e);
            await PlayAsync(cycle);
        }

        // Before a cohort joins: it is played to where the cycle stands, and not to the tail.
        var seen = _isUneven ? null : new SeenTail(_playback.Tail, _cycle);
        await EndOpeningsAsync(cycle.Openings);
        RemoveUnused();
        Publish(seen: seen);
        cycle.AtEnd.ForEach(static atEnd => atEnd());
        Played?.Invoke(Published.End);
    }

    private async ValueTask PlayAsync(Cycle cycle)
    {
        var tail = cycle is { Checks: false, Placed: { } placed }
            ? await _playback.SyncAsync(placed)
            : await _playback.SyncAsync(cycle.Consistency);
        for (var played = 1; await _playback.PlayNextAsync(); played++)
        {
            if (played % _options.PublishEvery == 0) Publish();
        }

        if (Planted.Is("tail-counts-as-played")) _playback.Hosted.AdvanceTo(tail);
    }

    /// <summary>R22: history that was not yet played is trimmed, and which cohorts it concerned is not known. None goes
    /// on: the next call that uses one lets it start anew from a checkpoint.</summary>
    private void Drop(LogTrimmedException reason)
    {
        _isUneven = true;
        var ended = _playback;
        var end = ended.Hosted.Applied;
        _logger.LogWarning(reason, "History at {Position} was trimmed before it was played; open objects are reloaded",
            end);
        var trimmed = new TangoTrimmedException(reason);
        ended.End(trimmed);
        _playback = NewPlayback();
        _playback.Hosted.AdvanceTo(end);
        _observers.DropFrom(end);
        _views.Publish(end);
        _observers.Publish(Published);
        // As in Publish: behind the observers, so that no caller looks for an effect that they have not heard.
        ended.AnswerAll(trimmed);
    }

    private Playback NewPlayback() =>
        new(_context, SyncAsync, _context.Calls, null, _lifetime, OnGrown, _cohorts.OnDeleted);

    private void OnGrown(Cohort cohort)
    {
        _isUneven = true;
        _views.Add(cohort);
        Grown?.Invoke(cohort);
    }

    /// <summary>
    /// R10, R20: brings all cohorts to one position, at whole entries. It may lie above what this playback has read:
    /// the entry below it was read by the cursor of a cohort that joins before this cycle's linearizable check was
    /// sent, so that hosted streams have nothing below it that is not played.
    /// </summary>
    private async ValueTask EndOpeningsAsync(List<CohortOpening> openings)
    {
        foreach (var opening in openings) _playback.Hosted.AdvanceTo(opening.PlayedTo);
        var end = _playback.Hosted.Applied;
        foreach (var opening in openings)
        {
            opening.Cohort.BeginJoin(Planted.Is("joining-counts-as-seen") ? 0 : _cycle);
            if (!await opening.TryEndAsync(end)) continue;
            _playback.TakeOver(opening.Awaited);
            if (_playback.Hosted.Has(opening.Cohort)) continue;
            _playback.Add(opening.Cohort);
            _views.Add(opening.Cohort);
        }
    }

    private void RemoveUnused()
    {
        foreach (var cohort in _cohorts.TakeUnused(_playback.Commits))
        {
            _playback.Remove(cohort);
            _views.Remove(cohort);
            Left?.Invoke(cohort);
        }
    }

    /// <summary>Shows readers everything applied so far, then answers the callers whose records are in it.</summary>
    /// <param name="tellsObservers">False: nothing was played, and observers would take it for word of the log.</param>
    /// <param name="seen">The tail up to which all is played; null: as before.</param>
    private void Publish(bool tellsObservers = true, SeenTail? seen = null)
    {
        _views.Publish(_playback.Hosted.Applied, seen);
        if (tellsObservers) _observers.Publish(Published);
        foreach (var call in _playback.Answerable) call.Publish();
        _playback.Answerable.Clear();
    }

    private void Fail(Cycle cycle, Exception reason)
    {
        var typed = reason is LogTrimmedException ? new TangoTrimmedException(reason) : reason;
        if (_lifetime.IsCancellationRequested) typed = RuntimeLifetime.Ended();
        try
        {
            // Whole entries that were applied can be shown; the next cycle goes on from there.
            if (_playback.IsAtWholeEntry) Publish(tellsObservers: _playback.Hosted.Applied > Published.End);
            if (typed is TangoPlaybackFailedException or TangoDivergenceException) _observers.End(typed);
            if (typed is not (ObjectDisposedException or TangoPlaybackFailedException))
                _logger.LogWarning(reason, "Playback stopped at {Position}; it goes on with the next caller",
                    _playback.Hosted.Applied);
        }
        catch (Exception e)
        {
            // The program's logger, or no memory. Without this loop no caller would ever be answered.
            typed = e;
        }

        cycle.Done.End(typed);
    }

    private sealed class Cycle
    {
        public Completion Done { get; } = new();

        /// <summary>The strongest that a caller of this cycle asked for.</summary>
        public ReadConsistency Consistency { get; set; } = ReadConsistency.Session;

        /// <summary>Not all callers wait for own entries alone: the tail is asked for.</summary>
        public bool Checks { get; set; }

        /// <summary>The highest own entry that a caller waits for.</summary>
        public AppendedEntry? Placed { get; set; }

        /// <summary>Cohorts that have caught up and join at the end of this cycle.</summary>
        public List<CohortOpening> Openings { get; } = [];

        public List<Action> AtEnd { get; } = [];
    }
}
