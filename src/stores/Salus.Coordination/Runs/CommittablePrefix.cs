namespace Salus.Coordination;

/// <summary>A batch that is known to be committed with all before it.</summary>
/// <param name="Batch">The digest may be missing: a checkpoint has none.</param>
/// <param name="Root">The volume's root after it; null: the headers tell.</param>
/// <param name="Region">A region that has the batch; null: no particular one.</param>
internal readonly record struct Evidence(BatchName Batch, Hash128? Root, int? Region);

/// <summary>The end of the prefix, or why it cannot be given.</summary>
internal readonly record struct PrefixResult(BatchName Batch, Hash128 Root, RunShortfall? Shortfall);

/// <summary>The prefix of batches with which a run begins. Pure.</summary>
/// <remarks>
/// All batches up to the highest proof are committed (S20). Above, batches count as long as each follows the one before
/// by number, in the same or a later run, and all its participants have it under one name (S15).
/// </remarks>
internal static class CommittablePrefix
{
    /// <param name="reports">Each region has a report.</param>
    /// <param name="evidence">Besides the proofs in the reports.</param>
    /// <param name="bar">The last decision that was acted upon: what it voids counts for nothing. Null: none.</param>
    public static PrefixResult Of(
        ImmutableArray<RegionReport> reports, IEnumerable<Evidence> evidence, RunDecision? bar)
    {
        var batches = BatchesOf(reports, bar);
        ImmutableArray<Evidence> known = [.. evidence];
        var proven = Highest(reports, known, bar);
        if (FirstMissing(reports, batches, proven, FloorsOf(reports.Length, known, bar), bar) is { } shortfall)
            return new(default, default, shortfall);
        var (last, root) = (proven.Batch, proven.Root);
        if (!last.IsNone && batches.TryGetValue(last.Number, out var there) && IsSame(there.Name, last))
            (last, root) = (there.Name, there.VolumeRoot);
        // The header of the highest proven batch is in the log of its leader: then that log is what is missing.
        if (root is null) return new(default, default, Lacks(proven, last.Number - 1, AllOrOne(reports, proven)));
        while (batches.TryGetValue(last.Number + 1, out var next) && next.Name.Run >= last.Run
            && AllHave(reports, next, bar))
            (last, root) = (next.Name, next.VolumeRoot);
        return new(last, root.Value, null);
    }

    /// <summary>Whether a region has the batch, as a part of its log that counts.</summary>
    public static bool Has(RegionReport report, in BatchName batch, RunDecision? bar)
    {
        if (report.Last is { } last)
        {
            // Batches that the decision voids are rolled back, to the batches up to the decision's.
            if (bar?.Voids(last.Name) == true ? batch.Number <= bar.Batch.Number : batch.Number < last.Name.Number)
                return true;
            if (last.Name == batch) return true;
        }

        foreach (var above in report.Above)
        {
            if (above.Name == batch || (Planted.Is("batches-by-number") && above.Name.Number == batch.Number))
                return true;
        }

        return false;
    }

    /// <summary>The batch of that number that counts, where a report has it.</summary>
    public static ReportedBatch? Find(ImmutableArray<RegionReport> reports, long number, RunDecision? bar) =>
        BatchesOf(reports, bar).GetValueOrDefault(number);

    /// <summary>The last batch up to that number that counts, where a report has one.</summary>
    public static ReportedBatch? LastUpTo(ImmutableArray<RegionReport> reports, long number, RunDecision? bar) =>
        BatchesOf(reports, bar).LastOrDefault(batch => batch.Key <= number).Value;

    // By number. A batch of a later run has voided those of lower runs at its number and above: the latest run counts.
    private static SortedDictionary<long, ReportedBatch> BatchesOf(
        ImmutableArray<RegionReport> reports, RunDecision? bar)
    {
        var batches = new SortedDictionary<long, ReportedBatch>();
        foreach (var report in reports)
        {
            if (report.Last is { } last) Add(last);
            foreach (var batch in report.Above) Add(batch);
        }

        return batches;

        void Add(ReportedBatch batch)
        {
            if (bar?.Voids(batch.Name) == true) return;
            if (!batches.TryGetValue(batch.Name.Number, out var other) || other.Name.Run < batch.Name.Run)
                batches[batch.Name.Number] = batch;
        }
    }

    private static Evidence Highest(
        ImmutableArray<RegionReport> reports, IEnumerable<Evidence> evidence, RunDecision? bar)
    {
        // Nothing at all: an empty volume, whose root is empty.
        var highest = new Evidence(default, default(Hash128), null);
        foreach (var report in reports)
        {
            if (report.Committed is { } proof) Take(new Evidence(proof.Batch, null, proof.Leader));
        }

        foreach (var one in evidence) Take(one);
        return highest;

        void Take(in Evidence one)
        {
            if (bar?.Voids(one.Batch) == true) return;
            if (one.Batch.Number < highest.Batch.Number && !Planted.Is("shortest-report-wins")) return;
            // A proof with a root says more of the same batch.
            if (one.Batch.Number == highest.Batch.Number && (highest.Root is not null || one.Root is null)) return;
            highest = one;
        }
    }

    // By region, the batch up to which its checkpoint has everything: its log may have no header of them any more.
    private static long[] FloorsOf(int regions, ImmutableArray<Evidence> evidence, RunDecision? bar)
    {
        var floors = new long[regions];
        foreach (var one in evidence)
        {
            if (one is { Region: { } region, Batch.Digest.IsEmpty: true } && bar?.Voids(one.Batch) != true)
                floors[region] = Math.Max(floors[region], one.Batch.Number);
        }

        return floors;
    }

    private static RunShortfall? FirstMissing(ImmutableArray<RegionReport> reports,
        SortedDictionary<long, ReportedBatch> batches, in Evidence proven, long[] floors, RunDecision? bar)
    {
        foreach (var (number, batch) in batches)
        {
            if (number > proven.Batch.Number) break;
            var lacking = ImmutableArray.CreateBuilder<int>();
            for (var region = 0; region < reports.Length; region++)
            {
                if (number > floors[region] && TakesPart(batch, region) && !Has(reports[region], batch.Name, bar))
                    lacking.Add(region);
            }

            if (lacking.Count > 0) return Lacks(proven, number - 1, lacking.ToImmutable());
        }

        // The leader of a proven batch takes part in it.
        return proven is { Region: { } leader, Batch.Digest.IsEmpty: false }
            && proven.Batch.Number > floors[leader] && !Has(reports[leader], proven.Batch, bar)
            ? Lacks(proven, proven.Batch.Number - 1, [leader])
            : null;
    }

    private static bool AllHave(ImmutableArray<RegionReport> reports, ReportedBatch batch, RunDecision? bar)
    {
        if (Planted.Is("any-participant-counts")) return true;
        for (var region = 0; region < reports.Length; region++)
        {
            if (TakesPart(batch, region) && !Has(reports[region], batch.Name, bar)) return false;
        }

        return true;
    }

    private static bool TakesPart(ReportedBatch batch, int region) =>
        batch.Participants.IsEmpty || batch.Participants.AsSpan().BinarySearch(region) >= 0;

    private static bool IsSame(in BatchName batch, in BatchName proven) =>
        proven.Digest.IsEmpty ? batch.Run == proven.Run : batch == proven;

    private static ImmutableArray<int> AllOrOne(ImmutableArray<RegionReport> reports, in Evidence proven) =>
        proven.Region is { } region ? [region] : [.. Enumerable.Range(0, reports.Length)];

    private static RunShortfall Lacks(in Evidence proven, long shown, ImmutableArray<int> regions) =>
        new(regions, proven.Batch, Math.Max(0, shown));
}
