namespace Salus.Coordination.Rules;

/// <summary>Snapshots: each is a marker, which every region cuts where it stands in its log (S22). Pure.</summary>
internal static class SnapshotRules
{
    /// <summary>Asks the writer for a snapshot.</summary>
    public static VolumeRuling Want(VolumeState state, string name)
    {
        if (state.Head.Geometry is null) return Verdict.Refuse(state, "the volume is not made yet");
        if (FaultOf(state, name) is { } fault) return Verdict.Refuse(state, fault);
        if (Find(state, name) is { } there)
        {
            return there.State == SnapshotState.Wanted
                ? Verdict.Same(state)
                : Verdict.Refuse(state, $"there is a snapshot {name}: delete it, or take another name");
        }

        return Verdict.Head(state, state.Head with
        {
            Snapshots = state.Head.Snapshots.Add(new SnapshotEntry(name, default, default, SnapshotState.Wanted)),
        });
    }

    /// <param name="marker">A batch of this run, in which all regions take part.</param>
    /// <param name="proof">The marker is committed.</param>
    public static VolumeRuling Record(
        VolumeState state, long run, string name, BatchName marker, Hash128 root, CommitProof proof)
    {
        if (Verdict.FaultOf(state, run, RunPhase.Opened) is { } fault) return Verdict.Refuse(state, fault);
        var there = Find(state, name);
        if (there is not null && there.State != SnapshotState.Wanted)
        {
            return there.Marker == marker
                ? Verdict.Same(state)
                : Verdict.Refuse(state, $"there is a snapshot {name}: delete it, or take another name");
        }

        if (there is null && FaultOf(state, name) is { } refused) return Verdict.Refuse(state, refused);

        // A marker that is not proven may be void after the writer's crash, with one region's part there (S22).
        if (marker.IsNone || marker.Run != run || proof.Batch.Run != run || proof.Batch.Number < marker.Number
            || !state.Proves(proof))
            return Verdict.Refuse(state, "the marker is not proven committed in this run");
        foreach (var (region, known) in state.Regions)
        {
            if (known.Newest.Batch > marker.Number && !known.Checkpoints.Any(file => Retention.IsAt(file, marker)))
            {
                return Verdict.Refuse(state,
                    $"region {region} has gone past the marker without keeping it: send another marker");
            }
        }

        var snapshot = new SnapshotEntry(name, marker, root, SnapshotState.Cutting);
        var snapshots = there is null
            ? state.Head.Snapshots.Add(snapshot)
            : state.Head.Snapshots.Replace(there, snapshot);
        return Complete(Verdict.Head(state, state.Head with { Snapshots = snapshots }).State);
    }

    public static VolumeRuling Delete(VolumeState state, string name)
    {
        var left = state.Head.Snapshots.RemoveAll(snapshot => snapshot.Name == name);
        return left.Length == state.Head.Snapshots.Length
            ? Verdict.Same(state)
            : new(Retention.Trim(Verdict.Head(state, state.Head with { Snapshots = left }).State), null);
    }

    /// <summary>Completes the snapshots that all regions have a checkpoint of.</summary>
    public static VolumeRuling Complete(VolumeState state)
    {
        var snapshots = state.Head.Snapshots;
        for (var i = 0; i < snapshots.Length; i++)
        {
            if (snapshots[i].State != SnapshotState.Cutting || RootOf(state, snapshots[i]) is not { } root) continue;
            snapshots = snapshots.SetItem(i, snapshots[i] with
            {
                State = root == snapshots[i].VolumeRoot ? SnapshotState.Complete : SnapshotState.Diverged,
            });
        }

        return new(state with { Head = state.Head with { Snapshots = snapshots } }, null);
    }

    private static SnapshotEntry? Find(VolumeState state, string name) =>
        state.Head.Snapshots.FirstOrDefault(known => known.Name == name);

    private static string? FaultOf(VolumeState state, string name)
    {
        if (!CoordinationLimits.IsName(name))
            return $"a snapshot's name has 1 to {CoordinationLimits.MaxName} bytes";
        return state.Head.Snapshots.Length >= CoordinationLimits.MaxSnapshots
            ? $"the volume has {CoordinationLimits.MaxSnapshots} snapshots, its most: delete one"
            : null;
    }

    // Null: a region has no checkpoint of the marker.
    private static Hash128? RootOf(VolumeState state, SnapshotEntry snapshot)
    {
        var top = new VolumeTop(state.Regions.Count);
        foreach (var (region, known) in state.Regions)
        {
            var at = known.Checkpoints.FirstOrDefault(checkpoint => Retention.IsAt(checkpoint, snapshot.Marker));
            if (at.IsNone) return null;
            top.Set(region, at.Root);
        }

        return top.Root;
    }
}
