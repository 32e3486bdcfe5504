using System.Collections.Immutable;
using System.Runtime.InteropServices;
using Corfu;
using Microsoft.Extensions.Logging;
using Tango.Calls;
using Tango.Model;
using Tango.Records;

namespace Tango.Playback;

/// <summary>
/// Plays the streams of its cohorts, merged in log order, one entry after the other (Tango 3.1, 4). One caller at a
/// time. A call that failed, or was cancelled, can be repeated: playback goes on where it stands.
/// </summary>
internal sealed class Playback
{
    private readonly CancellationToken _lifetime;
    private readonly DecisionProbe? _probe;
    private readonly SpilledWrites _spilled;
    private readonly RecordApplier _applier;
    private readonly DecisionLookahead _lookahead;
    private readonly IStreamCursor _cursor;
    private readonly TimeProvider _time;

    // R20. Null: what is decided here is not published.
    private readonly DecisionPublisher? _publisher;

    private readonly ILogger _logger;

    // Not null: a record was applied in part, and nothing can be played any more.
    private volatile TangoPlaybackFailedException? _failure;

    // Read and not wholly applied: its next record waits for a decision, or a call failed within it, or it stands above
    // the end of a call.
    private LogEntry? _entry;
    private EntryProgress _progress;

    // A member has joined, and the cursor does not know yet what its stream has below the tail: until it does, other
    // streams' entries must not overtake those (R20).
    private bool _hasJoined;
    private LogPosition _tail;

    // Replaced whole, for other threads.
    private volatile StreamId[] _streams = [];
    private readonly Action<Cohort>? _grown;

    /// <param name="sync">Completes when this playback has reached the tail. Null: what it decides is not published,
    /// for it may end anywhere.</param>
    /// <param name="calls">Callers of own entries; null: this playback answers none.</param>
    /// <param name="probe">Not null: playback ends where the probe says.</param>
    /// <param name="grown">Called when a cohort that is played here has got a member.</param>
    /// <param name="deleted">Called when a cohort that is played here was deleted.</param>
    public Playback(PlaybackContext context, Func<CancellationToken, Task>? sync, CallBatcher? calls,
        DecisionProbe? probe, CancellationToken lifetime, Action<Cohort>? grown = null,
        Action<Cohort>? deleted = null)
    {
        (_lifetime, _probe, _logger, _grown) = (lifetime, probe, context.Logger, grown);
        _cursor = context.OpenCursor();
        _time = context.Time;
        if (sync is not null)
            _publisher = new DecisionPublisher(
                Commits, context.Calls, sync, context.Options.OrphanTimeout, context.Time, context.Chores,
                context.Logger, lifetime);
        _spilled = new SpilledWrites(context.Log);
        _applier = new RecordApplier(
            Hosted, Commits, _spilled, context.Directory, calls, probe, context.Logger);
        _lookahead = new DecisionLookahead(
            Hosted, Commits, context, probe?.Waits ?? new OrphanWaits(context.Time), probe, lifetime);
        (Hosted.Joined, Hosted.Deleted) = (Join, deleted);
    }

    /// <summary>Positions up to the last check that are not played yet. Any thread.</summary>
    public long Lag => Math.Max(0, _tail.Offset - Hosted.Applied.Offset);

    /// <summary>The streams that are played. Any thread.</summary>
    public ImmutableArray<StreamId> Streams => ImmutableCollectionsMarshal.AsImmutableArray(_streams);

    /// <summary>The tail that the log answered last. Up to there everything is played once <see cref="PlayNextAsync"/>
    /// has said so.</summary>
    public LogPosition Tail => _tail;

    public HostedObjects Hosted { get; } = new();

    public Commits Commits { get; } = new();

    /// <summary>Callers whose records are applied and not yet shown to readers.</summary>
    public List<PendingCall> Answerable { get; } = [];

    /// <summary>R17: only then may views be shown.</summary>
    public bool IsAtWholeEntry => !_progress.HasBegun;

    /// <summary>Plays the cohort from its <see cref="Cohort.Start"/> on.</summary>
    public void Add(Cohort cohort)
    {
        Hosted.Add(cohort);
        foreach (var added in cohort.Objects) Follow(added, cohort.Start);
    }

    private void Follow(HostedObject added, LogPosition from)
    {
        var stream = added.Id.Stream;
        _cursor.Add(stream, from);
        if (!_streams.Contains(stream)) _streams = [.. _streams, stream];
    }

    /// <summary>A cohort of another playback, or of a checkpoint, goes on here: commit records that concern it and wait
    /// for their decision records (R20).</summary>
    public void TakeOver(ImmutableArray<AwaitedDecision> awaited)
    {
        Commits.TakeOver(awaited, _time.GetTimestamp());
        _publisher?.OnDecided();
    }

    /// <summary>The cohort is not played any more. At a whole entry only.</summary>
    public void Remove(Cohort cohort)
    {
        // R22: it may have ended with an earlier playback.
        if (!Hosted.Has(cohort)) return;
        Hosted.Remove(cohort);
        foreach (var removed in cohort.Objects) _cursor.Remove(removed.Id.Stream);
        _streams = [.. _streams.Except(cohort.Objects.Select(static removed => removed.Id.Stream))];
        Commits.ForgetLearntBelow(Hosted.Applied);
    }

    /// <summary>Learns what is to be played. Returns the tail up to which the following calls play.</summary>
    public async ValueTask<LogPosition> SyncAsync(ReadConsistency consistency)
    {
        Commits.ThrowIfDiverged();
        ThrowIfFailed();
        TangoTelemetry.Checks.Add(1);
        // A cheap check may answer with a lower tail than the one up to which the other streams are known.
        if (_hasJoined) consistency = ReadConsistency.Linearizable;
        _tail = await _cursor.SyncAsync(consistency, _lifetime);
        _hasJoined = false;
        return _tail;
    }

    /// <summary>As above, up to an own entry, from what its append returned.</summary>
    public async ValueTask<LogPosition> SyncAsync(AppendedEntry placed)
    {
        if (_hasJoined) return await SyncAsync(ReadConsistency.Linearizable);
        Commits.ThrowIfDiverged();
        ThrowIfFailed();
        _tail = await _cursor.SyncAsync(placed, _lifetime);
        return _tail;
    }

    /// <summary>Applies the next entry; waits for the decisions that it needs (R20).</summary>
    /// <returns>False: everything is applied, or the probe has ended.</returns>
    public async ValueTask<bool> PlayNextAsync()
    {
        if (_probe is { IsOver: true }) return false;
        _entry ??= await ReadNextAsync();
        if (_entry is not { } entry)
        {
            // R10: not the tail that the check answered. A grant above the cursor's position may be void, and a later
            // epoch may put an entry of a hosted stream there; a snapshot that claimed to include it would miss a
            // conflict.
            Hosted.AdvanceTo(_cursor.Position);
            return false;
        }

        while (await ApplyAsync(entry) is { } undecided) await _lookahead.LearnAsync(entry, undecided);
        EndEntry(entry);
        return true;
    }

    /// <summary>Applies everything below <paramref name="end"/> and nothing else.</summary>
    /// <param name="end">At or above <see cref="HostedObjects.Applied"/>; the entry before it was read in a final state
    /// before this call.</param>
    /// <returns>False: a record below it waits for a decision.</returns>
    public ValueTask<bool> TryPlayToAsync(LogPosition end) => PlayToAsync(end, waits: false);

    /// <summary>As <see cref="TryPlayToAsync"/>, but waits for the decisions that it needs.</summary>
    public async ValueTask PlayToAsync(LogPosition end) => await PlayToAsync(end, waits: true);

    private async ValueTask<bool> PlayToAsync(LogPosition end, bool waits)
    {
        await SyncAsync(ReadConsistency.Linearizable);
        if (Planted.Is("joins-above-its-position")) end = Hosted.Applied;
        while ((_entry ??= await ReadNextAsync()) is { } entry && entry.Position < end)
        {
            while (await ApplyAsync(entry) is { } undecided)
            {
                if (!waits) return false;
                await _lookahead.LearnAsync(entry, undecided);
            }

            EndEntry(entry);
        }

        Hosted.AdvanceTo(end);
        return true;
    }

    /// <summary>R22: nothing is played from here on. Its cohorts stop, and what was decided goes to the other hosts,
    /// which may wait for it.</summary>
    public void End(TangoTrimmedException reason)
    {
        Hosted.Stop(reason);
        _publisher?.PublishAll();
    }

    /// <summary>Callers hear what is known when playback has ended.</summary>
    public void AnswerAll(TangoTrimmedException reason)
    {
        foreach (var call in Answerable) call.Publish();
        foreach (var call in _progress.Calls ?? [])
            call?.BecomeInDoubt(_entry!.Position, "The record is in the log, but playing it failed", reason);
    }

    /// <exception cref="TangoPlaybackFailedException">An error of the process.</exception>
    public void ThrowIfFailed()
    {
        if (_failure is not null) throw _failure;
    }

    private async ValueTask<LogEntry?> ReadNextAsync()
    {
        if (_hasJoined) await SyncAsync(ReadConsistency.Linearizable);
        return await _cursor.ReadNextAsync(_lifetime);
    }

    /// <summary>R20: plays the new member from its birth on, before anything later is applied.</summary>
    private void Join(HostedObject member, LogPosition from)
    {
        if (Planted.Is("member-joins-late")) from = LogPosition.Max(from, _tail);
        Follow(member, from);
        _hasJoined = true;
        _grown?.Invoke(member.Cohort);
    }

    /// <returns>The commit record that waits for a decision (R20); null at the end of the entry.</returns>
    private async ValueTask<RecordVersion?> ApplyAsync(LogEntry entry)
    {
        while (ApplyRecords(entry) is { } blocked)
        {
            if (_applier.MissingSpills is not { Count: > 0 } spills) return blocked;
            await _spilled.FetchAsync(blocked, spills, _lifetime);
        }

        return null;
    }

    private RecordVersion? ApplyRecords(LogEntry entry)
    {
        try
        {
            return _applier.ApplyRecords(entry, ref _progress, _time.GetTimestamp());
        }
        catch (Exception e) when (TangoPlaybackFailedException.IsReason(e))
        {
            _failure = new TangoPlaybackFailedException(entry.Position, e);
            _logger.LogCritical(_failure, "Playback has ended");
            throw _failure;
        }
        catch (TangoDivergenceException e)
        {
            _logger.LogCritical(e, "Decisions differ");
            throw;
        }
        finally
        {
            _publisher?.OnDecided();
        }
    }

    private void EndEntry(LogEntry entry)
    {
        TangoTelemetry.Entries.Add(1);
        if (_progress.Calls is { } calls) Answerable.AddRange(calls.OfType<PendingCall>());
        _entry = null;
        _progress = default;
        _spilled.Clear();
        Hosted.AdvanceTo(entry.Position.Next);
    }
}
