namespace Corfu.Client;

/// <summary>The log's trim mark and end, as its units report them.</summary>
/// <param name="TrimMark">Everything below is trimmed, or its trim has begun and will be propagated.</param>
/// <param name="End">At least everything acknowledged when the epoch began lies below; not a tail.</param>
public readonly record struct LogExtent(LogPosition TrimMark, LogPosition End)
{
    internal LogExtent With(UnitInfoResponse info) =>
        new(LogPosition.Max(TrimMark, info.TrimMark), LogPosition.Max(End, info.End));
}

/// <summary>Asks units for the log's trim mark and end.</summary>
internal sealed class LogEnds(UnitCalls units)
{
    /// <summary>From one full replica of each active chain: all of them have what is acknowledged, trims too.</summary>
    /// <returns>Also the highest epoch for which one of them is sealed.</returns>
    /// <exception cref="TransportException">No full replica of a chain answers.</exception>
    public async ValueTask<(LogExtent Extent, Epoch SealedBelow)> AskActiveAsync(
        EpochView view, CancellationToken cancellationToken)
    {
        var extent = Known(view);
        var sealedBelow = Epoch.None;
        TransportException? silent = null;
        var missing = view.Projection.Active.Chains.ToList();
        var asking = missing.SelectMany(c => c.FullUnits).Distinct()
            .Select(u => AskAsync(view, u, cancellationToken)).ToList();
        while (missing.Count > 0)
        {
            if (asking.Count == 0)
                throw silent ?? new TransportException(
                    $"No replica of a chain of {view.Epoch} says how far it has got.", outcomeUnknown: false);
            var ended = await Task.WhenAny(asking);
            asking.Remove(ended);
            var (unit, info, failure) = await ended;
            silent ??= failure;
            if (info is null) continue;
            extent = extent.With(info);
            if (info.SealedBelow > sealedBelow) sealedBelow = info.SealedBelow;
            missing.RemoveAll(c => c.FullUnits.Contains(unit));
        }

        return (extent, sealedBelow);
    }

    /// <summary>From all units; those that are silent are passed over, as long as one answers.</summary>
    public async ValueTask<Attempt<LogExtent>> AskAllAsync(EpochView view, CancellationToken cancellationToken)
    {
        var answers = await Task.WhenAll(view.Projection.Units.Select(u => AskAsync(view, u.Id, cancellationToken)));
        var heard = answers.Select(a => a.Info).OfType<UnitInfoResponse>().ToList();
        if (heard.Count > 0) return heard.Aggregate(Known(view), static (extent, info) => extent.With(info));
        return answers.Select(a => a.Failure).FirstOrDefault(f => f is not null) is { } failure
            ? throw failure
            : Status.Failed;
    }

    private static LogExtent Known(EpochView view) =>
        new(view.Projection.TrimMark, new LogPosition(view.Projection.Start.Offset));

    private async Task<(NodeId Unit, UnitInfoResponse? Info, TransportException? Failure)> AskAsync(
        EpochView view, NodeId unit, CancellationToken cancellationToken)
    {
        try
        {
            var info = await units.CallAsync(view, unit, new UnitInfoRequest(view.Epoch), cancellationToken);
            return (unit, info.IsOk ? info : null, null);
        }
        catch (TransportException e)
        {
            return (unit, null, e);
        }
    }
}
