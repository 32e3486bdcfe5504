using Salus.Region.Body;
using Salus.Store.Files;

namespace Salus.Region.Recovery;

/// <summary>The parts of a process that its recoveries share.</summary>
/// <param name="Store">The own store's identity; <paramref name="Log"/> and <paramref name="Files"/> are its.</param>
internal sealed record RecoveryPorts(StoreId Store, Signer Signer, StoreLog Log, IRegionFiles Files,
    IRegionBodies Bodies, IRegionMap Map, ITransport Transport, TimeProvider Time, RecoveryOptions Options)
{
    public Task PauseAsync(CancellationToken cancellationToken) =>
        Task.Delay(Options.Pause, Time, cancellationToken);

    /// <summary>Null: no answer.</summary>
    public async ValueTask<TResponse?> TryCallAsync<TResponse>(
        NodeAddress to, Request<TResponse> request, CancellationToken cancellationToken)
        where TResponse : Response
    {
        using var limit = new CancellationTokenSource(Options.CallLimit, Time);
        using var both = CancellationTokenSource.CreateLinkedTokenSource(limit.Token, cancellationToken);
        try
        {
            return await Transport.CallAsync(to, request, both.Token);
        }
        catch (TransportException)
        {
            return null;
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            return null;
        }
    }
}
