namespace Corfu.Transport;

/// <summary>The client's port to the network. Production: pipelined TCP connections, one per role identity; simulator:
/// a lossy, reordering message queue. Implementations may be called from any thread.</summary>
public interface ITransport
{
    /// <summary>The rights of this side. A caller does not begin what its role may not finish. Default node.</summary>
    AccessRole Rights => AccessRole.Node;

    /// <summary>Sends one request and waits for its answer, whatever its status. The caller owns the answer's
    /// memory.</summary>
    /// <exception cref="TransportException">No answer: not connected, connection lost, request time-out, or another
    /// identity answers at that endpoint. <see cref="TransportException.OutcomeUnknown"/> is false only if the
    /// request certainly never reached the node.</exception>
    /// <exception cref="OperationCanceledException">The caller gave up; the outcome of the request is
    /// unknown.</exception>
    ValueTask<TResponse> CallAsync<TResponse>(NodeAddress to, Request<TResponse> request,
        CancellationToken cancellationToken)
        where TResponse : Response;

    /// <summary>The node has been replaced, and identities never return: its requests in flight fail now with a
    /// <see cref="TransportException"/> and do not wait for a frozen node.</summary>
    void Drop(NodeAddress node);

    /// <summary>Asks a process which cluster it belongs to and which roles, with their identities, it serves.</summary>
    /// <exception cref="TransportException">No process of this protocol answers there.</exception>
    ValueTask<NodeDescription> DescribeAsync(NodeEndpoint endpoint, CancellationToken cancellationToken);
}
