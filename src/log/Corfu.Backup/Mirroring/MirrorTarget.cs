namespace Corfu.Backup;

/// <summary>Makes a cluster another one's mirror.</summary>
internal static class MirrorTarget
{
    /// <summary>Makes an empty cluster a mirror of <paramref name="source"/>: from then on it grants no positions. A
    /// cluster that is its mirror already stays one.</summary>
    /// <exception cref="BackupException">There is something in its log, or it mirrors another.</exception>
    public static async Task<Projection> AttachAsync(CorfuClient target, ClusterId source,
        CancellationToken cancellationToken = default)
    {
        var own = target.Projection.Cluster;
        if (own == source) throw new BackupException($"Source and target are one cluster, {own}.");
        var current = await target.Cluster.ReconfigureAsync(static _ => null, "a look", cancellationToken);
        if (current.MirrorOf == source) return current;
        RequireFree(current, source);
        var extent = await target.Cluster.FindExtentAsync(cancellationToken);
        var end = LogPosition.Max(extent.End, extent.TrimMark);
        if (end > LogPosition.Zero) throw current.IsMirror ? BeingPromoted(own) : NotEmpty(own, end);

        // First closed to all: what was appended until the seal shows in the start.
        var closed = await target.Cluster.ReconfigureAsync(p => p.IsMirror ? null : Membership.Of(p).WithMirrorOf(own),
            $"closed before it becomes a mirror of {source}", cancellationToken);
        if (closed.MirrorOf == own && closed.Start > LogPosition.Zero)
        {
            await target.Cluster.ReconfigureAsync(
                p => p.MirrorOf == own ? Membership.Of(p).WithMirrorOf(ClusterId.None) : null,
                "not empty, so no mirror", cancellationToken);
            throw NotEmpty(own, closed.Start);
        }

        return await target.Cluster.ReconfigureAsync(
            p =>
            {
                if (p.MirrorOf == source) return null;
                RequireFree(p, source);
                return Membership.Of(p).WithMirrorOf(source);
            },
            $"mirror of {source}",
            cancellationToken);
    }

    private static void RequireFree(Projection current, ClusterId source)
    {
        if (current.IsMirror && current.MirrorOf != current.Cluster)
            throw new BackupException($"Cluster {current.Cluster} is a mirror of {current.MirrorOf}, not of {source}.");
    }

    private static BackupException BeingPromoted(ClusterId cluster) =>
        new($"Cluster {cluster} is being promoted; finish that with 'corfu mirror promote'.");

    private static BackupException NotEmpty(ClusterId cluster, LogPosition end) =>
        new($"Cluster {cluster} is not empty: its log reaches position {end.Offset}. A copy needs a new cluster, so "
            + "that every entry keeps its position.");
}
