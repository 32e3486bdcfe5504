using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Client;

public sealed partial class CorfuClient
{
    /// <summary>
    /// For the copier of a mirror, or of a backup that is being restored.
    /// </summary>
    /// <param name="source">What the projection has to name as <see cref="Projection.MirrorOf"/>, now and at every
    /// write.</param>
    public CopyWriter CopyWriter(ClusterId source) => new(_units, _handOver, _chains, _trimmer, _retry, source);

    /// <summary>
    /// Asks the units of the newest projection; those that are silent are passed over, as long as one answers.
    /// </summary>
    /// <exception cref="LogUnavailableException">None did.</exception>
    public ValueTask<LogExtent> FindExtentAsync(CancellationToken cancellationToken = default) =>
        _retry.RunAsync("Asking the units", view => ExtentAsync(view, cancellationToken), cancellationToken);

    /// <summary>
    /// The streams that have had entries below a position that is trimmed, with the newest of those positions. All in
    /// memory: some hundred bytes for each.
    /// </summary>
    public ValueTask<ImmutableArray<StreamTail>> ListTrimmedStreamsAsync(
        LogPosition below, CancellationToken cancellationToken = default) =>
        _retry.RunAsync(
            "Listing trimmed streams", view => new TrimmedStreams(_units).TryListAsync(view, below, cancellationToken),
            cancellationToken);

    private async ValueTask<Attempt<LogExtent>> ExtentAsync(EpochView view, CancellationToken cancellationToken)
    {
        var request = new UnitInfoRequest(view.Epoch);
        var calls = view.Projection.Units.Select(u => AskAsync(u, request, cancellationToken)).ToList();
        var extent = new LogExtent(view.Projection.TrimMark, new LogPosition(view.Projection.Start.Offset));
        TransportException? silent = null;
        var answered = false;
        foreach (var (info, trouble) in await Task.WhenAll(calls))
        {
            silent ??= trouble;
            if (info is not { IsOk: true }) continue;
            answered = true;
            extent = new LogExtent(
                LogPosition.Max(extent.TrimMark, info.TrimMark), LogPosition.Max(extent.End, info.End));
        }

        return answered ? extent : silent is null ? Status.Failed : throw silent;
    }

    private async Task<(UnitInfoResponse? Info, TransportException? Trouble)> AskAsync(
        NodeAddress unit, UnitInfoRequest request, CancellationToken cancellationToken)
    {
        try
        {
            return (await _transport.CallAsync(unit, request, cancellationToken), null);
        }
        catch (TransportException e)
        {
            return (null, e);
        }
    }
}

/// <summary>What the units say of the log: where it begins and how far they got.</summary>
/// <param name="TrimMark">Everything below is trimmed, or its trim has begun and will be brought to all (R5).</param>
/// <param name="End">At least everything acknowledged when the epoch began lies below; not a tail.</param>
public readonly record struct LogExtent(LogPosition TrimMark, LogPosition End);
