using Corfu.Client;
using Corfu.Protocol;
using Microsoft.Extensions.Logging;

namespace Tango.Playback;

/// <summary>
/// Plays the streams of all hosted objects, merged in log order, one record at a time (Tango 3.1, 4). Cycles of check, play, publish run one
/// after the other while anybody waits; all who wait when a cycle starts share its check.
/// </summary>
internal sealed partial class Player(
    IStreamCursor cursor, PlayerContext context, TangoOptions options, TimeProvider time, IEntropy entropy, CancellationToken lifetime)
{
    private readonly Lock _gate = new();
    private IStreamCursor _cursor = cursor;

    // Guarded by _gate: the cycle that callers may still join, because it has not started.
    private Cycle? _next;
    private bool _isRunning;
    private long _caughtUpTo;

#if PLANTED
    private LogPosition _plantedTail;
#endif

    private PublishedViews _published = new(LogPosition.Zero, []);

    /// <summary>The newest views that are complete; never older than any cycle a caller has awaited.</summary>
    public PublishedViews Published => Volatile.Read(ref _published);

    /// <summary>Completes when everything acknowledged before the call is applied and published.</summary>
    public Task SyncAsync(CancellationToken cancellationToken) => Join(ReadConsistency.Linearizable, null).WaitOrCancelAsync(cancellationToken);

    /// <summary>Starts hosting the unit, unless an earlier call did; completes when its objects can be read.</summary>
    public Task AttachAsync(HostedUnit unit, CancellationToken cancellationToken) =>
        Join(ReadConsistency.Linearizable, unit).WaitOrCancelAsync(cancellationToken);

    /// <summary>Completes when the entry that ends at <paramref name="end"/>, of a stream that is hosted here, is applied and published.</summary>
    public async ValueTask PlayToAsync(LogPosition end, CancellationToken cancellationToken)
    {
        for (var attempt = 0; Published.End < end; attempt++)
        {
            // A sequencer that was replaced meanwhile may answer the cheap check with an old tail; then ask properly.
            var consistency = attempt == 0 ? ReadConsistency.Session : ReadConsistency.Linearizable;
            try
            {
                await Join(consistency, null).WaitOrCancelAsync(cancellationToken);
                if (attempt < options.MaxPlaybackAttempts || Published.End >= end) continue;
            }
            catch (Exception e) when (attempt < options.MaxPlaybackAttempts
                && e is not (OperationCanceledException or ObjectDisposedException or TangoTrimmedException or TangoDivergenceException))
            {
                await Task.Delay(Backoff.Delay(attempt, options, entropy), time, cancellationToken);
                continue;
            }

            throw new TangoException($"Playback does not reach {end}: it ends at {Published.End}");
        }
    }

    /// <summary>
    /// Completes when hosted objects show what this runtime was told is in the log below <paramref name="end"/>. One cheap check is enough, and
    /// the position need not be reached: it may be in a stream that is not hosted.
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
            ObjectDisposedException.ThrowIf(lifetime.IsCancellationRequested, typeof(TangoRuntime));
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
                // R20: first. A unit that is new has played nothing yet, so that it must not take part in an entry from the middle of the log.
                await FinishEntryAsync();
                foreach (var unit in cycle.NewUnits) Attach(unit);
                TangoTelemetry.Checks.Add(1);
#if PLANTED
                _plantedTail =
#endif
                await _cursor.SyncAsync(cycle.Consistency, lifetime);
                await PlayAsync();
                cycle.Done.TrySetResult();
            }
            catch (Exception e)
            {
                // What was applied can be shown if it is whole entries; the next cycle goes on from there.
                if (_entry is null) Publish();
                if (e is LogTrimmedException or PageCorruptException) DropCatchingUp();
                Fail(cycle, e);
            }
        }
    }

    private void Fail(Cycle cycle, Exception reason)
    {
        var typed = reason is LogTrimmedException ? new TangoTrimmedException(reason) : reason;
        if (lifetime.IsCancellationRequested) typed = new ObjectDisposedException(nameof(TangoRuntime));
        else context.Logger.LogWarning(reason, "Playback stopped at {Position}; it goes on with the next caller", _applied);
        cycle.Done.TrySetException(typed);
        // Nobody may be waiting any more.
        _ = cycle.Done.Task.Exception;
    }

    /// <summary>Goes on with the entry in which the cycle before failed, if it did.</summary>
    private async ValueTask FinishEntryAsync()
    {
        if (_divergence is not null) throw _divergence;
        if (_entry is { } unfinished) await ApplyEntryAsync(unfinished);
    }

    private async ValueTask PlayAsync()
    {
        var sincePublished = 0;
        while (await _cursor.ReadNextAsync(lifetime) is { } entry)
        {
            TangoTelemetry.Entries.Add(1);
            await ApplyEntryAsync(entry);
            if (_probe is { IsFound: true }) return;
            if (++sincePublished < options.PublishEvery) continue;
            Publish();
            sincePublished = 0;
        }

        // R10: not the tail that the check answered. A grant above the cursor's position may be void, and a later epoch may put an entry of
        // a hosted stream there; a snapshot that claimed to include it would miss a conflict.
        _applied = LogPosition.Max(_applied, _cursor.Position);
#if PLANTED
        if (Planted.Is("tail-counts-as-played")) _applied = LogPosition.Max(_applied, _plantedTail);
#endif
        foreach (var unit in _catchingUp) unit.IsCatchingUp = false;
        _catchingUp.Clear();
        Publish();
    }

    private sealed class Cycle
    {
        public TaskCompletionSource Done { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        /// <summary>The strongest of what those who joined asked for.</summary>
        public ReadConsistency Consistency { get; set; } = ReadConsistency.Session;

        public List<HostedUnit> NewUnits { get; } = [];
    }
}
