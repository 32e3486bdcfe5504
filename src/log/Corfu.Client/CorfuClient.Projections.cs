namespace Corfu.Client;

public sealed partial class CorfuClient
{
    /// <summary>Changes the cluster's membership, as <see cref="Reconfigurer.ReconfigureAsync"/>, starting from the
    /// newest projection decided, and adopts the result.</summary>
    public async Task<Projection> ReconfigureAsync(
        Func<Projection, Membership?> change, string reason, CancellationToken cancellationToken = default)
    {
        var latest = await RefreshAsync(cancellationToken);
        var decided = await _reconfigurer.ReconfigureAsync(latest, change, reason, cancellationToken);
        _refresher.Adopt(decided);
        return decided;
    }

    /// <summary>Asks the layout for the newest projection decided, and adopts it.</summary>
    /// <exception cref="Layout.LayoutUnavailableException">No majority of the acceptors answered.</exception>
    public async Task<Projection> RefreshAsync(CancellationToken cancellationToken = default)
    {
        if (await _layout.ReadLatestAsync(Projection.Acceptors, cancellationToken) is { } latest)
            _refresher.Adopt(latest);
        return Projection;
    }

    /// <summary>Waits for a projection above <paramref name="epoch"/>, which a node has refused as sealed. If its
    /// proposer has died, the same membership is proposed.</summary>
    /// <exception cref="LogUnavailableException">There is none after
    /// <see cref="CorfuClientOptions.OperationTimeout"/>.</exception>
    public async Task<Projection> NewerThanAsync(Epoch epoch, CancellationToken cancellationToken = default)
    {
        await _retry.NewerThanAsync($"Learning what follows {epoch}", epoch, cancellationToken);
        return Projection;
    }

    /// <summary>The present and past projections, newest first, at most <paramref name="count"/>, as far back as the
    /// acceptors keep them (their option KeptSlots).</summary>
    public async Task<ImmutableArray<Projection>> ReadHistoryAsync(
        int count, CancellationToken cancellationToken = default) =>
        await ReadHistoryAsync((await RefreshAsync(cancellationToken)).Epoch, count, cancellationToken);

    /// <summary>As above, from an epoch of the past on.</summary>
    public async Task<ImmutableArray<Projection>> ReadHistoryAsync(
        Epoch from, int count, CancellationToken cancellationToken = default)
    {
        const int together = 32;
        var latest = Projection;
        var history = ImmutableArray.CreateBuilder<Projection>();
        for (var newest = from.Value; newest >= Epoch.First.Value && history.Count < count; newest -= together)
        {
            var wanted = Math.Min(together, Math.Min(newest, count - history.Count));
            var reads = Enumerable.Range(0, (int)wanted).Select(
                i => _layout.ReadHistoryAsync(latest, new Epoch(newest - i), cancellationToken));
            foreach (var past in await Task.WhenAll(reads))
            {
                if (past is null) return history.DrainToImmutable();
                history.Add(past);
            }
        }

        return history.DrainToImmutable();
    }
}
