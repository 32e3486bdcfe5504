using System.Collections.Concurrent;
using Corfu.Grpc.Protocol.Log.V1;
using Corfu.Protocol;
using Grpc.Net.Client;

namespace Corfu.Load;

/// <summary>Durable appends through a front end, over one <c>AppendMany</c> call. One operation is a message; it is
/// done when all of its entries are.</summary>
internal sealed class GrpcAppendWorkload : IWorkload
{
    private readonly GrpcChannel _channel;
    private readonly MessageCall<AppendManyRequest, AppendManyResponse> _call;
    private readonly ConcurrentDictionary<long, Message> _waiting = [];
    private readonly int _batch;
    private AppendMessages? _messages;
    private long _sent;
    private volatile Exception? _fault;

    public GrpcAppendWorkload(string address, int batch)
    {
        _batch = batch;
        _channel = GrpcChannel.ForAddress(address);
        _call = new MessageCall<AppendManyRequest, AppendManyResponse>(
            new LogService.LogServiceClient(_channel).AppendMany(), Answered, Broken);
    }

    public Func<int, ValueTask> Prepare(int callers, int size)
    {
        var messages = _messages = new AppendMessages(_batch, size);
        return _ =>
        {
            var number = Interlocked.Increment(ref _sent);
            var message = new Message(_batch);
            _waiting[number] = message;
            _call.Send(messages.Build(number));
            // Broken may have looked before the message was there.
            if (_fault is { } fault) message.Fail(fault);
            return new ValueTask(message.Done);
        };
    }

    public async ValueTask DisposeAsync()
    {
        await _call.DisposeAsync();
        _channel.Dispose();
    }

    private void Answered(AppendManyResponse response)
    {
        foreach (var item in response.Items)
        {
            var number = _messages!.NumberOf(item.Id);
            if (_waiting[number].Answer(item)) _waiting.TryRemove(number, out var _);
        }
    }

    private void Broken(Exception fault)
    {
        _fault = fault;
        foreach (var message in _waiting.Values) message.Fail(fault);
    }

    /// <summary>Answers come one at a time.</summary>
    private sealed class Message(int entries)
    {
        private readonly TaskCompletionSource _done = new(TaskCreationOptions.RunContinuationsAsynchronously);
        private int _left = entries;
        private CorfuException? _notAppended;

        public Task Done => _done.Task;

        /// <summary>Whether it was the last one.</summary>
        public bool Answer(AppendManyResponse.Types.Item item)
        {
            if (item.Result?.Outcome != Outcome.Appended)
                _notAppended ??= new CorfuException($"An entry was not appended: {item}.");
            if (--_left > 0) return false;
            if (_notAppended is null) _done.SetResult();
            else _done.SetException(_notAppended);
            return true;
        }

        public void Fail(Exception fault) => _done.TrySetException(fault);
    }
}
