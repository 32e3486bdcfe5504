using CsCheck;
using static Salus.Coordination.Tests.Support.TestVolume;

namespace Salus.Coordination.Tests;

/// <summary>The prefix with which a run begins, by examples and against a model that has the whole history.</summary>
public sealed class CommittablePrefixTests
{
    private static readonly Certificate s_any = new(Epoch.First, [new WeakSignature(Hash(1))]);

    private static readonly Gen<History> s_histories =
        from regions in Gen.Int[1, 4]
        from batches in Gen.Int[1, (1 << regions) - 1].Array[0, 12]
        from lengths in Gen.Int[0, 12].Array[regions]
        from known in Gen.Int[0, 12].Array[regions]
        select new History(regions, batches, lengths, known);

    [Fact]
    public void Empty_volume_has_no_batch_to_decide()
    {
        var result = Of(null, [], Report(null, null), Report(null, null));
        Assert.Null(result.Shortfall);
        Assert.Equal((0L, default), (result.Batch.Number, result.Root));
    }

    [Fact]
    public void Batch_that_all_participants_have_counts()
    {
        var result = Of(null, [], Report(null, null, Reported(1, 1, 0), Reported(1, 2, 0, 1)),
            Report(null, null, Reported(1, 2, 0, 1)));
        Assert.Equal((Batch(1, 2), Root(2)), (result.Batch, result.Root));
    }

    [Fact]
    public void Batch_that_one_participant_lacks_ends_the_prefix()
    {
        var result = Of(null, [], Report(null, null, Reported(1, 1, 0), Reported(1, 2, 0, 1), Reported(1, 3, 0)),
            Report(null, null));
        Assert.Equal(Batch(1, 1), result.Batch);
    }

    [Fact]
    public void Marker_needs_every_region()
    {
        Assert.Equal(Batch(1, 1), Of(null, [], Report(null, null, Reported(1, 1)),
            Report(null, null, Reported(1, 1))).Batch);
        Assert.True(Of(null, [], Report(null, null, Reported(1, 1)), Report(null, null)).Batch.IsNone);
    }

    /// <summary>S15: batch 7 of a dead run in region 0 and of the next one in region 1 make no batch.</summary>
    [Fact]
    public void Batches_of_two_runs_with_one_number_are_two()
    {
        var result = Of(null, [], Report(null, null, Reported(1, 1, 0, 1)), Report(null, null, Reported(2, 1, 0, 1)));
        Assert.True(result.Batch.IsNone);
    }

    [Fact]
    public void Batch_of_a_lower_run_does_not_follow_a_later_one()
    {
        var result = Of(null, [], Report(null, null, Reported(2, 1, 0), Reported(1, 2, 0)));
        Assert.Equal(Batch(2, 1), result.Batch);
    }

    [Fact]
    public void Batch_that_a_decision_voided_never_counts()
    {
        var bar = new RunDecision(2, Batch(1, 1), Root(1), []);
        var result = Of(bar, [new Evidence(Batch(1, 1), Root(1), null)],
            Report(null, null, Reported(1, 1, 0), Reported(1, 2, 0)));
        Assert.Equal(Batch(1, 1), result.Batch);
        // Nor does its proof.
        result = Of(bar, [new Evidence(Batch(1, 1), Root(1), null)],
            Report(Proof(0, Batch(1, 3)), Reported(1, 3, 0)));
        Assert.Equal(Batch(1, 1), result.Batch);
    }

    /// <summary>S20: a region knows that more is committed than another one can show.</summary>
    [Fact]
    public void Proof_above_the_batches_of_a_region_makes_the_run_wait()
    {
        var known = Report(Proof(0, Batch(1, 3)), Reported(1, 3, 0), []);
        var shortfall = Of(null, [], known with { Last = Reported(1, 3, 0, 1) },
            Report(null, null, Reported(1, 1, 1))).Shortfall!;
        Assert.Equal([1], shortfall.Regions);
        Assert.Equal((Batch(1, 3), 2L), (shortfall.Proven, shortfall.Shown));
        // The leader itself.
        shortfall = Of(null, [], Report(null, null), Report(Proof(0, Batch(1, 3)), null)).Shortfall!;
        Assert.Equal([0], shortfall.Regions);
    }

    [Fact]
    public void Note_of_the_driver_is_a_proof_with_a_root()
    {
        var note = new Evidence(Batch(1, 5), Root(5), null);
        Assert.Equal((Batch(1, 5), Root(5)),
            (Of(null, [note], Report(null, null)).Batch, Of(null, [note], Report(null, null)).Root));
    }

    [Fact]
    public void Checkpoint_is_a_proof_whose_root_the_header_tells()
    {
        var file = new Evidence(new BatchName(1, 2, default), null, 0);
        var result = Of(null, [file], Report(null, null, Reported(1, 2, 0)));
        Assert.Equal((Batch(1, 2), Root(2)), (result.Batch, result.Root));
        Assert.Equal([0], Of(null, [file], Report(null, null)).Shortfall!.Regions);
    }

    /// <summary>Region 0 has batch 2 in a checkpoint, and its log no longer has the header.</summary>
    [Fact]
    public void Batch_in_a_checkpoint_is_not_missing()
    {
        Evidence[] known = [new(new BatchName(1, 2, default), null, 0), new(Batch(1, 5), Root(5), null)];
        var other = Report(Proof(1, Batch(1, 5)), Reported(1, 2, 0, 1)) with { Committed = Proof(0, Batch(1, 2)) };
        Assert.Equal(Batch(1, 5), Of(null, known, Report(null, null), other).Batch);
        Assert.Equal([0], Of(null, known[1..], Report(null, null), other).Shortfall!.Regions);
    }

    /// <summary>Every region has a prefix of its part, and knows a proof of what all of them have: the prefix is what
    /// the model finds by looking at the whole history.</summary>
    [Fact]
    public void Prefix_is_the_models() => s_histories.Sample(history =>
    {
        var model = history.Model();
        var known = history.Known.Select(proof => Math.Min(proof, model)).ToArray();
        var result = Of(null, [], [.. history.Reports(known)]);
        Assert.Null(result.Shortfall);
        Assert.Equal(model, result.Batch.Number);
        Assert.Equal(Root(model), result.Root);
    }, iter: 2_000);

    /// <summary>Proofs may be of more than regions have: never is less than a proof taken, and where something is said
    /// to be missing, it is.</summary>
    [Fact]
    public void Prefix_is_never_below_a_proof() => s_histories.Sample(history =>
    {
        var known = history.Known.Select(proof => Math.Min(proof, history.Batches.Length)).ToArray();
        var result = Of(null, [], [.. history.Reports(known)]);
        var proven = known.Max();
        if (result.Shortfall is not { } shortfall)
        {
            Assert.True(result.Batch.Number >= proven);
            return;
        }

        Assert.Equal(proven, shortfall.Proven.Number);
        Assert.All(shortfall.Regions, region => Assert.True(history.Lacks(region, proven)));
    }, iter: 2_000);

    private static PrefixResult Of(
        RunDecision? bar, IEnumerable<Evidence> evidence, params ImmutableArray<RegionReport> reports) =>
        CommittablePrefix.Of(reports, evidence, bar);

    private static RegionReport Report(
        CommitProof? proof, ReportedBatch? last, params ImmutableArray<ReportedBatch> above) =>
        new(9, proof, last, above);

    private static CommitProof Proof(int leader, BatchName batch) => new(leader, batch, s_any);

    /// <param name="Batches">The participants of batches 1, 2, ... as bits.</param>
    /// <param name="Lengths">The last batch that each region has of its part.</param>
    /// <param name="Known">The batch up to which each region has a proof.</param>
    private sealed record History(int Regions, int[] Batches, int[] Lengths, int[] Known)
    {
        public int Model()
        {
            var batch = 0;
            while (batch < Batches.Length && Enumerable.Range(0, Regions).All(region => Has(region, batch + 1)))
                batch++;
            return batch;
        }

        public bool Lacks(int region, int proven) =>
            Enumerable.Range(1, proven).Any(batch => !Has(region, batch));

        public IEnumerable<RegionReport> Reports(int[] known)
        {
            for (var region = 0; region < Regions; region++)
            {
                var (proof, mine) = (known[region], Mine(region).ToArray());
                yield return Report(proof == 0 ? null : Proof(Leader(proof), Batch(1, proof)),
                    mine.LastOrDefault(batch => batch.Name.Number <= proof),
                    [.. mine.Where(batch => batch.Name.Number > proof)]);
            }
        }

        private bool TakesPart(int region, int batch) => (Batches[batch - 1] & (1 << region)) != 0;

        private bool Has(int region, int batch) => !TakesPart(region, batch) || batch <= Lengths[region];

        private int Leader(int batch) => Enumerable.Range(0, Regions).First(region => TakesPart(region, batch));

        private IEnumerable<ReportedBatch> Mine(int region) =>
            from batch in Enumerable.Range(1, Batches.Length)
            where TakesPart(region, batch) && batch <= Lengths[region]
            select Reported(1, batch, [.. Enumerable.Range(0, Regions).Where(other => TakesPart(other, batch))]);
    }
}
