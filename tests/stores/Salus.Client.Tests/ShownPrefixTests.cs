using Salus.Runs;

namespace Salus.Client.Tests;

/// <summary>The batch that all regions can return to, against the whole history of the volume.</summary>
public sealed class ShownPrefixTests
{
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void Prefix_ends_before_the_first_batch_that_a_region_lacks(int seed)
    {
        var random = new Random(seed);
        for (var round = 0; round < 200; round++)
        {
            var volume = new Written(random, regions: random.Next(1, 6), batches: random.Next(2, 30));
            var stable = random.Next(volume.Batches.Count);
            var kept = volume.Regions.Select(region => random.Next(3) == 0
                ? region.Where(batch => batch.Name.Number <= stable || random.Next(4) > 0).TakeWhile(
                    (batch, place) => batch == region[place]).ToArray()
                : [.. region]).ToArray();
            var lost = volume.Batches.FirstOrDefault(name => Enumerable.Range(0, kept.Length).Any(region =>
                volume.Regions[region].Exists(batch => batch.Name == name)
                && !kept[region].Any(batch => batch.Name == name)));
            if (lost.IsNone) continue;
            var (shown, lacking) = ShownPrefix.Of(
                [.. kept.Select(region => Above(region, random.Next(stable + 1)))], None(kept.Length), stable,
                volume.Batches[^1]);
            var expected = lost.Number - 1;
            Assert.Equal(expected, shown!.Value.Batch.Number);
            Assert.Equal(expected == 0 ? default : volume.Batches[(int)expected - 1].Run, shown.Value.Batch.Run);
            Assert.Equal(volume.Roots[(int)expected], shown.Value.VolumeRoot);
            Assert.Contains(lacking, region => volume.Regions[region].Exists(batch => batch.Name == lost)
                && !kept[region].Any(batch => batch.Name == lost));
        }
    }

    /// <summary>A history that fills its answer tells nothing below, so that the roots there are not known.</summary>
    [Fact]
    public void Histories_without_a_common_batch_show_none()
    {
        var volume = new Written(new Random(4), regions: 2, batches: 12);
        var first = volume.Regions[0];
        var full = Above([.. first], first[^2].Name.Number) with
        {
            Batches = [.. Enumerable.Repeat(first[^1], RegionHistoryRequest.MaxBatches)],
        };
        Assert.Null(ShownPrefix.Of([full, Above([.. volume.Regions[1].Take(1)], 0)], None(2), stable: 0,
            volume.Batches[^1]).Batch);
    }

    /// <summary>Seed 1837 of the simulator: all copies of a region had lost records below a checkpoint, and others
    /// their newest batches. No batch was found, and no operator could give anything up.</summary>
    [Fact]
    public void Region_that_is_broken_below_a_checkpoint_returns_to_the_stable_point()
    {
        var volume = new Written(new Random(4), regions: 2, batches: 12);
        var (first, second) = (volume.Regions[0], volume.Regions[1]);
        var stable = first[1].Name.Number;
        var floor = new CheckpointName(1, 5, first[1].Name.Run, stable, first[1].Root, default);
        var (shown, lacking) = ShownPrefix.Of(
            [
                Above([.. first], first[^2].Name.Number),
                Above([.. second.TakeWhile(batch => batch.Name.Number <= stable)], 0),
            ],
            [[floor, floor with { Number = 2, Batch = first[^2].Name.Number }], []], stable, volume.Batches[^1]);
        Assert.Equal(stable, shown!.Value.Batch.Number);
        Assert.Equal(volume.Roots[(int)stable], shown.Value.VolumeRoot);
        Assert.Contains(0, lacking);
    }

    private static ImmutableArray<ImmutableArray<CheckpointName>> None(int regions) =>
        [.. Enumerable.Repeat(ImmutableArray<CheckpointName>.Empty, regions)];

    // The region's batches above a number; what is below is told as one.
    private static RegionHistoryResponse Above(RegionBatch[] region, long from)
    {
        var below = region.LastOrDefault(batch => batch.Name.Number <= from);
        return new RegionHistoryResponse(Status.Ok, Epoch.First)
        {
            Base = below.Name with { Digest = default },
            BaseRoot = below.Root,
            Batches = [.. region.Where(batch => batch.Name.Number > from)],
        };
    }

    // A volume whose every batch changes one to three regions.
    private sealed class Written
    {
        public Written(Random random, int regions, int batches)
        {
            var top = new VolumeTop(regions);
            for (var i = 0; i < regions; i++) Regions.Add([]);
            for (var number = 1; number <= batches; number++)
            {
                var name = new BatchName(1 + (number / 10), number, Hash128.Of([1], number));
                var changed = Enumerable.Range(0, regions).OrderBy(_ => random.Next()).Take(random.Next(1, 4)).ToList();
                foreach (var region in changed) top.Set(region, Hash128.Of([2, (byte)region], number));
                foreach (var region in changed) Regions[region].Add(new RegionBatch(name, top[region], top.Root));
                Batches.Add(name);
                Roots.Add(top.Root);
            }
        }

        public List<List<RegionBatch>> Regions { get; } = [];

        public List<BatchName> Batches { get; } = [];

        /// <summary>By number; 0: the empty volume.</summary>
        public List<Hash128> Roots { get; } = [default];
    }
}
