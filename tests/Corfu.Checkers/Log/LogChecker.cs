namespace Corfu.Checkers;

/// <summary>Invariants of the log as its clients see it. Each method owns one and knows nothing of the
/// product.</summary>
public static partial class LogChecker
{
    public static List<Violation> CheckAll(LogHistory history)
    {
        List<Violation> found = CheckAnswers(history);
        NothingLost(history, found);
        ExactlyOnce(history, found);
        StreamReads(history, found);
        Backpointers(history, found);
        return found;
    }

    /// <summary>Checks that need no final log, also where the run came to no end: answers must not contradict each
    /// other.</summary>
    public static List<Violation> CheckAnswers(LogHistory history)
    {
        List<Violation> found = [];
        LogOrder(history, found);
        CheckNeverBelow(history, found);
        WriteOnce(history, found);
        ReadsSeeWhatIsThere(history, found);
        return found;
    }

    /// <summary>Every acknowledged append is in the final log at its position with its bytes, unless a client trimmed
    /// it.</summary>
    public static void NothingLost(LogHistory history, List<Violation> found)
    {
        Dictionary<long, FinalEntry> final = history.Final.ToDictionary(e => e.Position);
        foreach (AppendOp append in history.Appends.Where(a => a.Outcome == AppendFate.Acknowledged))
        {
            if (!final.TryGetValue(append.Position, out FinalEntry? entry))
            {
                found.Add(new(CheckerNames.NothingLost, $"{history.Show(append)}: beyond the end of the final log"));
            }
            else if (entry.Kind == SeenKind.Trimmed)
            {
                if (!history.Trims.Any(t => t.Prefix ? t.Position > append.Position : t.Position == append.Position))
                {
                    found.Add(new(CheckerNames.NothingLost,
                        $"{history.Show(append)}: trimmed, and no client asked for it"));
                }
            }
            else if (entry.Kind != SeenKind.Data || entry.Payload != append.Payload)
            {
                found.Add(new(CheckerNames.NothingLost,
                    $"{history.Show(append)}: the final log has {entry.Kind} {history.Name(entry.Payload)} there"));
            }
            else if (!entry.Streams.Order().SequenceEqual(append.Streams.Order()))
            {
                found.Add(new(CheckerNames.NothingLost, $"{history.Show(append)}: the final log has other streams"));
            }
        }

        foreach (FinalEntry hole in final.Values.Where(e => e.Kind == SeenKind.Unwritten))
        {
            found.Add(new(CheckerNames.NothingLost, $"position {hole.Position} is still a hole after healing"));
        }
    }

    /// <summary>Each append has at most one entry, each entry has an append, and a refused append has no
    /// entry.</summary>
    public static void ExactlyOnce(LogHistory history, List<Violation> found)
    {
        Dictionary<long, AppendOp> byPayload = history.Appends.ToDictionary(a => a.Payload);
        Dictionary<long, long> seen = [];
        foreach (FinalEntry entry in history.Final.Where(e => e.Kind == SeenKind.Data))
        {
            if (!byPayload.TryGetValue(entry.Payload, out AppendOp? append))
            {
                found.Add(new(CheckerNames.ExactlyOnce,
                    $"position {entry.Position} holds {history.Name(entry.Payload)}, and no client appended it"));
                continue;
            }

            if (!seen.TryAdd(entry.Payload, entry.Position))
            {
                found.Add(new(CheckerNames.ExactlyOnce,
                    $"{history.Show(append)}: at {seen[entry.Payload]} and again at {entry.Position}"));
            }

            if (append.Outcome == AppendFate.Refused)
            {
                found.Add(new(CheckerNames.ExactlyOnce, $"{history.Show(append)}: refused, but at {entry.Position}"));
            }
        }
    }

    /// <summary>A acknowledged before B was asked for: A stands before B. No two at one position.</summary>
    public static void LogOrder(LogHistory history, List<Violation> found)
    {
        List<AppendOp> acknowledged = [.. history.Appends.Where(a => a.Outcome == AppendFate.Acknowledged)];
        foreach (IGrouping<long, AppendOp> same in acknowledged.GroupBy(a => a.Position).Where(g => g.Count() > 1))
        {
            found.Add(new(CheckerNames.LogOrder,
                $"position {same.Key} was acknowledged to {string.Join(" and ", same.Select(history.Show))}"));
        }

        List<AppendOp> byEnd = [.. acknowledged.OrderBy(a => a.End)];
        AppendOp? highest = null;
        int ended = 0;
        foreach (AppendOp append in acknowledged.OrderBy(a => a.Start))
        {
            for (; ended < byEnd.Count && byEnd[ended].End < append.Start; ended++)
            {
                highest = highest is null || byEnd[ended].Position > highest.Position ? byEnd[ended] : highest;
            }

            if (highest is not null && append.Position < highest.Position)
            {
                found.Add(new(CheckerNames.LogOrder,
                    $"{history.Show(append)} began after {history.Show(highest)} was acknowledged, and stands before "
                    + "it"));
            }
        }
    }

    /// <summary>A tail is above everything that was acknowledged before it was asked for.</summary>
    public static void CheckNeverBelow(LogHistory history, List<Violation> found)
    {
        List<(long End, long Position)> known =
        [
            .. history.Appends.Where(a => a.Outcome == AppendFate.Acknowledged).Select(a => (a.End, a.Position)),
            // A value that a client read is in the log as well, acknowledged or not.
            .. history.Reads.Where(r => r.Kind is SeenKind.Data).Select(r => (r.End, r.Position)),
        ];
        known.Sort();
        long highest = -1;
        int ended = 0;
        foreach (TailOp tail in history.Tails.OrderBy(t => t.Start))
        {
            for (; ended < known.Count && known[ended].End < tail.Start; ended++)
            {
                highest = Math.Max(highest, known[ended].Position);
            }

            if (tail.Tail <= highest)
            {
                found.Add(new(
                    CheckerNames.Check,
                    $"client {tail.Client} was told the tail {tail.Tail} [{tail.Start},{tail.End}] though {highest} "
                    + "was acknowledged before"));
            }
        }
    }
}
