using System.Buffers;
using System.Collections.Concurrent;
using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Hosting;

/// <summary>A network within the process, with everything encoded and decoded as on a real one; a process of it may die.</summary>
internal sealed class RehearsalNetwork(ClusterId cluster) : ITransport
{
    private readonly ConcurrentDictionary<NodeAddress, IRoleHandler> _roles = new();
    private readonly ConcurrentDictionary<NodeEndpoint, bool> _dead = new();

    public void Add(NodeEndpoint endpoint, IRoleHandler role) => _roles[new NodeAddress(role.Id, endpoint)] = role;

    public void Kill(NodeEndpoint endpoint) => _dead[endpoint] = true;

    public async ValueTask<TResponse> CallAsync<TResponse>(NodeAddress to, Request<TResponse> request, CancellationToken cancellationToken)
        where TResponse : Response
    {
        await Task.Yield();
        var handler = RoleAt(to);
        var frame = new ArrayBufferWriter<byte>();
        MessageCodec.WriteRequest(frame, 1, request);
        var decoded = MessageCodec.ReadRequest(FrameHeader.Parse(frame.WrittenSpan), frame.WrittenMemory[MessageCodec.HeaderSize..])!;
        var sink = new Sink();
        handler.Handle(decoded, new ReplyTo(sink, 1, request.Opcode));
        handler.BatchEnd();
        var answer = await sink.Answer.Task.WaitAsync(cancellationToken);
        if (_dead.ContainsKey(to.Endpoint)) throw new TransportException($"{to}: it has died.", outcomeUnknown: true) { Fault = TransportFault.Lost };
        return (TResponse)MessageCodec.ReadResponse(request, FrameHeader.Parse(answer), answer.AsMemory(MessageCodec.HeaderSize));
    }

    public void Drop(NodeAddress node)
    {
        // Whoever is dropped here is dead, and the dead answer at once.
    }

    public async ValueTask<NodeDescription> DescribeAsync(NodeEndpoint endpoint, CancellationToken cancellationToken)
    {
        await Task.Yield();
        if (_dead.ContainsKey(endpoint)) throw Refused(endpoint.ToString());
        return new NodeDescription(cluster, [.. from role in _roles where role.Key.Endpoint == endpoint select new RoleIdentity(role.Value.Role, role.Value.Id)]);
    }

    private IRoleHandler RoleAt(NodeAddress to) => !_dead.ContainsKey(to.Endpoint) && _roles.TryGetValue(to, out var role) ? role : throw Refused(to.ToString());

    private static TransportException Refused(string who) => new($"{who}: refused.", outcomeUnknown: false) { Fault = TransportFault.Refused };

    private sealed class Sink : IReplySink
    {
        public TaskCompletionSource<byte[]> Answer { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        // A response's memory is free when this returns.
        public void Send(uint correlation, Opcode opcode, Response response)
        {
            var frame = new ArrayBufferWriter<byte>();
            MessageCodec.WriteResponse(frame, correlation, opcode, response);
            Answer.TrySetResult(frame.WrittenSpan.ToArray());
        }
    }
}
