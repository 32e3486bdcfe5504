using System.Threading.Channels;
using Grpc.Core;

namespace Corfu.Load;

/// <summary>A bidirectional call with many messages under way. gRPC allows one write at a time. One task therefore
/// writes the messages that callers queue, and another hands the answers out.</summary>
internal sealed class MessageCall<TRequest, TResponse> : IAsyncDisposable
    where TRequest : class
    where TResponse : class
{
    private readonly AsyncDuplexStreamingCall<TRequest, TResponse> _call;
    private readonly Action<TResponse> _answered;
    private readonly Action<Exception> _broken;

    // As long as there are callers: each waits for the answer to its message before it queues another.
    private readonly Channel<TRequest> _requests =
        Channel.CreateUnbounded<TRequest>(new UnboundedChannelOptions { SingleReader = true });

    private readonly Task _writing;
    private readonly Task _reading;

    /// <param name="answered">Called for one answer at a time, in the order in which they arrive.</param>
    /// <param name="broken">Called once when the call ends before its disposal; no answer follows.</param>
    public MessageCall(AsyncDuplexStreamingCall<TRequest, TResponse> call, Action<TResponse> answered,
        Action<Exception> broken)
    {
        (_call, _answered, _broken) = (call, answered, broken);
        _writing = WriteAsync();
        _reading = ReadAsync();
    }

    public void Send(TRequest request) => _requests.Writer.TryWrite(request);

    public async ValueTask DisposeAsync()
    {
        _requests.Writer.TryComplete();
        await _writing;
        await _reading;
        _call.Dispose();
    }

    private async Task WriteAsync()
    {
        try
        {
            await foreach (var request in _requests.Reader.ReadAllAsync())
                await _call.RequestStream.WriteAsync(request);
            await _call.RequestStream.CompleteAsync();
        }
        catch (Exception e) when (e is RpcException or InvalidOperationException)
        {
            // The call has ended; the reader learns why and says so.
        }
    }

    private async Task ReadAsync()
    {
        try
        {
            while (await _call.ResponseStream.MoveNext(CancellationToken.None)) _answered(_call.ResponseStream.Current);
            if (!_requests.Reader.Completion.IsCompleted) _broken(new IOException("The server has ended the call."));
        }
        catch (RpcException e)
        {
            _broken(new IOException($"The gRPC call has failed: {e.Status}.", e));
        }
    }
}
