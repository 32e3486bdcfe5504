namespace Tango.Ledgers.Records;

/// <summary>Entries that stand in one record, or that one record of a spine leads to.</summary>
internal readonly record struct SpineRange(long First, long Count, LogPosition Position)
{
    public long Last => First + Count - 1;

    public bool Has(long id) => id >= First && id <= Last;
}

/// <summary>The right edge of a tree over a ledger's batches, as a record of the log: levels of ranges, which together
/// name the ids 0 to <see cref="Through"/> once each. Ranges of level 0 are batches. A range of a higher level names
/// the spine in whose level below it goes on.</summary>
/// <param name="Length">Bytes of the entries 0 to <paramref name="Through"/>.</param>
/// <param name="Floor">Entries above <paramref name="Through"/>, and the ledger's end, stand at or above it.</param>
// B13: a writer's spine names acknowledged entries only, a recoverer's those below the end. The floor is not above what
// the writer has looked through for an end: a fence below the floor would be passed by readers.
internal sealed record Spine(
    long Through, long Length, LogPosition Floor, ImmutableArray<ImmutableArray<SpineRange>> Levels)
{
    public const int FanOut = 256;
    public const int LevelCount = 3;

    /// <summary>Most bytes of a range in a record: three numbers.</summary>
    public const int MaxRangeBytes = 27;

    /// <summary>The level whose ranges include the id; -1: none has it.</summary>
    public int Find(long id, int levels, out SpineRange range)
    {
        for (var level = 0; level < levels; level++)
        {
            var ranges = Levels[level].AsSpan();
            var (low, high) = (0, ranges.Length - 1);
            while (low <= high)
            {
                var middle = (low + high) / 2;
                range = ranges[middle];
                if (range.Has(id)) return level;
                if (range.First > id) high = middle - 1;
                else low = middle + 1;
            }
        }

        range = default;
        return -1;
    }
}

/// <summary>A spine that grows. Not safe for concurrent use.</summary>
internal sealed class SpineEdge
{
    private readonly List<SpineRange>[] _levels = [[], [], []];

    /// <summary>-1: nothing is named.</summary>
    public long Through { get; private set; } = -1;

    /// <summary>Bytes of all that is named.</summary>
    public long Length { get; private set; }

    /// <summary>Batches that no record of the spine names.</summary>
    public int Batches => _levels[0].Count;

    /// <summary>Whether a record of the spine is due.</summary>
    public bool IsFull => Batches >= Spine.FanOut;

    public void Add(long count, LogPosition position, long bytes)
    {
        _levels[0].Add(new SpineRange(Through + 1, count, position));
        Through += count;
        Length += bytes;
    }

    public Spine ToSpine(LogPosition floor) =>
        new(Through, Length, floor, [.. _levels.Select(static level => level.ToImmutableArray())]);

    /// <summary>The spine stands in the log: its full levels shrink to a range each. Batches that it does not name
    /// stay.</summary>
    public void Follow(Spine spine, LogPosition position)
    {
        List<SpineRange> later = spine.Through < Through
            ? [.. _levels[0].Where(range => range.First > spine.Through)]
            : [];
        if (spine.Through > Through) (Through, Length) = (spine.Through, spine.Length);
        for (var level = 0; level < Spine.LevelCount; level++)
        {
            _levels[level].Clear();
            _levels[level].AddRange(spine.Levels[level]);
        }

        for (var level = 0; level < Spine.LevelCount - 1; level++)
        {
            // A level above the lowest is folded with a full one below, so that one record holds both.
            if (_levels[level].Count == 0 || (level > 0 && spine.Levels[level].Length < Spine.FanOut)) break;
            var first = _levels[level][0].First;
            var folded = new SpineRange(first, spine.Levels[level][^1].Last - first + 1, position);
            var rest = _levels[level].Skip(spine.Levels[level].Length).ToArray();
            _levels[level].Clear();
            _levels[level].AddRange(rest);
            _levels[level + 1].Add(folded);
        }

        _levels[0].AddRange(later);
    }
}
