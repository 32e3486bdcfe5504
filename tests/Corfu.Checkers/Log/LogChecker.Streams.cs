namespace Corfu.Checkers;

public static partial class LogChecker
{
    private const int MaxBackpointers = 4;

    /// <summary>
    /// A stream is exactly the sub-sequence of the log that names it: what a reader saw is a prefix of it, up to at
    /// least everything that was acknowledged before its sync began.
    /// </summary>
    public static void StreamReads(LogHistory history, List<Violation> found)
    {
        Dictionary<ulong, List<FinalEntry>> full = FullScan(history);
        HashSet<long> trimmed = [.. history.Final.Where(e => e.Kind == SeenKind.Trimmed).Select(e => e.Position)];
        foreach (StreamReadOp read in history.StreamReads)
        {
            List<FinalEntry> stream = full.GetValueOrDefault(read.Stream) ?? [];
            string who = $"stream {read.Stream} as read by client {read.Client} [{read.Start},{read.End}]";
            long last = Math.Max(read.Until - 1, read.Seen.Count == 0 ? -1 : read.Seen[^1].Position);
            HashSet<long> seen = [.. read.Seen.Select(s => s.Position)];
            if (seen.Count != read.Seen.Count || !read.Seen.Select(s => s.Position).SequenceEqual(seen.Order()))
            {
                found.Add(new(CheckerNames.StreamWalk, $"{who}: out of order or twice"));
            }

            foreach (FinalEntry missing in stream.Where(e => e.Position <= last && !seen.Contains(e.Position)))
            {
                found.Add(new(CheckerNames.StreamWalk, $"{who}: position {missing.Position} was skipped"));
            }

            Dictionary<long, long> payloads = stream.ToDictionary(e => e.Position, e => e.Payload);
            foreach ((long position, long payload) in read.Seen.Where(s => !trimmed.Contains(s.Position)))
            {
                if (!payloads.TryGetValue(position, out long there) || there != payload)
                {
                    found.Add(new(CheckerNames.StreamWalk,
                        $"{who}: position {position} with {history.Name(payload)} is not in the stream"));
                }
            }

            // R22: trimmed or not. A reader that meets what is trimmed fails, and is not here; it never passes over it.
            // What a prefix trim has released leaves no trace in its stream, so nothing is asked of a reader there.
            foreach (AppendOp append in history.Appends)
            {
                if (append.Outcome == AppendFate.Acknowledged && append.End < read.Start
                    && append.Streams.Contains(read.Stream)
                    && !seen.Contains(append.Position)
                    && !history.Trims.Exists(t => t.Prefix && append.Position < t.Position))
                {
                    found.Add(new(CheckerNames.StreamWalk, $"{who}: did not see {history.Show(append)}"));
                }
            }
        }
    }

    /// <summary>
    /// Backpointers never jump over an entry of their stream: below the newest pointer there is none that is not
    /// pointed to, down to the oldest pointer. Pointers to positions that became junk or stayed unwritten are allowed:
    /// a token is a grant, not a write.
    /// </summary>
    public static void Backpointers(LogHistory history, List<Violation> found)
    {
        Dictionary<ulong, long[]> members = FullScan(history)
            .ToDictionary(p => p.Key, p => p.Value.Select(e => e.Position).ToArray());
        foreach (FinalEntry entry in history.Final.Where(e => e.Kind == SeenKind.Data))
        {
            foreach ((ulong stream, long[] back) in entry.Headers)
            {
                // Fewer than four pointers say that there is nothing older.
                long floor = back.Length < MaxBackpointers ? -1 : back.Min();
                foreach (long position in members.GetValueOrDefault(stream) ?? [])
                {
                    if (position < entry.Position && position > floor && !back.Contains(position))
                    {
                        found.Add(new(
                            CheckerNames.StreamWalk,
                            $"entry {entry.Position} of stream {stream} points back to [{string.Join(",", back)}] "
                            + $"and so past {position}"));
                    }
                }
            }
        }
    }

    private static Dictionary<ulong, List<FinalEntry>> FullScan(LogHistory history)
    {
        Dictionary<ulong, List<FinalEntry>> streams = [];
        foreach (FinalEntry entry in history.Final.Where(e => e.Kind == SeenKind.Data).OrderBy(e => e.Position))
        {
            foreach (ulong stream in entry.Streams.Distinct())
            {
                if (!streams.TryGetValue(stream, out List<FinalEntry>? list))
                {
                    streams.Add(stream, list = []);
                }

                list.Add(entry);
            }
        }

        return streams;
    }
}
