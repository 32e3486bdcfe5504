namespace Salus.Coordination.Rules;

/// <summary>The checkpoints and generations that a volume keeps (S19). Pure.</summary>
internal static class Retention
{
    private const int MostUnadmitted = 8;

    /// <summary>The checkpoints that something needs: the newest that the stable point has reached, those above, and
    /// those of snapshots (S19).</summary>
    public static ImmutableArray<CheckpointName> Kept(ImmutableArray<CheckpointName> checkpoints, VolumeHead head)
    {
        var floor = -1;
        for (var i = 0; i < checkpoints.Length; i++)
        {
            if (checkpoints[i].Batch <= head.Stable || Planted.Is("freed-at-own-floor")) floor = i;
        }

        var kept = checkpoints.RemoveRange(0, Math.Max(0, floor));
        for (var i = floor - 1; i >= 0; i--)
        {
            if (head.Snapshots.Any(snapshot => IsAt(checkpoints[i], snapshot.Marker)
                && !IsAt(checkpoints[i + 1], snapshot.Marker)))
                kept = kept.Insert(0, checkpoints[i]);
        }

        return kept;
    }

    /// <summary>The state with what a new stable point, or the end of a snapshot, has made unneeded gone.</summary>
    public static VolumeState Trim(VolumeState state)
    {
        var regions = state.Regions.ToBuilder();
        foreach (var (region, known) in state.Regions)
        {
            var kept = Kept(known.Checkpoints, state.Head);
            var past = Needed(known.Past, state.Head.Stable, known.Current);
            if (kept.Length != known.Checkpoints.Length || past.Length != known.Past.Length)
                regions[region] = known with { Checkpoints = kept, Past = past };
        }

        return state with { Regions = regions.ToImmutable() };
    }

    /// <summary>The earlier generations that a certificate or a recovery may still name.</summary>
    /// <param name="current">Null: it is the last of <paramref name="past"/>.</param>
    public static ImmutableArray<RegionGeneration> Needed(
        ImmutableArray<RegionGeneration> past, long stable, RegionGeneration? current = null)
    {
        // A certificate of a generation is about batches up to the opening of the next admitted one. At or below the
        // stable point none is asked for: that opening, or a checkpoint, vouches for the log.
        var first = 0;
        for (var i = 1; i <= past.Length; i++)
        {
            var next = i < past.Length ? past[i] : current;
            if (next is { IsAdmitted: true, Opening: { } opening } && opening.Last.Number <= stable) first = i;
        }

        past = past.RemoveRange(0, first);
        // A generation that was never admitted has signed nothing that counts; its stores may hold copies (S9).
        var most = MostUnadmitted;
        for (var i = past.Length - 1; i >= 0; i--)
        {
            if (!past[i].IsAdmitted && most-- <= 0) past = past.RemoveAt(i);
        }

        return past;
    }

    /// <summary>Whether the checkpoint is of the volume's batches up to the marker, and of no later one.</summary>
    public static bool IsAt(in CheckpointName checkpoint, in BatchName marker) =>
        !marker.IsNone && (Planted.Is("snapshot-at-arrival") ? checkpoint.Batch >= marker.Number
            : checkpoint.Batch == marker.Number && checkpoint.Run == marker.Run);
}
