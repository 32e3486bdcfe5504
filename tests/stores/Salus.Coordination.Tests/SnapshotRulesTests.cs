using Salus.Coordination.Rules;
using Salus.Coordination.Tests.Support;
using static Salus.Coordination.Tests.Support.TestVolume;

namespace Salus.Coordination.Tests;

public sealed class SnapshotRulesTests
{
    private readonly TestVolume _volume = new();

    public SnapshotRulesTests() => _volume.Open();

    [Fact]
    public void Snapshot_is_complete_when_every_region_has_cut_at_the_marker()
    {
        var top = new VolumeTop(2);
        top.Set(0, Hash(70));
        top.Set(1, Hash(71));
        _volume.Must(Record("snap", Batch(1, 7), top.Root));
        Assert.Equal(SnapshotState.Cutting, State());
        _volume.Must(_volume.Publish(0, File(1, 1, 7, Hash(70))));
        _volume.Must(_volume.Publish(1, File(1, 1, 6, Hash(9))));
        Assert.Equal(SnapshotState.Cutting, State());
        _volume.Must(_volume.Publish(1, File(2, 1, 7, Hash(71))));
        Assert.Equal(SnapshotState.Complete, State());
    }

    [Fact]
    public void Snapshot_whose_checkpoints_make_another_root_is_told()
    {
        _volume.Must(Record("snap", Batch(1, 7), Hash(1)));
        foreach (var region in (ReadOnlySpan<int>)[0, 1]) _volume.Must(_volume.Publish(region, File(1, 1, 7)));
        Assert.Equal(SnapshotState.Diverged, State());
    }

    /// <summary>S22: a marker that is not proven may be void after the writer's crash.</summary>
    [Fact]
    public void Marker_is_proven_committed_in_this_run()
    {
        _volume.MustNot(Record("snap", Batch(1, 7), Hash(1), committed: 6), "not proven");
        _volume.MustNot(Record("snap", Batch(2, 7), Hash(1)), "not proven");
        _volume.MustNot(Record("snap", default, Hash(1)), "not proven");
        _volume.MustNot(Record("", Batch(1, 7), Hash(1)), "name");
        _volume.MustNot(SnapshotRules.Record(_volume.State, 2, "snap", Batch(1, 7), Hash(1),
            _volume.Proof(0, Batch(1, 7))), "at run 1");
        _volume.Must(Record("snap", Batch(1, 7), Hash(1)));
        Assert.Same(_volume.State, Record("snap", Batch(1, 7), Hash(1)).State);
        _volume.MustNot(Record("snap", Batch(1, 8), Hash(1)), "there is a snapshot");
    }

    [Fact]
    public void Marker_that_a_region_has_passed_is_refused()
    {
        _volume.Must(_volume.Publish(0, File(1, 1, 8)));
        _volume.MustNot(Record("snap", Batch(1, 7), Hash(1)), "another marker");
    }

    [Fact]
    public void Checkpoints_of_a_snapshot_stay_until_the_snapshot_is_deleted()
    {
        _volume.Must(Record("snap", Batch(1, 7), Hash(1)));
        foreach (var (number, batch) in ((long, long)[])[(1, 5), (2, 7), (3, 7), (4, 9), (5, 20)])
            _volume.Must(_volume.Publish(0, File(number, 1, batch)));
        _volume.Must(_volume.Note(30, 30));
        // The newest of the marker: a compaction has replaced the inputs of the other.
        Assert.Equal([3L, 5L], _volume[0].Checkpoints.Select(file => file.Number));
        _volume.Must(SnapshotRules.Delete(_volume.State, "snap"));
        Assert.Equal([5L], _volume[0].Checkpoints.Select(file => file.Number));
        Assert.Same(_volume.State, SnapshotRules.Delete(_volume.State, "snap").State);
    }

    [Fact]
    public void Snapshots_are_bounded()
    {
        for (var i = 1; i <= CoordinationLimits.MaxSnapshots; i++) _volume.Must(Record($"{i}", Batch(1, i), Hash(1)));
        _volume.MustNot(Record("more", Batch(1, 999), Hash(1)), "delete one");
    }

    private SnapshotState State() => Assert.Single(_volume.State.Head.Snapshots).State;

    private VolumeRuling Record(string name, BatchName marker, Hash128 root, long? committed = null) =>
        SnapshotRules.Record(_volume.State, _volume.State.Head.Run, name, marker, root,
            _volume.Proof(0, Batch(marker.Run, committed ?? marker.Number)));
}
