using System.Collections.Concurrent;

namespace Craq.Client.Tests;

/// <summary>Nodes that answer as a test says. A node without a script, or a script that returns null, is
/// silent.</summary>
internal sealed class FakeNodes : ITransport
{
    private readonly ConcurrentDictionary<NodeId, Func<Request, Response?>> _scripts = new();
    private readonly ConcurrentQueue<(NodeId Node, Request Request)> _sent = new();

    public IEnumerable<(NodeId Node, Request Request)> Sent => _sent;

    public IEnumerable<T> SentOf<T>()
        where T : Request => _sent.Select(one => one.Request).OfType<T>();

    /// <summary>The nodes that a kind of request went to, in order.</summary>
    public IEnumerable<NodeId> AskedFor<T>()
        where T : Request => _sent.Where(one => one.Request is T).Select(one => one.Node);

    public static NodeId Node(int number) => new(new Guid(number, 0, 0, new byte[8]));

    public static NodeAddress Address(int number) => new(Node(number), new NodeEndpoint("127.0.0.1", 7000 + number));

    public static ChainView View(ChainId chain, long epoch, params ReadOnlySpan<(int Node, string Datacenter)> members)
    {
        ImmutableArray<ChainMember> all =
            [.. members.ToArray().Select(member => new ChainMember(Node(member.Node), member.Datacenter))];
        return new ChainView(
            new ChainConfig(chain, "orders", new Epoch(epoch), all, all, 1, Placement.Default, ChainOptions.Default),
            [.. members.ToArray().Select(member => Address(member.Node).Endpoint)]);
    }

    public void On(int node, Func<Request, Response?> script) => _scripts[Node(node)] = script;

    /// <summary>A script before what the node does otherwise; null: as before.</summary>
    public void First<T>(int node, Func<T, Response?> script)
        where T : Request
    {
        var before = _scripts.GetValueOrDefault(Node(node));
        On(node, request => request is T one && script(one) is { } answer ? answer : before?.Invoke(request));
    }

    public ValueTask<TResponse> CallAsync<TResponse>(
        NodeAddress to, Request<TResponse> request, CancellationToken cancellationToken)
        where TResponse : Response
    {
        _sent.Enqueue((to.Id, request));
        var answer = _scripts.TryGetValue(to.Id, out var script) ? script(request) : null;
        return answer is null
            ? ValueTask.FromException<TResponse>(new TransportException($"{to}: silent.", outcomeUnknown: true))
            : ValueTask.FromResult((TResponse)answer);
    }

    public void Drop(NodeAddress node)
    {
    }

    public ValueTask<NodeDescription> DescribeAsync(NodeEndpoint endpoint, CancellationToken cancellationToken) =>
        _scripts.Keys.FirstOrDefault(node => Address(node.Value.ToByteArray()[0]).Endpoint == endpoint) is
        { IsNone: false } found
            ? ValueTask.FromResult(new NodeDescription(
                new ClusterId(new Guid(9, 0, 0, new byte[8])), [new RoleIdentity(CraqRole.Role, found)]))
            : ValueTask.FromException<NodeDescription>(
                new TransportException($"{endpoint}: silent.", outcomeUnknown: false));
}
