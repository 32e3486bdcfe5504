using System.Diagnostics.CodeAnalysis;
using Corfu;
using Tango.Model;
using Tango.Records;

namespace Tango.Feeds;

/// <summary>Keeps the calls of one object that took effect, from a place on, as playback applies them.</summary>
/// <param name="after">Place of the last change that is left out, with all that precede it.</param>
internal sealed class ChangeRecorder(ChangePlace after) : ICallObserver
{
    private readonly Queue<RecordedChange> _changes = [];
    private LogPosition _position;

    // The next call's index within the entry at _position.
    private int _next;

    public void OnApplied(
        scoped in CallRecord call, RecordVersion version, LogPlace at, bool isTransaction, bool tookEffect)
    {
        if (version.Position != _position) (_position, _next) = (version.Position, 0);
        var place = new ChangePlace(version.Position, _next++);
        if (Planted.Is("feed-repeats-where-it-resumes") && place == after) after = ChangePlace.Before(after.Position);
        if (!tookEffect || place.CompareTo(after) <= 0) return;
        _changes.Enqueue(new RecordedChange(
            place, at, isTransaction ? version : null, call.Mutator, call.Key, call.Arguments));
    }

    public bool TryTake([NotNullWhen(true)] out RecordedChange? change) => _changes.TryDequeue(out change);
}

/// <param name="At">Place of the call in the log: a spilled one is not in the entry of
/// <paramref name="Place"/>.</param>
/// <param name="Transaction">The commit record; null: a plain update.</param>
internal sealed record RecordedChange(
    ChangePlace Place, LogPlace At, RecordVersion? Transaction, int Mutator, ReadOnlyMemory<byte> Key,
    ReadOnlyMemory<byte> Arguments);
