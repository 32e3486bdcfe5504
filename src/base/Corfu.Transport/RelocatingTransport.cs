namespace Corfu.Transport;

/// <summary>Calls nodes where they are known to listen now, whatever address the caller has from a projection. A
/// handshake still checks the identity.</summary>
/// <param name="locate">Returns an identity's endpoint; null: the address given.</param>
public sealed class RelocatingTransport(ITransport inner, Func<NodeId, NodeEndpoint?> locate) : ITransport
{
    public AccessRole Rights => inner.Rights;

    public ValueTask<TResponse> CallAsync<TResponse>(NodeAddress to, Request<TResponse> request,
        CancellationToken cancellationToken)
        where TResponse : Response => inner.CallAsync(Present(to), request, cancellationToken);

    public void Drop(NodeAddress node) => inner.Drop(Present(node));

    public ValueTask<NodeDescription> DescribeAsync(NodeEndpoint endpoint, CancellationToken cancellationToken) =>
        inner.DescribeAsync(endpoint, cancellationToken);

    private NodeAddress Present(NodeAddress node) =>
        locate(node.Id) is { } endpoint ? new NodeAddress(node.Id, endpoint) : node;
}
