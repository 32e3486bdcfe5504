using Tango.Ledgers.Records;

namespace Tango.Ledgers.Reading;

/// <summary>Finds entries along a ledger's spine, and keeps the spines that it has read.</summary>
internal sealed class SpineReader(ICorfuLog log, LogPlace key)
{
    private const int MaxKept = 64;

    private readonly Lock _gate = new();
    private readonly Dictionary<LogPosition, Spine> _kept = [];
    private readonly Queue<LogPosition> _order = new();

    /// <summary>The records that hold the entries from one to another, at most so many, in the order of
    /// ids.</summary>
    /// <param name="ahead">Records that the spine does not name.</param>
    public async ValueTask<List<SpineRange>> FindAsync(
        Spine root, ImmutableArray<SpineRange> ahead, long first, long last, int count,
        CancellationToken cancellationToken)
    {
        var found = new List<SpineRange>();
        while (first <= last && found.Count < count)
        {
            var range = first <= root.Through
                ? await FindAsync(root, first, cancellationToken)
                : ahead.FirstOrDefault(range => range.Has(first));
            if (range.Count == 0) break;
            found.Add(range);
            first = range.Last + 1;
        }

        return found;
    }

    /// <summary>All records of a spine: batches, and then the spines below it, each once. A caller may release each
    /// as it comes: two ranges may lead to one spine, and all have been read by then.</summary>
    public async IAsyncEnumerable<LogPosition> ListAsync(
        Spine spine, [System.Runtime.CompilerServices.EnumeratorCancellation] CancellationToken cancellationToken)
    {
        var open = new Stack<(SpineRange Range, int Level)>();
        var below = new HashSet<LogPosition>();
        Push(spine, Spine.LevelCount);
        while (open.TryPop(out var next))
        {
            if (next.Level == 0)
            {
                yield return next.Range.Position;
                continue;
            }

            below.Add(next.Range.Position);
            Push(await ReadAsync(next.Range.Position, cancellationToken), next.Level);
        }

        foreach (var position in below) yield return position;

        void Push(Spine node, int levels)
        {
            // Below the root, a range goes on in one level of the record that it names.
            for (var level = levels == Spine.LevelCount ? 0 : levels - 1; level < levels; level++)
            {
                foreach (var range in node.Levels[level]) open.Push((range, level));
            }
        }
    }

    /// <exception cref="LogTrimmedException">The ledger was moved or deleted.</exception>
    public async ValueTask<Spine> ReadAsync(LogPosition position, CancellationToken cancellationToken)
    {
        lock (_gate)
        {
            if (_kept.TryGetValue(position, out var kept)) return kept;
        }

        var result = (await log.ReadManyAsync([position], cancellationToken: cancellationToken))[0];
        if (result.State == PageState.Trimmed)
            throw new LogTrimmedException($"The spine of a ledger at {position}", position);
        var spine = result.IsData && LedgerRecord.Decode(result.Entry!.Payload) is { } record && record.Key == key
            ? record switch { SpineRecord s => s.Spine, CloseRecord c => c.Spine, _ => null }
            : null;
        if (spine is null) throw new TangoFormatException($"The log has no spine of the ledger at {position}");
        lock (_gate)
        {
            if (!_kept.TryAdd(position, spine)) return spine;
            _order.Enqueue(position);
            if (_order.Count > MaxKept) _kept.Remove(_order.Dequeue());
        }

        return spine;
    }

    private async ValueTask<SpineRange> FindAsync(Spine root, long id, CancellationToken cancellationToken)
    {
        var (spine, levels) = (root, Spine.LevelCount);
        while (true)
        {
            levels = spine.Find(id, levels, out var range);
            if (levels < 0) throw new TangoFormatException($"The spine of a ledger does not lead to entry {id}");
            if (levels == 0) return range;
            spine = await ReadAsync(range.Position, cancellationToken);
        }
    }
}
