namespace Corfu.Checkers;

/// <summary>A batch by its run, its number and its header's digest.</summary>
public readonly record struct BatchFact(long Run, long Number, string Digest)
{
    public override string ToString() => $"({Run}, {Number})";
}

/// <summary>Proofs of one volume (`ordered`): what a proof says to be committed, with all before it, is in all correct
/// store of its regions. A batch that a later run has voided is never proven (`one-writer`); one that was proven is
/// never voided but by a loss on record (`loss-told`).</summary>
public sealed class CommitOrderCheck(string volume)
{
    // By number, the batches that were seen: several runs may have one number.
    private readonly SortedDictionary<long, List<(BatchFact Batch, IReadOnlyList<int> Regions)>> _batches = [];
    private readonly HashSet<(int Region, string Store, BatchFact Batch)> _held = [];

    // By region and store, everything up to that batch is in a checkpoint.
    private readonly Dictionary<(int Region, string Store), long> _covered = [];
    private readonly List<(BatchFact Batch, string By)> _proven = [];

    // Each run with the last batch that it found, and whether it gave up proven ones on record.
    private readonly SortedDictionary<long, (long Last, bool IsTold)> _runs = [];

    // All batches up to it were judged.
    private long _judged;

    /// <summary>The highest number that was proven.</summary>
    public long Proven => _proven.Count == 0 ? 0 : _proven.Max(proof => proof.Batch.Number);

    public void Sent(BatchFact batch, IReadOnlyList<int> regions)
    {
        if (!_batches.TryGetValue(batch.Number, out var same)) _batches.Add(batch.Number, same = []);
        if (!same.Exists(known => known.Batch == batch)) same.Add((batch, regions));
    }

    /// <summary>A store has the region's part of the batch durably.</summary>
    public void Held(int region, string store, BatchFact batch) => _held.Add((region, store, batch));

    /// <summary>A store has the region durably up to that batch, in a file.</summary>
    public void Covered(int region, string store, long number) =>
        _covered[(region, store)] = Math.Max(number, _covered.GetValueOrDefault((region, store)));

    /// <summary>The disk is gone, or shows what it once had.</summary>
    public void Lost(string store)
    {
        _held.RemoveWhere(held => held.Store == store);
        foreach (var key in _covered.Keys.Where(key => key.Store == store).ToArray()) _covered.Remove(key);
    }

    /// <summary>A run begins behind a batch.</summary>
    /// <param name="isTold">Proven batches above are given up, on record.</param>
    public Violation? Decided(long run, long last, bool isTold)
    {
        _runs[run] = (last, isTold);
        _judged = Math.Min(_judged, last);
        // Given up on record: a later run that begins below loses nothing more.
        if (isTold) _proven.RemoveAll(proof => proof.Batch.Run < run && proof.Batch.Number > last);
        foreach (var (batch, by) in _proven)
        {
            if (batch.Run < run && batch.Number > last && !isTold)
            {
                return new Violation(CheckerNames.LossTold,
                    $"run {run} of {volume} begins behind {last}, and {by} had proven {batch}");
            }
        }

        return null;
    }

    /// <summary>A proof was seen that all batches up to one are committed.</summary>
    /// <param name="by">The sender, for people.</param>
    /// <param name="stores">The correct stores of a region, by generation: the newest ones that have opened.</param>
    public Violation? Committed(
        BatchFact batch, string by, Func<int, IReadOnlyList<IReadOnlyList<string>>> stores)
    {
        if (_proven.Exists(proof => proof.Batch == batch) || _runs.Any(IsGivenUp)) return null;
        _proven.Add((batch, by));
        foreach (var (run, (last, _)) in _runs)
        {
            if (run > batch.Run && batch.Number > last)
            {
                return new Violation(CheckerNames.OneWriter,
                    $"{by} proves {batch} of {volume}, which run {run} has voided: it begins behind {last}");
            }
        }

        for (var number = _judged + 1; number <= batch.Number; number++)
        {
            if (Missing(number, batch, stores) is { } missing)
                return new Violation(CheckerNames.Ordered, $"{by} proves {batch} of {volume}, and {missing}");
        }

        _judged = Math.Max(_judged, batch.Number);
        return null;

        bool IsGivenUp(KeyValuePair<long, (long Last, bool IsTold)> run) =>
            run.Value.IsTold && run.Key > batch.Run && batch.Number > run.Value.Last;
    }

    private string? Missing(long number, BatchFact proven, Func<int, IReadOnlyList<IReadOnlyList<string>>> stores)
    {
        // The batch of the latest run that is not void as of the proven batch.
        var counting = _batches.GetValueOrDefault(number)?.Where(known => known.Batch.Run <= proven.Run
            && !_runs.Any(run => run.Key > known.Batch.Run && run.Key <= proven.Run && number > run.Value.Last))
            .OrderByDescending(known => known.Batch.Run).ToList();
        if (counting is not { Count: > 0 }) return $"no batch {number} was ever sent";
        var (batch, regions) = number == proven.Number
            ? counting.Find(known => known.Batch == proven)
            : counting[0];
        if (regions is null) return "no such batch was ever sent";
        foreach (var region in regions)
        {
            var generations = stores(region);
            if (generations.Count == 0 || generations.Any(members => members.All(Has))) continue;
            return $"{batch} is not at {string.Join(", ", generations[^1].Where(store => !Has(store)))} in region "
                + $"{region}";

            bool Has(string store) => _held.Contains((region, store, batch))
                || _covered.GetValueOrDefault((region, store)) >= number;
        }

        return null;
    }
}
