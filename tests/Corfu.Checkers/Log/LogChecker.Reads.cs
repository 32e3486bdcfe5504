namespace Corfu.Checkers;

public static partial class LogChecker
{
    /// <summary>All that was ever seen at a position is one value, and a value once seen stays until it is
    /// trimmed.</summary>
    public static void WriteOnce(LogHistory history, List<Violation> found)
    {
        IEnumerable<ReadOp> acknowledged = history.Appends.Where(a => a.Outcome == AppendFate.Acknowledged)
            .Select(a => new ReadOp(a.Client, a.Position, a.Start, a.End, SeenKind.Data, a.Payload));
        IEnumerable<ReadOp> final =
            history.Final.Select(
                e => new ReadOp(-1, e.Position, LogHistory.Never - 1, LogHistory.Never, e.Kind, e.Payload));
        foreach (IGrouping<long, ReadOp> at in history.Reads.Concat(acknowledged).Concat(final)
            .GroupBy(r => r.Position))
        {
            ReadOp? value = null;
            long finalFrom = LogHistory.Never;
            foreach (ReadOp read in at.Where(r => r.Kind != SeenKind.Unwritten).OrderBy(r => r.End))
            {
                finalFrom = Math.Min(finalFrom, read.End);
                if (read.Kind == SeenKind.Trimmed)
                {
                    continue;
                }

                if (value is null)
                {
                    value = read;
                }
                else if (value.Kind != read.Kind || value.Payload != read.Payload)
                {
                    found.Add(new(CheckerNames.WriteOnce,
                        $"position {at.Key}: seen {history.Show(value)} and {history.Show(read)}"));
                }
            }

            foreach (ReadOp read in at.Where(r => r.Kind == SeenKind.Unwritten && r.Start > finalFrom))
            {
                found.Add(new(CheckerNames.WriteOnce,
                    $"position {at.Key}: unwritten {history.Show(read)} after a value had been seen there"));
            }

            long trimmed = at.Where(r => r.Kind == SeenKind.Trimmed).Select(r => r.End).DefaultIfEmpty(LogHistory.Never)
                .Min();
            foreach (ReadOp read in at.Where(
                r => r.Kind is SeenKind.Data or SeenKind.Junk && r.Start > trimmed && r.Client >= 0))
            {
                // The acknowledgement of an append may come after a trim of its position: that is no read.
                if (history.Appends.All(a => a.Position != read.Position || a.Start != read.Start))
                {
                    found.Add(new(CheckerNames.WriteOnce,
                        $"position {at.Key}: {history.Show(read)} after it had been seen trimmed"));
                }
            }
        }
    }

    /// <summary>A value that was read had been appended, and not in the reader's future; trimmed only where a client
    /// trims.</summary>
    public static void ReadsSeeWhatIsThere(LogHistory history, List<Violation> found)
    {
        Dictionary<long, AppendOp> byPayload = history.Appends.ToDictionary(a => a.Payload);
        foreach (ReadOp read in history.Reads)
        {
            if (read.Kind == SeenKind.Data)
            {
                if (!byPayload.TryGetValue(read.Payload, out AppendOp? append))
                {
                    found.Add(new(CheckerNames.ReadValue,
                        $"position {read.Position}: {history.Show(read)}, and no client appended it"));
                }
                else if (append.Start > read.End)
                {
                    found.Add(new(CheckerNames.ReadValue,
                        $"position {read.Position}: {history.Show(read)} before it was appended"));
                }
            }
            else if (read.Kind == SeenKind.Trimmed
                && !history.Trims.Any(
                    t => t.Start < read.End && (t.Prefix ? t.Position > read.Position : t.Position == read.Position)))
            {
                found.Add(new(CheckerNames.ReadValue,
                    $"position {read.Position}: {history.Show(read)} though no client had asked for a trim"));
            }
        }
    }
}
