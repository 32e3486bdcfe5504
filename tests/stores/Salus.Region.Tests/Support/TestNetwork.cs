using System.Buffers;
using System.Collections.Concurrent;

namespace Salus.Region.Tests.Support;

/// <summary>Requests between the nodes and the driver of a test, through the real codec. Some may be lost, or their
/// answers.</summary>
internal sealed class TestNetwork
{
    private static readonly RequestTable s_table = new(SalusMessages.AddTo);
    private static readonly ushort s_version = WireProtocol.Current.Highest;

    private readonly ConcurrentDictionary<NodeId, IRoleHandler> _nodes = new();

    /// <summary>Requests that are lost: by the node that they are for.</summary>
    public Func<NodeId, Request, bool>? Drops { get; set; }

    /// <summary>Requests that are carried out, and whose answers are lost.</summary>
    public Func<NodeId, Request, bool>? DropsAnswer { get; set; }

    /// <summary>Changes requests on their way.</summary>
    public Func<NodeId, Request, Request>? Changes { get; set; }

    /// <summary>Changes answers on their way.</summary>
    public Func<NodeId, Request, Response, Response>? ChangesAnswer { get; set; }

    public ConcurrentQueue<(NodeId To, Request Request, Response? Response)> Sent { get; } = [];

    public void Set(NodeId node, IRoleHandler? handler)
    {
        if (handler is null) _nodes.TryRemove(node, out _);
        else _nodes[node] = handler;
    }

    public ITransport Transport => new Port(this);

    private static ReadOnlyMemory<byte> Body(Message message)
    {
        var output = new ArrayBufferWriter<byte>();
        var w = new WireWriter(output, s_version);
        message.WriteBody(ref w);
        w.Flush();
        return output.WrittenMemory;
    }

    private sealed class Port(TestNetwork network) : ITransport
    {
        public async ValueTask<TResponse> CallAsync<TResponse>(NodeAddress to, Request<TResponse> request,
            CancellationToken cancellationToken)
            where TResponse : Response
        {
            await Task.Yield();
            var sent = network.Changes?.Invoke(to.Id, request) ?? request;
            if (network.Drops?.Invoke(to.Id, sent) == true || !network._nodes.TryGetValue(to.Id, out var handler))
            {
                network.Sent.Enqueue((to.Id, sent, null));
                throw new TransportException("No answer.", outcomeUnknown: true);
            }

            var body = Body(sent).ToArray();
            var read = MessageCodec.ReadRequest(
                new FrameHeader(body.Length, 1, sent.Epoch, sent.Opcode, Status.Ok), body, s_table, s_version)!;
            var sink = new Sink();
            handler.Handle(read, new ReplyTo(sink, 1, read.Opcode));
            handler.BatchEnd();
            // The connection's buffer is another request's now.
            Array.Fill<byte>(body, 0xEE);
            await using var end = cancellationToken.Register(() => sink.Answer.TrySetCanceled(cancellationToken));
            var (status, epoch, bytes) = await sink.Answer.Task;
            var answer = MessageCodec.ReadResponse(
                sent, new FrameHeader(bytes.Length, 1, epoch, sent.Opcode, status), bytes, s_version);
            answer = network.ChangesAnswer?.Invoke(to.Id, sent, answer) ?? answer;
            network.Sent.Enqueue((to.Id, sent, answer));
            return network.DropsAnswer?.Invoke(to.Id, sent) == true
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
        private int _answers;

        public TaskCompletionSource<(Status Status, Epoch Epoch, ReadOnlyMemory<byte> Body)> Answer { get; } =
            new(TaskCreationOptions.RunContinuationsAsynchronously);

        // Encoded at once: the answer's memory is free behind the call. The caller may have given up before.
        public void Send(uint correlation, Opcode opcode, Response response)
        {
            if (Interlocked.Increment(ref _answers) > 1)
                throw new InvalidOperationException($"{opcode} is answered twice.");
            Answer.TrySetResult((response.Status, response.Epoch, Body(response).ToArray()));
        }
    }
}
