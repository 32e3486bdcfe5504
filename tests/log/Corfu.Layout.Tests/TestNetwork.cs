using System.Buffers;
using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Layout.Tests;

/// <summary>
/// Acceptors behind a network that loses, delays and repeats messages, and can crash: real handlers over torn devices,
/// requests through the real codec. Everything random comes from one seed, but threads interleave as they like.
/// </summary>
internal sealed class TestNetwork(int seed) : ITransport
{
    private static readonly RequestTable s_requests = new(LayoutMessages.AddTo);

    private readonly Random _random = new(seed);
    private readonly Dictionary<NodeId, TestDevice> _devices = [];
    private readonly Dictionary<NodeId, AcceptorHandler> _handlers = [];

    public double Loss { get; set; }

    public HashSet<NodeId> Down { get; } = [];

    public int Requests;

    /// <summary>Sees every request before it is delivered; may refuse it.</summary>
    public Func<NodeAddress, Request, bool>? Allow { get; set; }

    public async Task AddAsync(params int[] acceptors)
    {
        foreach (var acceptor in acceptors)
        {
            var id = Setup.Acceptor(acceptor).Id;
            _handlers[id] = await AcceptorHandler.OpenAsync(_devices[id] = new TestDevice(), Setup.Cluster, id);
        }
    }

    /// <summary>Power cut and restart: un-flushed writes survive torn, or not at all.</summary>
    public async Task CrashAsync(int acceptor)
    {
        var id = Setup.Acceptor(acceptor).Id;
        TestDevice survivor;
        lock (_random) survivor = _devices[id].CutPower(_random);
        var handler = await AcceptorHandler.OpenAsync(survivor, Setup.Cluster);
        lock (_handlers) (_devices[id], _handlers[id]) = (survivor, handler);
    }

    public async ValueTask<TResponse> CallAsync<TResponse>(NodeAddress to, Request<TResponse> request,
        CancellationToken cancellationToken)
        where TResponse : Response
    {
        Interlocked.Increment(ref Requests);
        await HopAsync();
        if (Down.Contains(to.Id)) throw new TransportException("down", outcomeUnknown: false);
        if (Allow is { } allow && !allow(to, request))
            throw new TransportException("not allowed", outcomeUnknown: true);
        if (Chance(Loss)) throw new TransportException("lost", outcomeUnknown: true);
        var answer = Deliver<TResponse>(to.Id, request);
        if (Chance(Loss)) _ = Deliver<TResponse>(to.Id, request);
        await HopAsync();
        if (Chance(Loss)) throw new TransportException("answer lost", outcomeUnknown: true);
        return await answer.WaitAsync(cancellationToken);
    }

    public void Drop(NodeAddress node) => throw new NotSupportedException();

    /// <summary>Which acceptor says who it is at an endpoint; requests find acceptors by their identities
    /// alone.</summary>
    public Dictionary<NodeEndpoint, NodeId> Listening { get; } = [];

    public ValueTask<NodeDescription> DescribeAsync(NodeEndpoint endpoint, CancellationToken cancellationToken) =>
        Listening.TryGetValue(endpoint, out var acceptor)
            ? new(new NodeDescription(Setup.Cluster, [new RoleIdentity(NodeRole.Acceptor, acceptor)]))
            : throw new TransportException("nobody listens there", outcomeUnknown: false);

    private Task<TResponse> Deliver<TResponse>(NodeId id, Request<TResponse> request)
        where TResponse : Response
    {
        var bytes = new FrameBuffer();
        MessageCodec.WriteRequest(bytes, 1, request);
        var received = MessageCodec.ReadRequest(FrameHeader.Parse(bytes.WrittenSpan),
            bytes.WrittenMemory[MessageCodec.HeaderSize..], s_requests)!;
        var sink = new Sink<TResponse>(request);
        AcceptorHandler handler;
        lock (_handlers) handler = _handlers[id];
        handler.Handle(received, new ReplyTo(sink, 1, received.Opcode));
        handler.BatchEnd();
        return sink.Answer.Task;
    }

    private bool Chance(double probability)
    {
        lock (_random) return _random.NextDouble() < probability;
    }

    private async Task HopAsync()
    {
        int hops;
        lock (_random) hops = _random.Next(4);
        for (var i = 0; i < hops; i++) await Task.Yield();
    }

    private sealed class Sink<TResponse>(Request<TResponse> request) : IReplySink
        where TResponse : Response
    {
        public TaskCompletionSource<TResponse> Answer { get; } =
            new(TaskCreationOptions.RunContinuationsAsynchronously);

        public void Send(uint correlation, Opcode opcode, Response response)
        {
            var bytes = new FrameBuffer();
            MessageCodec.WriteResponse(bytes, correlation, opcode, response);
            Answer.SetResult((TResponse)MessageCodec.ReadResponse(request, FrameHeader.Parse(bytes.WrittenSpan),
                bytes.WrittenMemory[MessageCodec.HeaderSize..]));
        }
    }
}
