using Corfu.Simulation.Kernel.Seeds;
using Corfu.Simulation.Runner;

namespace Corfu.Simulation.Tests;

/// <summary>The check of coverage can fail: a run that lacks one situation is told so, by name.</summary>
public sealed class SituationsTests
{
    [Fact]
    public void Long_run_that_reached_every_situation_lacks_none()
        =>
        Assert.Empty(
            Situations.MissingIn(Runs(Situations.EnoughSeedsForAll, [.. Situations.Common, .. Situations.Rare])));

    [Fact]
    public void Each_situation_that_a_long_run_missed_is_named()
    {
        string[] all = [.. Situations.Common, .. Situations.Rare];
        foreach (string missed in all)
            Assert.Equal([missed],
                Situations.MissingIn(Runs(Situations.EnoughSeedsForAll, [.. all.Where(s => s != missed)])));
    }

    [Fact]
    public void A_shorter_run_must_reach_the_common_ones_and_a_short_one_none()
    {
        Assert.Equal(Situations.Common, Situations.MissingIn(Runs(Situations.EnoughSeeds, [])));
        Assert.Empty(Situations.MissingIn(Runs(Situations.EnoughSeeds - 1, [])));
        Assert.Equal(["asked for"], Situations.MissingIn(Runs(1, []), "asked for"));
    }

    // The first seed reached every situation, the rest none: once is enough.
    private static SeedResult[] Runs(int count, string[] reached) =>
    [
        .. Enumerable.Range(0, count).Select(i => new SeedResult
        {
            Seed = (ulong)i,
            Hash = 0,
            Operations = 0,
            Steps = 0,
            VirtualSeconds = 0,
            Marks = i > 0 ? [] : new SortedDictionary<string, long>(reached.ToDictionary(s => s, _ => 1L)),
        }),
    ];
}
