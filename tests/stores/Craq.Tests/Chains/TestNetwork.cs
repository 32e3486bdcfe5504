namespace Craq.Tests.Chains;

/// <summary>Requests between the nodes and clients of a test: some may be lost, held back or cut off.</summary>
internal sealed class TestNetwork(TimeProvider time)
{
    private readonly Dictionary<NodeId, IRoleHandler> _nodes = [];
    private readonly HashSet<(NodeId From, NodeId To)> _cut = [];

    /// <summary>Requests by type, sent to that node.</summary>
    public List<(NodeId From, NodeId To, Request Request)> Sent { get; } = [];

    /// <summary>Answers, too, may be lost: true for those to drop.</summary>
    public Func<NodeId, NodeId, Request, bool>? DropsAnswer { get; set; }

    /// <summary>Requests that are lost.</summary>
    public Func<NodeId, NodeId, Request, bool>? Drops { get; set; }

    /// <summary>Requests that wait until it ends.</summary>
    public Func<NodeId, NodeId, Request, Task>? Holds { get; set; }

    /// <summary>Answers to requests that wait until it ends.</summary>
    public Func<NodeId, NodeId, Request, Task>? HoldsAnswer { get; set; }

    public void Set(NodeId node, IRoleHandler? handler)
    {
        if (handler is null) _nodes.Remove(node);
        else _nodes[node] = handler;
    }

    /// <summary>Requests, and answers with them, no longer pass in either direction.</summary>
    public void Cut(NodeId a, NodeId b)
    {
        _cut.Add((a, b));
        _cut.Add((b, a));
    }

    public void Heal() => _cut.Clear();

    public int Count<T>(NodeId to) => Sent.Count(sent => sent.To == to && sent.Request is T);

    public ITransport From(NodeId node) => new Port(this, node);

    private sealed class Port(TestNetwork network, NodeId from) : ITransport
    {
        public async ValueTask<TResponse> CallAsync<TResponse>(NodeAddress to, Request<TResponse> request,
            CancellationToken cancellationToken)
            where TResponse : Response
        {
            network.Sent.Add((from, to.Id, request));
            if (network.Holds?.Invoke(from, to.Id, request) is { } held) await held;
            await Task.Delay(TimeSpan.FromMilliseconds(1), network.Time, cancellationToken);
            if (network._cut.Contains((from, to.Id)) || network.Drops?.Invoke(from, to.Id, request) == true
                || !network._nodes.TryGetValue(to.Id, out var handler))
                throw new TransportException("No answer.", outcomeUnknown: true);
            var sink = new Sink();
            handler.Handle(request, new ReplyTo(sink, 1, request.Opcode));
            handler.BatchEnd();
            using var end = cancellationToken.Register(() => sink.Answer.TrySetCanceled(cancellationToken));
            var answer = await sink.Answer.Task;
            if (network.HoldsAnswer?.Invoke(from, to.Id, request) is { } back) await back;
            await Task.Delay(TimeSpan.FromMilliseconds(1), network.Time, cancellationToken);
            return network._cut.Contains((from, to.Id)) || network.DropsAnswer?.Invoke(from, to.Id, request) == true
                ? throw new TransportException("No answer.", outcomeUnknown: true)
                : (TResponse)answer;
        }

        public void Drop(NodeAddress node)
        {
        }

        public ValueTask<NodeDescription> DescribeAsync(NodeEndpoint endpoint, CancellationToken cancellationToken) =>
            throw new NotSupportedException();
    }

    private sealed class Sink : IReplySink
    {
        public TaskCompletionSource<Response> Answer { get; } = new();

        public void Send(uint correlation, Opcode opcode, Response response) => Answer.TrySetResult(response);
    }

    private TimeProvider Time => time;
}
