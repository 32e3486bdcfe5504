using System.Collections.Immutable;
using Corfu.Client;
using Corfu.Protocol;

namespace Corfu.Backup;

/// <summary>
/// Makes a mirror an ordinary log. First it is closed to its copier; then what that one had under way is finished, from
/// the source where it is at hand; only then are positions granted.
/// </summary>
public sealed class MirrorPromotion
{
    private const int SettledAtOnce = 64;

    private readonly CorfuClient _target;
    private readonly CorfuClient? _source;
    private readonly TimeProvider _time;

    /// <param name="source">With it, the mirror first gets all that its source holds.</param>
    public MirrorPromotion(CorfuClient target, CorfuClient? source, TimeProvider time)
    {
        _target = target;
        _source = source;
        _time = time;
    }

    /// <param name="acceptHoles">Without it, a mirror that lacks entries in the midst of others stays a mirror.</param>
    /// <returns>Positions that were lost and are junk now; empty but for <paramref name="acceptHoles"/>.</returns>
    /// <exception cref="BackupException">It is no mirror, or lacks entries.</exception>
    public async Task<ImmutableArray<LogPosition>> RunAsync(bool acceptHoles = false,
        CancellationToken cancellationToken = default)
    {
        var own = _target.Projection.Cluster;
        var before = await _target.ReconfigureAsync(static _ => null, "a look", cancellationToken);
        if (!before.IsMirror) throw new BackupException($"Cluster {own} is no mirror, or was promoted already.");
        if (_source is not null && before.MirrorOf != own && before.MirrorOf != _source.Projection.Cluster)
            throw new BackupException(
                $"Cluster {own} is a mirror of {before.MirrorOf}, not of {_source.Projection.Cluster}.");
        await _target.ReconfigureAsync(
            p => p.IsMirror && p.MirrorOf != own ? Membership.Of(p).WithMirrorOf(own) : null,
            "closed to its copier, to be promoted", cancellationToken);
        if (_source is not null)
            await new LogMirror(_source, _target, _time).CatchUpAsync(own, cancellationToken);
        var holes = await SettleAsync(cancellationToken);
        if (!holes.IsEmpty && !acceptHoles)
        {
            await _target.ReconfigureAsync(
                p => p.MirrorOf == own && before.MirrorOf != own
                    ? Membership.Of(p).WithMirrorOf(before.MirrorOf)
                    : null, "not promoted: it lacks entries", cancellationToken);
            throw new BackupException(
                $"The copier ended in the midst of its work: position "
                + $"{holes[0].Offset}{(holes.Length > 1 ? $" and {holes.Length - 1} more up to {holes[^1].Offset} "
                + "are" : " is")} missing"
                + " while later ones are there. Promote with the source at hand, let the copier run once more, or "
                + "accept the holes, which become junk.");
        }

        await _target.ReconfigureAsync(p => p.IsMirror ? Membership.Of(p).WithMirrorOf(ClusterId.None) : null,
            "promoted", cancellationToken);
        if (!holes.IsEmpty) await _target.ReadManyAsync(holes, ReadDetail.State, cancellationToken: cancellationToken);
        return holes;
    }

    // Copies that had reached the head of their chain are completed; what no head has is missing.
    private async ValueTask<ImmutableArray<LogPosition>> SettleAsync(CancellationToken cancellationToken)
    {
        var extent = await _target.FindExtentAsync(cancellationToken);
        var writer = _target.CopyWriter(_target.Projection.Cluster);
        // Perhaps the copier came to some units only.
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
