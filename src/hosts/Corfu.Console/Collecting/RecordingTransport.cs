namespace Corfu.WebConsole.Collecting;

/// <summary>Keeps the answer that passes through, so that one question serves a role's own report and the
/// figures.</summary>
internal sealed class RecordingTransport(ITransport inner) : ITransport
{
    public Response? Last { get; private set; }

    public async ValueTask<TResponse> CallAsync<TResponse>(
        NodeAddress to, Request<TResponse> request, CancellationToken cancellationToken)
        where TResponse : Response
    {
        var answer = await inner.CallAsync(to, request, cancellationToken);
        Last = answer;
        return answer;
    }

    public void Drop(NodeAddress node) => inner.Drop(node);

    public ValueTask<NodeDescription> DescribeAsync(NodeEndpoint endpoint, CancellationToken cancellationToken) =>
        inner.DescribeAsync(endpoint, cancellationToken);
}
