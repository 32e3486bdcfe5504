using System.Diagnostics.CodeAnalysis;
using Corfu;
using Tango.History;
using Tango.Model;
using Tango.Playback;

namespace Tango.Feeds;

/// <summary>
/// Plays one object beside the player, an entry whenever its reader asks for more: a slow reader holds back nothing
/// else, and nothing is buffered above one entry. Its caller takes all that is ready before it advances.
/// </summary>
/// <param name="entry">Directory's entry of the object.</param>
/// <param name="newCohort">The object's cohort, of which nothing is played yet.</param>
/// <param name="claim">Null: the feed is not registered.</param>
/// <param name="poll">The runtime's, for all feeds.</param>
internal sealed class ChangeFeed<T>(
    DirectoryEntry entry, Func<Cohort> newCohort, FeedClaim? claim, FeedOptions options, FeedPoll poll,
    PlaybackContext context, CancellationToken lifetime)
    where T : TangoObject, ITangoObject<T>
{
    private Playback.Playback _playback = null!;
    private Cohort _cohort = null!;
    private ChangeRecorder _recorder = null!;

    // Follows what is recorded.
    private TangoChange<T>? _notice;

    // Place of the last element that was taken, or where the feed starts: there the reader may resume.
    private ChangePlace _last;

    // Place of the last change that was looked at. Invariant: _last <= _passed, and no change between is told.
    private ChangePlace _passed;
    private bool _isAtTail;

    // Tail that the last check answered, when _isAtTail.
    private LogPosition _tail;

    // Null below its birth, if it was added to its group.
    private HostedObject? Object => _cohort.Find(entry.Id);

    /// <summary>A reader of this place may have a state of another object that had the name before; a reader that
    /// begins with the log has none. What was forked does not begin empty.</summary>
    private bool PrecedesObject(ChangePlace place) =>
        place.Position < entry.Created
        && (entry.Origin is not null || place.CompareTo(ChangePlace.Before(LogPosition.Zero)) > 0);

    /// <summary>R23: the object has ended here.</summary>
    public TangoObjectStoppedException? Stopped => (Object ?? _cohort.Objects[0]).Stopped;

    /// <param name="after">Null: everything that is acknowledged before the call precedes the feed.</param>
    public async ValueTask StartAsync(ChangePlace? after)
    {
        try
        {
            if (after is { } early && PrecedesObject(early))
            {
                await LoadAsync(entry.Created);
                // Below its birth it is empty.
                TellState(Object ?? new HostedObject(entry, T.ObjectType));
                return;
            }

            await LoadAsync(after?.Position);
            var tail = await _playback.SyncAsync(ReadConsistency.Linearizable);
            if (after?.Position > tail)
                throw new ArgumentOutOfRangeException(
                    nameof(after), after.Value.Position.Offset, "The log ends below this position.");
            if (after is null)
            {
                while (await _playback.PlayNextAsync())
                {
                }
            }

            RecordAfter(after ?? ChangePlace.Before(_playback.Hosted.Applied));
        }
        catch (LogTrimmedException e)
        {
            if (after is not { } place) throw new TangoTrimmedException(e);
            (_last, _passed) = (place, place);
            await ResetAsync(e);
        }
        catch (TangoTrimmedException e) when (after is not null)
        {
            // A fork begins with checkpoints only, and none that is left is below the place.
            (_last, _passed) = (after.Value, after.Value);
            await ResetAsync(e);
        }
    }

    /// <summary>Begins with the state of the object's newest checkpoint, or with its first record.</summary>
    public async ValueTask StartFromStateAsync()
    {
        await LoadAsync(null);
        TellState(Object);
    }

    /// <summary>Learns what is to be played: all that was acknowledged before the call.</summary>
    public async ValueTask SyncAsync()
    {
        try
        {
            await _playback.SyncAsync(ReadConsistency.Linearizable);
        }
        catch (LogTrimmedException e)
        {
            await StartAnewAsync(e);
        }
    }

    /// <summary>Plays an entry of what <see cref="SyncAsync"/> has learnt.</summary>
    /// <returns>False: there is none.</returns>
    public async ValueTask<bool> TryPlayNextAsync()
    {
        try
        {
            return await _playback.PlayNextAsync();
        }
        catch (LogTrimmedException e)
        {
            await StartAnewAsync(e);
            return true;
        }
    }

    public bool TryTake([NotNullWhen(true)] out TangoChange<T>? change)
    {
        change = TakeRecorded() ?? _notice;
        if (ReferenceEquals(change, _notice)) _notice = null;
        if (change is not null) _last = change.Place;
        if (_passed.CompareTo(_last) < 0) _passed = _last;
        return change is not null;
    }

    private TangoChange<T>? TakeRecorded()
    {
        while (_recorder.TryTake(out var recorded))
        {
            _passed = recorded.Place;
            if (options.Keys?.Include(recorded.Key) != false) return ToChange(recorded);
            if (_passed.Position - _last.Position >= options.ProgressEvery)
                return new TangoChange<T>(TangoChangeKind.Progress, _passed);
        }

        return null;
    }

    /// <summary>Plays an entry; at the tail, waits and looks for more. The reader is done with all that was
    /// taken.</summary>
    /// <exception cref="TangoObjectStoppedException">R23: the object ends here.</exception>
    /// <exception cref="TangoTrimmedException">History was trimmed, and no newer checkpoint can be loaded.</exception>
    public async ValueTask AdvanceAsync()
    {
        if (Stopped is { } stopped) throw stopped.Told;
        if (claim is not null) await claim.RenewIfDueAsync(_last.Position, lifetime);
        try
        {
            if (await _playback.PlayNextAsync())
            {
                _isAtTail = false;
                return;
            }

            if (_isAtTail) await poll.WaitAsync(Next(), lifetime);
            _isAtTail = true;
            var tail = _tail = await _playback.SyncAsync(ReadConsistency.Session);
            if (tail - _last.Position >= options.ProgressEvery) await ProgressAsync(tail);
        }
        catch (LogTrimmedException e)
        {
            await ResetAsync(e);
        }
    }

    private FeedWait Next() => new(
        [.. _cohort.Objects.Select(static member => member.Id.Stream)], options.PollInterval, _tail,
        new LogPosition(_last.Position.Offset + Math.Min(options.ProgressEvery, long.MaxValue >> 1)),
        claim?.Pause ?? TimeSpan.MaxValue);

    /// <summary>The object's stream tells nothing of positions above its last entry, so that the log has to
    /// (R10).</summary>
    private async ValueTask ProgressAsync(LogPosition tail)
    {
        if (tail < _playback.Hosted.Applied || !await CohortReplay.IsSettledAsync(context.Log, tail, lifetime)) return;
        await _playback.PlayToAsync(tail);
        if (Stopped is null) _notice = new TangoChange<T>(TangoChangeKind.Progress, ChangePlace.Before(tail));
    }

    /// <summary>R22: goes on from the newest checkpoint.</summary>
    private async ValueTask ResetAsync(Exception reason)
    {
        await LoadAsync(null);
        // The checkpoint is the one from which history was missing.
        if (_cohort.Start <= _passed.Position) throw new TangoTrimmedException(reason);
        TellState(Object);
    }

    private async ValueTask StartAnewAsync(LogTrimmedException reason)
    {
        await ResetAsync(reason);
        await _playback.SyncAsync(ReadConsistency.Linearizable);
    }

    private void TellState(HostedObject? member)
    {
        RecordAfter(ChangePlace.Before(LogPosition.Max(_cohort.Start, entry.Created)));
        _isAtTail = false;
        // All its changes are above. R22: or it was deleted out of its group below, which is all that is left to tell.
        if (member is null or { IsRemoved: true }) return;
        var state = T.ObjectType.Create();
        state.Attach(new PastHost(member, new CallReader(context.Log)));
        _notice = new TangoChange<T>(TangoChangeKind.Reset, _last) { State = (T)state };
    }

    private async ValueTask LoadAsync(LogPosition? notAbove)
    {
        var replay = new CohortReplay(context, null, null, lifetime);
        (_cohort, _playback) = (newCohort(), replay.Playback);
        _cohort.MemberAdded = member =>
        {
            if (member.Id == entry.Id) member.Observer = _recorder;
        };
        await replay.LoadAsync(_cohort, notAbove);
        _playback.Hosted.AdvanceTo(_cohort.Start);
        _playback.Add(_cohort);
        if (claim is not null) await claim.BeginAsync(_cohort.Start, lifetime);
    }

    private void RecordAfter(ChangePlace place)
    {
        (_last, _passed) = (place, place);
        _recorder = new ChangeRecorder(place);
        if (Object is { } member) member.Observer = _recorder;
    }

    private static TangoChange<T> ToChange(RecordedChange recorded) => new(TangoChangeKind.Update, recorded.Place)
    {
        Mutator = T.ObjectType.Mutators.First(mutator => mutator.Number == recorded.Mutator),
        At = recorded.At,
        Transaction = recorded.Transaction,
        Key = recorded.Key,
        Arguments = recorded.Arguments,
    };
}
