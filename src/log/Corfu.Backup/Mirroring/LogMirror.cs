namespace Corfu.Backup;

/// <summary>Copies a log to another cluster for as long as it runs (TOCS 3: copying growing prefixes of the log). The
/// mirror is at every moment a prefix of its source, positions preserved, and can be read like any log. Keeps no state
/// of its own: where to go on is written in the mirror.</summary>
public sealed class LogMirror(CorfuClient source, CorfuClient target, TimeProvider time, BackupOptions? options = null)
{
    private readonly BackupOptions _options = BackupOptions.Checked(options);

    /// <summary>Called after every batch and every look at the source's tail, on the mirror's own thread.</summary>
    public Action<CopyProgress>? Progress { get; init; }

    /// <summary>Called when a cluster is out of reach, before it is tried again.</summary>
    public Action<string>? Trouble { get; init; }

    /// <summary>Runs until it is cancelled. Clusters that are out of reach are waited for.</summary>
    /// <exception cref="LogDivergedException">Another client has written to the mirror.</exception>
    /// <exception cref="CopyRefusedException">The mirror was promoted.</exception>
    /// <exception cref="BackupException">The target is not empty, or the source has lost entries.</exception>
    public async Task RunAsync(CancellationToken cancellationToken = default)
    {
        while (true)
        {
            try
            {
                await FollowAsync(null, cancellationToken);
                return;
            }
            catch (CorfuException e) when (IsPassing(e))
            {
                Trouble?.Invoke(e.Message);
            }

            await Task.Delay(_options.RetryDelay, time, cancellationToken);
        }
    }

    /// <summary>Copies what the source holds now, and returns.</summary>
    public Task CatchUpAsync(CancellationToken cancellationToken = default) =>
        CatchUpAsync(source.Projection.Cluster, cancellationToken);

    /// <param name="expected">The target mirrors this: the source, or itself while it is being promoted.</param>
    internal async Task CatchUpAsync(ClusterId expected, CancellationToken cancellationToken)
    {
        var tail = (await source.CheckAsync([], cancellationToken: cancellationToken)).Tail;
        await FollowAsync((tail, expected), cancellationToken);
    }

    private async Task FollowAsync((LogPosition Tail, ClusterId Expected)? once, CancellationToken cancellationToken)
    {
        var own = source.Projection.Cluster;
        if (once is null || once.Value.Expected == own) await MirrorTarget.AttachAsync(target, own, cancellationToken);
        var copier = await LogCopier.ResumeAsync(target, once?.Expected ?? own, cancellationToken);
        var reader = new LogPrefixReader(source, _options);
        var count = new CopyProgress(copier.Frontier, default, 0, 0);
        long? lookedForTrims = null;
        while (true)
        {
            var tail = once?.Tail ?? (await source.CheckAsync([], cancellationToken: cancellationToken)).Tail;
            if (lookedForTrims is not { } last || time.GetElapsedTime(last) >= _options.TrimInterval)
            {
                lookedForTrims = time.GetTimestamp();
                await FollowTrimsAsync(copier, tail, cancellationToken);
            }

            await foreach (var batch in reader.ReadAsync(copier.Frontier, tail, cancellationToken))
            {
                // Trimmed since the mark was looked at: no page tells its streams any more.
                if (batch.Pages.Any(p => p.Kind == CopiedKind.Trimmed && p.Until > copier.Mark))
                    await FollowTrimsAsync(copier, tail, cancellationToken);
                await copier.CopyAsync(batch, cancellationToken);
                count = count.Add(batch) with { Copied = copier.Frontier, Tail = tail };
                Progress?.Invoke(count);
            }

            await copier.ConfirmAsync(cancellationToken);
            if (once is not null) return;
            Progress?.Invoke(count = count with { Copied = copier.Frontier, Tail = tail });
            await Task.Delay(_options.PollInterval, time, cancellationToken);
        }
    }

    private async ValueTask FollowTrimsAsync(LogCopier copier, LogPosition tail, CancellationToken cancellationToken)
    {
        var extent = await source.Cluster.FindExtentAsync(cancellationToken);

        // The mirror's copier never writes above the source's tail, so a lower tail means lost entries.
        if (LogPosition.Max(tail, extent.End) < copier.Frontier)
            throw new BackupException(
                $"The source's log ends at {tail.Offset}, below {copier.Frontier.Offset}, which the mirror has: the "
                + "source has lost entries.");
        await copier.TrimAsync(LogPosition.Min(extent.TrimMark, tail),
            mark => source.Cluster.ListTrimmedStreamsAsync(mark, cancellationToken), cancellationToken);
    }

    private static bool IsPassing(CorfuException e) =>
        e is LogUnavailableException or TransportException or Client.Layout.LayoutUnavailableException
            or ReconfigurationException;
}
