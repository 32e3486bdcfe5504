using Corfu.Client;
using Corfu.Protocol;

namespace Corfu.Backup;

/// <summary>
/// Copies a log to another cluster for as long as it runs (TOCS 3: copying growing prefixes of the log). The mirror is
/// at every moment a prefix of its source, positions preserved, and can be read like any log. Keeps no state of its
/// own: where to go on is written in the mirror.
/// </summary>
public sealed class LogMirror
{
    private readonly CorfuClient _source;
    private readonly CorfuClient _target;
    private readonly TimeProvider _time;
    private readonly BackupOptions _options;

    public LogMirror(CorfuClient source, CorfuClient target, TimeProvider time, BackupOptions? options = null)
    {
        _source = source;
        _target = target;
        _time = time;
        _options = options ?? BackupOptions.Default;
        _options.Validate();
    }

    /// <summary>Called after every batch, and at every look at the source's tail. On the mirror's own thread.</summary>
    public Action<CopyProgress>? Progress { get; init; }

    /// <summary>Called when a cluster is out of reach, before it is tried again.</summary>
    public Action<string>? Trouble { get; init; }

    /// <summary>Runs until it is cancelled. Clusters that are out of reach are waited for.</summary>
    /// <exception cref="LogDivergedException">Somebody has written to the mirror.</exception>
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

            await Task.Delay(_options.RetryDelay, _time, cancellationToken);
        }
    }

    /// <summary>Copies what the source holds now, and returns.</summary>
    public Task CatchUpAsync(CancellationToken cancellationToken = default) =>
        CatchUpAsync(_source.Projection.Cluster, cancellationToken);

    /// <param name="expected">What the target has to be a mirror of: the source, or itself while it is being
    /// promoted.</param>
    internal async Task CatchUpAsync(ClusterId expected, CancellationToken cancellationToken)
    {
        var tail = (await _source.CheckAsync([], cancellationToken: cancellationToken)).Tail;
        await FollowAsync((tail, expected), cancellationToken);
    }

    private async Task FollowAsync((LogPosition Tail, ClusterId Expected)? once, CancellationToken cancellationToken)
    {
        var source = _source.Projection.Cluster;
        if (once is null || once.Value.Expected == source)
            await MirrorTarget.AttachAsync(_target, source, cancellationToken);
        var copier = await LogCopier.ResumeAsync(_target, once?.Expected ?? source, cancellationToken);
        var reader = new LogPrefixReader(_source, _options);
        var count = new CopyProgress(copier.Frontier, default, 0, 0);
        long? lookedForTrims = null;
        while (true)
        {
            var tail = once?.Tail ?? (await _source.CheckAsync([], cancellationToken: cancellationToken)).Tail;
            if (lookedForTrims is not { } last || _time.GetElapsedTime(last) >= _options.TrimInterval)
            {
                lookedForTrims = _time.GetTimestamp();
                await FollowTrimsAsync(copier, tail, cancellationToken);
            }

            await foreach (var batch in reader.ReadAsync(copier.Frontier, tail, cancellationToken))
            {
                // Trimmed since the mark was looked at: no page tells its streams any more.
                if (batch.Pages.Any(p => p.Kind == CopiedKind.Trimmed && p.Until > copier.Mark))
                    await FollowTrimsAsync(copier, tail, cancellationToken);
                await copier.CopyAsync(batch, cancellationToken);
                count = new CopyProgress(copier.Frontier, tail, count.Positions + (batch.To - batch.From),
                    count.Bytes + batch.Bytes);
                Progress?.Invoke(count);
            }

            await copier.ConfirmAsync(cancellationToken);
            if (once is not null) return;
            Progress?.Invoke(count = count with { Copied = copier.Frontier, Tail = tail });
            await Task.Delay(_options.PollInterval, _time, cancellationToken);
        }
    }

    private async ValueTask FollowTrimsAsync(LogCopier copier, LogPosition tail, CancellationToken cancellationToken)
    {
        var extent = await _source.FindExtentAsync(cancellationToken);

        // The mirror's copier never writes above the source's tail; a lower tail means that the source forgot what the
        // mirror has.
        if (LogPosition.Max(tail, extent.End) < copier.Frontier)
            throw new BackupException(
                $"The source's log ends at {tail.Offset}, below {copier.Frontier.Offset}, which the mirror has: the "
                + "source has lost entries.");
        await copier.TrimAsync(LogPosition.Min(extent.TrimMark, tail),
            mark => _source.ListTrimmedStreamsAsync(mark, cancellationToken), cancellationToken);
    }

    private static bool IsPassing(CorfuException e) =>
        e is LogUnavailableException or TransportException or Client.Layout.LayoutUnavailableException
            or ReconfigurationException;
}
