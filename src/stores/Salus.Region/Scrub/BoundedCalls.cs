namespace Salus.Region.Scrub;

internal static class BoundedCalls
{
    /// <summary>Calls a peer, and waits no longer than the limit.</summary>
    /// <returns>Null: no answer, or a refusal.</returns>
    public static async Task<TResponse?> TryCallAsync<TResponse>(this ITransport transport, NodeAddress address,
        Request<TResponse> request, TimeSpan limit, TimeProvider time, CancellationToken cancellationToken)
        where TResponse : Response
    {
        using var late = new CancellationTokenSource(limit, time);
        using var both = CancellationTokenSource.CreateLinkedTokenSource(late.Token, cancellationToken);
        try
        {
            var response = await transport.CallAsync(address, request, both.Token);
            return response.IsOk ? response : null;
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
