namespace Corfu.Checkers;

/// <summary>
/// Facts about the log's entries so far, from any appender or reader, in any order and any number of times. They say
/// which streams have history, which checkpoints are complete, and which commit records wait for a decision (R20).
/// </summary>
public sealed class HistoryFacts
{
    // By cohort: its first member's id.
    private readonly SortedDictionary<ulong, List<CheckpointSeen>> _checkpoints = [];
    private readonly HashSet<long> _partsOfCheckpoints = [];

    /// <summary>By stream of an object: the lowest entry.</summary>
    public SortedDictionary<ulong, long> FirstEntries { get; } = [];

    /// <summary>Commit records that need a decision record, with the objects that they read.</summary>
    public SortedDictionary<(long Position, int Index), ulong[]> Commits { get; } = [];

    /// <summary>Cohorts that are deleted, by their first members.</summary>
    public HashSet<ulong> Deleted { get; } = [];

    /// <summary>By commit record: its lowest decision record.</summary>
    public Dictionary<(long Position, int Index), long> Decisions { get; } = [];

    public IEnumerable<(long Position, int Index)> Undecided => Commits.Keys.Where(c => !Decisions.ContainsKey(c));

    public void Entry(ulong stream, long position) =>
        FirstEntries[stream] = Math.Min(position, FirstEntries.GetValueOrDefault(stream, long.MaxValue));

    public void Decision((long Position, int Index) commit, long position) =>
        Decisions[commit] = Math.Min(position, Decisions.GetValueOrDefault(commit, long.MaxValue));

    public void PartOfCheckpoint(long position) => _partsOfCheckpoints.Add(position);

    /// <param name="parts">The entries that it consists of.</param>
    public void Checkpoint(ulong cohort, long end, IReadOnlyList<long> parts)
    {
        if (!_checkpoints.TryGetValue(cohort, out List<CheckpointSeen>? known)) _checkpoints[cohort] = known = [];
        known.Add(new CheckpointSeen(end, parts));
    }

    /// <summary>Needs of an opener or an undecided commit record that a trim below a position takes away.</summary>
    /// <param name="cohortOf">The members of an object's cohort, the first one first; none if it is deleted.</param>
    public IEnumerable<string> NeededBelow(long below, Func<ulong, IReadOnlyList<ulong>> cohortOf)
    {
        foreach ((ulong stream, long first) in FirstEntries)
        {
            if (first < below && cohortOf(stream) is [var cohort, ..] && !Deleted.Contains(cohort)
                && !HasCheckpoint(cohort, below, long.MaxValue))
                yield return $"object {stream} has history from {first} on, and no complete checkpoint of its cohort "
                    + $"{cohort} ends there or above";
        }

        foreach (((long Position, int Index) commit, ulong[] reads) in Commits)
        {
            if (Decisions.ContainsKey(commit)) continue;
            foreach (ulong read in reads)
            {
                IReadOnlyList<ulong> members = cohortOf(read);
                if (members.Count == 0 || Deleted.Contains(members[0])
                    || members.All(m => FirstEntries.GetValueOrDefault(m, long.MaxValue) >= below)
                    || HasCheckpoint(members[0], below, commit.Position)) continue;
                yield return $"commit record {commit} is undecided and reads {read}, and no complete checkpoint of its "
                    + "cohort that is not above the record can be played from there";
            }
        }
    }

    private bool HasCheckpoint(ulong cohort, long lowest, long highest) =>
        _checkpoints.TryGetValue(cohort, out List<CheckpointSeen>? known)
        && known.Exists(c => c.End >= lowest && c.End <= highest && c.Parts.All(_partsOfCheckpoints.Contains));

    private sealed record CheckpointSeen(long End, IReadOnlyList<long> Parts);
}
