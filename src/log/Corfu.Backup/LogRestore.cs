namespace Corfu.Backup;

/// <summary>Brings a backup back as the log of an empty cluster, every position as it was. Until it is finished the
/// cluster is a mirror of the backup's cluster: half a log takes no appends, and a restore that was cut short is simply
/// run again.</summary>
public sealed class LogRestore(BackupReader backup, CorfuClient target, TimeProvider time)
{
    /// <summary>Reads the whole backup before it touches the cluster.</summary>
    /// <param name="promote">False leaves it a mirror, which goes on from its source.</param>
    /// <exception cref="BackupDamagedException">The cluster is as it was.</exception>
    /// <exception cref="BackupException">The cluster is not empty.</exception>
    public async Task RunAsync(bool promote = true, Action<CopyProgress>? verifying = null,
        Action<CopyProgress>? copying = null, CancellationToken cancellationToken = default)
    {
        await backup.VerifyAsync(verifying, cancellationToken);
        var source = await AttachAsync(promote, cancellationToken);
        var copier = await LogCopier.ResumeAsync(target, source, cancellationToken);
        var end = new LogPosition(backup.Manifest.End);
        var extent = await target.Cluster.FindExtentAsync(cancellationToken);
        if (extent.End > end)
            throw new BackupException(
                $"The cluster already has the log up to {extent.End.Offset}, and the backup ends at {end.Offset}.");
        await copier.TrimAsync(new LogPosition(backup.Manifest.TrimMark),
            _ => backup.ReadStreamsAsync(cancellationToken), cancellationToken);
        var done = new CopyProgress(copier.Frontier, end, 0, 0);
        await foreach (var batch in backup.ReadAsync(copier.Frontier, cancellationToken))
        {
            await copier.CopyAsync(batch, cancellationToken);
            copying?.Invoke(done = done.Add(batch));
        }

        await copier.ConfirmAsync(cancellationToken);
        if (promote) await new MirrorPromotion(target, null, time).RunAsync(cancellationToken: cancellationToken);
    }

    // A restore that was cut short at its last step has left a cluster that is being promoted, and stays so.
    private async Task<ClusterId> AttachAsync(bool promote, CancellationToken cancellationToken)
    {
        var own = target.Projection.Cluster;
        var current = await target.Cluster.RefreshAsync(cancellationToken);
        if (promote && current.MirrorOf == own && await WasMirrorOfBackupAsync(current, cancellationToken)) return own;
        await MirrorTarget.AttachAsync(target, backup.Cluster, cancellationToken);
        return backup.Cluster;
    }

    private async Task<bool> WasMirrorOfBackupAsync(Projection current, CancellationToken cancellationToken)
    {
        const int batch = 32;
        for (var epoch = current.Epoch; epoch > Epoch.None;)
        {
            var history = await target.Cluster.ReadHistoryAsync(epoch, batch, cancellationToken);
            if (history.FirstOrDefault(past => past.MirrorOf != current.Cluster) is { } before)
                return before.MirrorOf == backup.Cluster;
            if (history.Length < batch) return false;
            epoch = new Epoch(history[^1].Epoch.Value - 1);
        }

        return false;
    }
}
