namespace Corfu.Checkers;

/// <summary>The contents of one region by its log (`root`): behind each record a model has the blocks' hashes, and the
/// root that the record says, or that a correct member tells, is the model's.</summary>
/// <param name="region">For people.</param>
/// <param name="rootOf">The hash tree over all blocks; an empty block has no text.</param>
public sealed class RegionContentCheck(string region, int blocks, Func<IReadOnlyList<string>, string> rootOf)
{
    // By the chain behind a record: the region there.
    private readonly Dictionary<string, Behind> _known = [];

    public bool Knows(string chain) => _known.ContainsKey(chain);

    /// <summary>A batch is in the log.</summary>
    /// <param name="previous">The chain before it; empty: the log begins.</param>
    /// <param name="root">As its header says.</param>
    public Violation? Put(string chain, string previous, BatchFact batch,
        IEnumerable<(int First, int Count, string Hash)> changes, string root, string by)
    {
        if (_known.ContainsKey(chain) || Find(previous) is not { } before) return null;
        var hashes = before.Hashes.ToArray();
        foreach (var (first, count, hash) in changes) hashes.AsSpan(first, count).Fill(hash);
        var expected = rootOf(hashes);
        _known.Add(chain, new Behind(batch, hashes, expected, previous));
        return expected == root
            ? null
            : new Violation(CheckerNames.Root,
                $"{by} has {batch} in {region} with root {root}, and the blocks give {expected}");
    }

    /// <summary>The region goes on behind an earlier batch, or behind the last one.</summary>
    public Violation? Open(string chain, string previous, BatchFact last, string by)
    {
        if (_known.ContainsKey(chain) || Find(previous) is not { } before) return null;
        var at = before;
        while (at is not null && !IsSame(at.Batch, last)) at = at.Batch.Number == 0 ? null : Find(at.Previous);
        if (at is null)
        {
            _known.Add(chain, before with { Previous = previous });
            return new Violation(CheckerNames.Root, $"{by} opens {region} behind {last}, which is not below");
        }

        _known.Add(chain, at with { Previous = at.Batch.Number == 0 ? previous : at.Previous });
        return null;
    }

    /// <summary>The region is the same behind the record.</summary>
    public void Other(string chain, string previous)
    {
        if (!_known.ContainsKey(chain) && Find(previous) is { } before) _known.Add(chain, before);
    }

    /// <summary>A correct member tells its root behind a batch of the log.</summary>
    public Violation? Told(BatchFact batch, string root, string by)
    {
        if (batch.Number == 0) return null;
        var known = _known.Values.FirstOrDefault(behind => behind.Batch == batch);
        return known is null || known.Root == root
            ? null
            : new Violation(CheckerNames.Root,
                $"{by} tells root {root} of {region} behind {batch}, and the blocks give {known.Root}");
    }

    // Before its first batch a region has none.
    private static bool IsSame(BatchFact a, BatchFact b) => a == b || (a.Number == 0 && b.Number == 0);

    private Behind? Find(string chain) => chain.Length == 0
        ? new Behind(default, new string[blocks].Select(_ => "").ToArray(), "", "")
        : _known.GetValueOrDefault(chain);

    // Previous: the chain before the batch.
    private sealed record Behind(BatchFact Batch, IReadOnlyList<string> Hashes, string Root, string Previous);
}
