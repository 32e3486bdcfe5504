namespace Corfu.Detection;

/// <summary>Calls that end soon, with an answer or without.</summary>
public static class ShortCalls
{
    /// <summary>Null: no answer within the limit.</summary>
    public static async Task<TResponse?> TryCallAsync<TResponse>(this ITransport transport, NodeAddress node,
        Request<TResponse> request, TimeSpan limit, TimeProvider time, CancellationToken stopped = default)
        where TResponse : Response
    {
        using var timeout = new CancellationTokenSource(limit, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(timeout.Token, stopped);
        try
        {
            return await transport.CallAsync(node, request, either.Token);
        }
        catch (Exception e) when (e is TransportException or OperationCanceledException)
        {
            return null;
        }
    }
}
