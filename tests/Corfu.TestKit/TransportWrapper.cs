using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.TestKit;

/// <summary>A transport over another one; a double overrides what it does otherwise.</summary>
public abstract class TransportWrapper(ITransport inner) : ITransport
{
    public virtual AccessRole Rights => inner.Rights;

    public virtual ValueTask<TResponse> CallAsync<TResponse>(
        NodeAddress to, Request<TResponse> request, CancellationToken cancellationToken)
        where TResponse : Response => inner.CallAsync(to, request, cancellationToken);

    public virtual void Drop(NodeAddress node) => inner.Drop(node);

    public virtual ValueTask<NodeDescription> DescribeAsync(
        NodeEndpoint endpoint, CancellationToken cancellationToken) =>
        inner.DescribeAsync(endpoint, cancellationToken);
}
