using Grpc.Net.Client;

namespace Corfu.Load;

/// <summary>Messages to <see cref="BytesEcho"/>, of the size that an <c>AppendMany</c> request has.</summary>
internal sealed class GrpcEchoWorkload : IWorkload
{
    private readonly GrpcChannel _channel;
    private readonly MessageCall<byte[], byte[]> _call;

    // Guarded by itself, together with the order of sending. Answers have no name: the oldest message is answered
    // first.
    private readonly Queue<TaskCompletionSource> _waiting = [];
    private readonly int _batch;
    private Exception? _fault;

    public GrpcEchoWorkload(string address, int batch)
    {
        _batch = batch;
        _channel = GrpcChannel.ForAddress(address);
        _call = new MessageCall<byte[], byte[]>(
            _channel.CreateCallInvoker().AsyncDuplexStreamingCall(BytesEcho.Method, null, default), Answered, Broken);
    }

    public Func<int, ValueTask> Prepare(int callers, int size)
    {
        var message = new byte[new AppendMessages(_batch, size).MessageSize];
        return _ =>
        {
            var answer = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            lock (_waiting)
            {
                if (_fault is not null) return ValueTask.FromException(_fault);
                _waiting.Enqueue(answer);
                _call.Send(message);
            }

            return new ValueTask(answer.Task);
        };
    }

    public async ValueTask DisposeAsync()
    {
        await _call.DisposeAsync();
        _channel.Dispose();
    }

    private void Answered(byte[] message)
    {
        TaskCompletionSource answer;
        lock (_waiting) answer = _waiting.Dequeue();
        answer.SetResult();
    }

    private void Broken(Exception fault)
    {
        lock (_waiting)
        {
            _fault = fault;
            while (_waiting.TryDequeue(out var answer)) answer.SetException(fault);
        }
    }
}
