using Corfu.Client;
using Corfu.Protocol;

namespace Corfu.Backup;

/// <summary>
/// Brings a backup back as the log of an empty cluster, every position as it was. Until it is finished the cluster is a
/// mirror of the one that the backup was taken of: nobody can append to half a log, and a restore that was cut short is
/// simply run again.
/// </summary>
public sealed class LogRestore
{
    private readonly BackupReader _backup;
    private readonly CorfuClient _target;
    private readonly TimeProvider _time;

    public LogRestore(BackupReader backup, CorfuClient target, TimeProvider time)
    {
        _backup = backup;
        _target = target;
        _time = time;
    }

    /// <summary>Reads the whole backup before it touches the cluster.</summary>
    /// <param name="promote">False leaves it a mirror, which goes on from its source.</param>
    /// <exception cref="BackupDamagedException">The cluster is as it was.</exception>
    /// <exception cref="BackupException">The cluster is not empty.</exception>
    public async Task RunAsync(
        bool promote = true, Action<CopyProgress>? verifying = null, Action<CopyProgress>? copying = null,
        CancellationToken cancellationToken = default)
    {
        await _backup.VerifyAsync(verifying, cancellationToken);
        var source = await AttachAsync(promote, cancellationToken);
        var copier = await LogCopier.ResumeAsync(_target, source, cancellationToken);
        var end = new LogPosition(_backup.Manifest.End);
        var extent = await _target.FindExtentAsync(cancellationToken);
        if (extent.End > end)
            throw new BackupException(
                $"The cluster already has the log up to {extent.End.Offset}, and the backup ends at {end.Offset}.");
        await copier.TrimAsync(new LogPosition(_backup.Manifest.TrimMark),
            _ => _backup.ReadStreamsAsync(cancellationToken), cancellationToken);
        long positions = 0;
        long bytes = 0;
        await foreach (var batch in _backup.ReadAsync(copier.Frontier, cancellationToken))
        {
            await copier.CopyAsync(batch, cancellationToken);
            positions += batch.To - batch.From;
            bytes += batch.Bytes;
            copying?.Invoke(new CopyProgress(batch.To, end, positions, bytes));
        }

        await copier.ConfirmAsync(cancellationToken);
        if (promote) await new MirrorPromotion(_target, null, _time).RunAsync(cancellationToken: cancellationToken);
    }

    // A restore that was cut short at its last step has left a cluster that is being promoted: it is copied to as that.
    private async Task<ClusterId> AttachAsync(bool promote, CancellationToken cancellationToken)
    {
        var own = _target.Projection.Cluster;
        var current = await _target.RefreshAsync(cancellationToken);
        if (promote && current.MirrorOf == own && await WasMirrorOfBackupAsync(current, cancellationToken)) return own;
        await MirrorTarget.AttachAsync(_target, _backup.Cluster, cancellationToken);
        return _backup.Cluster;
    }

    private async Task<bool> WasMirrorOfBackupAsync(Projection current, CancellationToken cancellationToken)
    {
        const int batch = 32;
        for (var epoch = current.Epoch; epoch > Epoch.None;)
        {
            var history = await _target.ReadHistoryAsync(epoch, batch, cancellationToken);
            if (history.FirstOrDefault(past => past.MirrorOf != current.Cluster) is { } before)
                return before.MirrorOf == _backup.Cluster;
            if (history.Length < batch) return false;
            epoch = new Epoch(history[^1].Epoch.Value - 1);
        }

        return false;
    }
}
