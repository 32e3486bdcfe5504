namespace Corfu.Client;

public sealed partial class CorfuClient
{
    /// <summary>For the copier of a mirror, or of a backup that is being restored.</summary>
    /// <param name="source">The cluster that the projection must name as <see cref="Projection.MirrorOf"/> at every
    /// write.</param>
    public CopyWriter CopyWriter(ClusterId source) => new(_units, _handOver, _chains, _trimmer, _retry, source);

    /// <summary>Asks all units; silent ones are passed over, as long as one answers.</summary>
    /// <exception cref="LogUnavailableException">None did.</exception>
    public ValueTask<LogExtent> FindExtentAsync(CancellationToken cancellationToken = default) =>
        _retry.RunAsync("Asking the units", view => _ends.AskAllAsync(view, cancellationToken), cancellationToken);

    /// <summary>The streams that have had entries below a position that is trimmed, with the newest of those positions.
    /// All in memory: some hundred bytes for each.</summary>
    public ValueTask<ImmutableArray<StreamTail>> ListTrimmedStreamsAsync(
        LogPosition below, CancellationToken cancellationToken = default) =>
        _retry.RunAsync(
            "Listing trimmed streams", view => _frozen.ListAsync(view, below, cancellationToken), cancellationToken);
}
