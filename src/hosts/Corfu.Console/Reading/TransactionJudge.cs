using Tango;

namespace Corfu.WebConsole.Reading;

/// <summary>
/// Decides the transactions of a window of the log as playback does: a read is no longer valid if what it read was
/// written at or above the snapshot's end. So the winner of a lost transaction is named without the types of the
/// objects. A decision record in the window counts more, and so does the sequencer's word in the record.
/// </summary>
internal sealed class TransactionJudge
{
    private readonly Dictionary<ulong, Versions> _objects = [];
    private readonly Dictionary<RecordPlace, DecisionRecord> _decisions = [];
    private readonly Dictionary<RecordPlace, SpillRecord> _spills = [];
    private readonly List<JudgedTransaction> _judged = [];
    private readonly long _begin;

    private TransactionJudge(ImmutableArray<LogItem> window) =>
        _begin = window.IsEmpty ? 0 : window[0].Position.Offset;

    /// <summary>The window's transactions, in the order of the log.</summary>
    public static ImmutableArray<JudgedTransaction> Judge(ImmutableArray<LogItem> window)
    {
        var judge = new TransactionJudge(window);
        foreach (var item in window)
        {
            foreach (var record in item.Records)
            {
                if (record is DecisionRecord decision) judge._decisions.TryAdd(decision.Commit, decision);
                else if (record is SpillRecord spill) judge._spills.Add(PlaceOf(item, record), spill);
            }
        }

        foreach (var item in window)
        {
            foreach (var record in item.Records) judge.Play(item, record);
        }

        return [.. judge._judged];
    }

    private static RecordPlace PlaceOf(LogItem item, TangoRecord record) => new(item.Position.Offset, record.Index);

    private void Play(LogItem item, TangoRecord record)
    {
        var place = PlaceOf(item, record);
        switch (record)
        {
            case UpdateRecord update:
                Write(update.Call, place, item.Runtime);
                break;
            case CommitRecord commit:
                var judged = JudgeOne(item, commit, place);
                _judged.Add(judged);
                if (judged.Outcome is Outcome.Committed or Outcome.Unknown)
                {
                    foreach (var write in judged.Writes) Write(write, place, item.Runtime);
                }

                break;
        }
    }

    private JudgedTransaction JudgeOne(LogItem item, CommitRecord commit, RecordPlace place)
    {
        var writes = commit.Writes.AddRange(
            commit.Spills.SelectMany(spill => _spills.GetValueOrDefault(spill)?.Writes ?? []));
        var judged = new JudgedTransaction(place, item.WriterTime, item.Runtime, commit.Snapshot, commit.Reads, writes);
        if (commit.IsDecided) return judged with { Outcome = Outcome.Committed };
        var conflict = commit.Reads.Select(read => ConflictOf(read, commit.Snapshot)).FirstOrDefault(
            static found => found is not null);
        if (_decisions.TryGetValue(place, out var decision))
        {
            return decision.Aborted is { } aborted
                ? judged with
                {
                    Outcome = Outcome.Aborted,
                    Reason = (AbortReason)aborted.Reason,
                    Loss = conflict ?? new Loss(aborted.Object, aborted.Key, aborted.Winner, 0),
                }
                : judged with { Outcome = Outcome.Committed };
        }

        if (conflict is not null)
            return judged with { Outcome = Outcome.Aborted, Reason = AbortReason.Conflict, Loss = conflict };
        // Writes below the window may have come after the snapshot.
        var isSeen = commit.Reads.IsEmpty || commit.Snapshot >= _begin;
        return judged with { Outcome = isSeen ? Outcome.Committed : Outcome.Unknown };
    }

    private Loss? ConflictOf(ReadPart read, long snapshot)
    {
        if (!_objects.TryGetValue(read.Object, out var versions)) return null;
        if (read.Keys is not { } keys)
            return versions.Last is { } last && last.Place.Position >= snapshot
                ? new Loss(read.Object, null, last.Place, last.Runtime)
                : null;
        foreach (var key in keys)
        {
            if (versions.Keyless is { } whole && whole.Place.Position >= snapshot)
                return new Loss(read.Object, key, whole.Place, whole.Runtime);
            if (versions.Keys.TryGetValue(Convert.ToHexString(key), out var written)
                && written.Place.Position >= snapshot)
                return new Loss(read.Object, key, written.Place, written.Runtime);
        }

        return null;
    }

    private void Write(TangoCallRecord call, RecordPlace place, ulong runtime)
    {
        if (!_objects.TryGetValue(call.Object, out var versions)) _objects[call.Object] = versions = new Versions();
        var written = new Written(place, runtime);
        versions.Last = written;
        if (call.Keys is not { } keys) versions.Keyless = written;
        else foreach (var key in keys) versions.Keys[Convert.ToHexString(key)] = written;
    }

    private sealed class Versions
    {
        public Dictionary<string, Written> Keys { get; } = [];

        public Written? Keyless { get; set; }

        public Written? Last { get; set; }
    }

    private sealed record Written(RecordPlace Place, ulong Runtime);
}

/// <summary>A transaction with what became of it.</summary>
public sealed record JudgedTransaction(
    RecordPlace Place, DateTimeOffset? WriterTime, ulong Runtime, long Snapshot, ImmutableArray<ReadPart> Reads,
    ImmutableArray<TangoCallRecord> Writes)
{
    public Outcome Outcome { get; init; }

    public AbortReason Reason { get; init; }

    /// <summary>The read that was no longer valid, and the write that came between.</summary>
    public Loss? Loss { get; init; }
}

/// <param name="Key">Null: the whole object was read.</param>
/// <param name="Runtime">The winner's runtime; zero where it is not known.</param>
public sealed record Loss(ulong Object, byte[]? Key, RecordPlace Winner, ulong Runtime);

/// <summary>The outcome of a transaction.</summary>
public enum Outcome
{
    /// <summary>The window begins above the snapshot, and holds no decision.</summary>
    Unknown,

    Committed,

    Aborted,
}
