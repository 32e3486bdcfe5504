using System.Buffers;
using System.Collections.Concurrent;
using System.Collections.Immutable;
using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Client.Tests.Cluster;

/// <summary>Hands requests to handlers in this process, through the real codec, with faults that the test
/// chooses.</summary>
internal sealed class DirectTransport(ClusterId cluster) : ITransport
{
    private static readonly RequestTable s_requests = new(
        UnitMessages.AddTo, SequencerMessages.AddTo, LayoutMessages.AddTo, AgentMessages.AddTo);

    private static readonly ushort s_version = WireProtocol.Current.Highest;

    private readonly ConcurrentDictionary<NodeId, IRoleHandler> _nodes = new();
    private readonly ConcurrentDictionary<NodeEndpoint, ImmutableArray<RoleIdentity>> _endpoints = new();

    private readonly ConcurrentDictionary<NodeId, NodeEndpoint> _moved = new();

    /// <summary>Asked for every request; may also wait, which delays it.</summary>
    public Func<NodeAddress, Request, ValueTask<Fault>>? Faults { get; set; }

    /// <summary>Answers in the node's place, or null.</summary>
    public Func<Request, Response?>? Answer { get; set; }

    /// <summary>Changes what a node answers, as a damaged disk would.</summary>
    public Func<NodeAddress, Request, Response, Response>? Rewrite { get; set; }

    public ConcurrentQueue<(NodeAddress To, Request Request)>? Trace { get; set; }

    public void Serve(NodeEndpoint endpoint, IRoleHandler handler)
    {
        _nodes[handler.Id] = handler;
        _endpoints.AddOrUpdate(
            endpoint, _ => [new RoleIdentity(handler.Role, handler.Id)],
            (_, roles) => roles.Add(new RoleIdentity(handler.Role, handler.Id)));
    }

    /// <summary>A node answers at another endpoint from now on, and only there.</summary>
    public void Move(NodeId node, NodeEndpoint from, NodeEndpoint to)
    {
        _moved[node] = to;
        _endpoints.TryRemove(from, out var roles);
        _endpoints[to] = roles;
    }

    public void Stop(NodeId node) => _nodes.TryRemove(node, out _);

    public async ValueTask<TResponse> CallAsync<TResponse>(NodeAddress to, Request<TResponse> request,
        CancellationToken cancellationToken)
        where TResponse : Response
    {
        cancellationToken.ThrowIfCancellationRequested();
        Trace?.Enqueue((to, request));
        var fault = Faults is { } faults ? await faults(to, request) : Fault.None;
        if (_moved.TryGetValue(to.Id, out var endpoint) && endpoint != to.Endpoint) fault = Fault.Refused;
        if (fault == Fault.Refused || !_nodes.TryGetValue(to.Id, out var handler))
            throw new TransportException($"{to} is down.", false);
        if (fault == Fault.RequestLost) throw new TransportException($"{to}: time-out.", true);
        if (Answer?.Invoke(request) is TResponse refusal) return refusal;
        var sink = new Sink<TResponse>(request);
        var frame = new FrameBuffer();
        MessageCodec.WriteRequest(frame, 1, request, s_version);
        var header = FrameHeader.Parse(frame.WrittenSpan);
        var received = MessageCodec.ReadRequest(header, frame.WrittenMemory[MessageCodec.HeaderSize..], s_requests,
            s_version)!;
        handler.Handle(received, new ReplyTo(sink, 1, header.Opcode));
        handler.BatchEnd();
        var answer = await sink.Answer.Task.WaitAsync(cancellationToken);
        if (Rewrite is { } rewrite) answer = (TResponse)rewrite(to, request, answer);
        return fault == Fault.AnswerLost ? throw new TransportException($"{to}: time-out.", true) : answer;
    }

    /// <summary>Called when a client lets go of a node.</summary>
    public Action<NodeAddress>? Dropped { get; set; }

    public void Drop(NodeAddress node) => Dropped?.Invoke(node);

    public ValueTask<NodeDescription> DescribeAsync(NodeEndpoint endpoint, CancellationToken cancellationToken) =>
        _endpoints.TryGetValue(endpoint, out var roles)
            ? new(new NodeDescription(cluster, roles))
            : throw new TransportException($"{endpoint}: connection refused.", false);

    private sealed class Sink<TResponse>(Request<TResponse> request) : IReplySink
        where TResponse : Response
    {
        public TaskCompletionSource<TResponse> Answer { get; } =
            new(TaskCreationOptions.RunContinuationsAsynchronously);

        public void Send(uint correlation, Opcode opcode, Response response)
        {
            var frame = new FrameBuffer();
            MessageCodec.WriteResponse(frame, correlation, opcode, response, s_version);
            var header = FrameHeader.Parse(frame.WrittenSpan);
            Answer.SetResult((TResponse)MessageCodec.ReadResponse(request, header,
                frame.WrittenMemory[MessageCodec.HeaderSize..], s_version));
        }
    }
}
