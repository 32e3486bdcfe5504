using Salus.Coordination.Tests.Support;

namespace Salus.Coordination.Tests.Admin;

public sealed class VolumeConditionTests
{
    /// <summary>The region was said to be recovering, for as long as its stores were away.</summary>
    [Fact]
    public void Region_whose_stores_are_all_away_names_the_stores()
    {
        var volume = new TestVolume(regions: 1);
        volume.Must(volume.Replace(0, 3, 4));
        volume.Must(volume.Replace(0, 4, 5));
        var waiting = ConditionOf(volume, live: [4, 5], gone: [0, 1, 3]);
        Assert.Equal(VolumeHealth.Waiting, waiting.Health);
        Assert.Equal($"region 0: store {TestVolume.Store(0)} or store {TestVolume.Store(1)} had it and is away: start "
            + "the process, or forget the stores if they never return", Assert.Single(waiting.Notes));
        Assert.Equal(VolumeHealth.Recovering, ConditionOf(volume, live: [1, 4, 5], gone: [0, 3]).Health);
    }

    /// <summary>The condition had a sentence for each region of a lost store.</summary>
    [Fact]
    public void Regions_with_the_same_trouble_share_a_sentence()
    {
        var volume = new TestVolume(regions: 3);
        Assert.Equal("regions 0 to 2: all stores that had blocks were forgotten; they cannot be read",
            Assert.Single(ConditionOf(volume, live: [], gone: []).Notes));
    }

    private static VolumeCondition ConditionOf(TestVolume volume, int[] live, int[] gone)
    {
        var stores = live.Concat(gone).ToImmutableSortedDictionary(static number => TestVolume.Store(number).Value,
            number => new BookedNode(TestVolume.Store(number), TestVolume.Name(number),
                new NodeEndpoint("127.0.0.1", number + 1), "", 1L << 40,
                live.Contains(number) ? BookedState.Live : BookedState.Gone, 1));
        var entry = new VolumeEntry(TestVolume.Id, volume.State.Head.Geometry!, VolumeStage.Ready);
        return VolumeCondition.Of("disk", MapView.Empty with
        {
            Nodes = new NodeBookView(1, stores),
            Entries = MapView.Empty.Entries.Add("disk", entry),
            Volumes = MapView.Empty.Volumes.Add(TestVolume.Id, volume.State),
        })!;
    }
}
