using Corfu.Protocol;

namespace Corfu.Client;

public sealed partial class CorfuClient
{
    /// <summary>
    /// Changes the cluster's membership, as <see cref="Reconfigurer.ReconfigureAsync"/>, starting from the newest projection decided, and adopts
    /// the result.
    /// </summary>
    public async Task<Projection> ReconfigureAsync(
        Func<Projection, Membership?> change, string reason, CancellationToken cancellationToken = default)
    {
        var latest = await RefreshAsync(cancellationToken);
        var decided = await _core.Reconfigurer.ReconfigureAsync(latest, change, reason, cancellationToken);
        _core.Refresher.Adopt(decided);
        return decided;
    }

    /// <summary>Asks the layout for the newest projection decided, and adopts it.</summary>
    /// <exception cref="Layout.LayoutUnavailableException">No majority of the acceptors answered.</exception>
    public async Task<Projection> RefreshAsync(CancellationToken cancellationToken = default)
    {
        if (await _core.Layout.ReadLatestAsync(Projection.Acceptors, cancellationToken) is { } latest) _core.Refresher.Adopt(latest);
        return Projection;
    }

    /// <summary>
    /// Waits for a projection above <paramref name="epoch"/>, which a node has refused as sealed. Where its proposer has died, the same
    /// membership is proposed (R14).
    /// </summary>
    /// <exception cref="LogUnavailableException">There is none after <see cref="CorfuClientOptions.OperationTimeout"/>.</exception>
    public async Task<Projection> NewerThanAsync(Epoch epoch, CancellationToken cancellationToken = default)
    {
        await _core.Refresher.NewerThanAsync(epoch, _core.Patience($"Learning what follows {epoch}", cancellationToken), cancellationToken);
        return Projection;
    }
}
