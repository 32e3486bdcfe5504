namespace Corfu.Backup;

/// <summary>Makes a mirror an ordinary log. It is first closed to its copier, then what was under way is finished, and
/// only then positions are granted.</summary>
/// <param name="source">With it, the mirror first gets all that its source holds.</param>
public sealed class MirrorPromotion(CorfuClient target, CorfuClient? source, TimeProvider time)
{
    private const int SettledAtOnce = 64;

    /// <param name="acceptHoles">Without it, a mirror that lacks entries in the midst of others stays a mirror.</param>
    /// <returns>Positions that were lost and are junk now; empty but for <paramref name="acceptHoles"/>.</returns>
    /// <exception cref="BackupException">The log is no mirror, or lacks entries.</exception>
    public async Task<ImmutableArray<LogPosition>> RunAsync(bool acceptHoles = false,
        CancellationToken cancellationToken = default)
    {
        var own = target.Projection.Cluster;
        var before = await target.Cluster.ReconfigureAsync(static _ => null, "a look", cancellationToken);
        if (!before.IsMirror) throw new BackupException($"Cluster {own} is no mirror, or was promoted already.");
        if (source is not null && before.MirrorOf != own && before.MirrorOf != source.Projection.Cluster)
            throw new BackupException(
                $"Cluster {own} is a mirror of {before.MirrorOf}, not of {source.Projection.Cluster}.");
        await target.Cluster.ReconfigureAsync(
            p => p.IsMirror && p.MirrorOf != own ? Membership.Of(p).WithMirrorOf(own) : null,
            "closed to its copier, to be promoted", cancellationToken);
        if (source is not null) await new LogMirror(source, target, time).CatchUpAsync(own, cancellationToken);
        var holes = await SettleAsync(cancellationToken);
        if (!holes.IsEmpty && !acceptHoles)
        {
            var mirrored = before.MirrorOf;
            await target.Cluster.ReconfigureAsync(
                p => p.MirrorOf == own && mirrored != own ? Membership.Of(p).WithMirrorOf(mirrored) : null,
                "not promoted: it lacks entries", cancellationToken);
            var more = holes.Length > 1 ? $" and {holes.Length - 1} more up to {holes[^1].Offset} are" : " is";
            throw new BackupException(
                $"The copier ended in the midst of its work: position {holes[0].Offset}{more} missing while later ones "
                + "are there. Promote with the source at hand, let the copier run once more, or accept the holes, "
                + "which become junk.");
        }

        await target.Cluster.ReconfigureAsync(p => p.IsMirror ? Membership.Of(p).WithMirrorOf(ClusterId.None) : null,
            "promoted", cancellationToken);
        if (!holes.IsEmpty) await target.ReadManyAsync(holes, ReadDetail.State, cancellationToken: cancellationToken);
        return holes;
    }

    // Completes copies that had reached the head of their chain, and returns what no head has.
    private async ValueTask<ImmutableArray<LogPosition>> SettleAsync(CancellationToken cancellationToken)
    {
        var extent = await target.Cluster.FindExtentAsync(cancellationToken);
        var writer = target.Cluster.CopyWriter(target.Projection.Cluster);
        // The copier may have brought the mark to some units only.
        if (extent.TrimMark > LogPosition.Zero) await writer.PutTrimMarkAsync(extent.TrimMark, cancellationToken);
        var missing = ImmutableArray.CreateBuilder<LogPosition>();
        var first = Math.Max(extent.TrimMark.Offset, extent.End.Offset - CopyWriter.MaxWindow);
        for (var offset = first; offset < extent.End.Offset; offset += SettledAtOnce)
        {
            var some = Enumerable.Range(0, (int)Math.Min(SettledAtOnce, extent.End.Offset - offset))
                .Select(i => new LogPosition(offset + i)).ToList();
            var held = await Task.WhenAll(some.Select(p => writer.SettleAsync(p, cancellationToken).AsTask()));
            missing.AddRange(some.Where((_, i) => !held[i]));
        }

        return missing.DrainToImmutable();
    }
}
