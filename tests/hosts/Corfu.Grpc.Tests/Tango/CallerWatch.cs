using Corfu.Grpc.Protocol.Tango.V1;
using global::Grpc.Core;

namespace Corfu.Grpc.Tests.Tango;

/// <summary>A caller's side of a watch: its events, one after the other.</summary>
internal sealed class CallerWatch(TangoFrontEnd own, WatchRequest request) : IDisposable
{
    private readonly AsyncServerStreamingCall<WatchResponse> _call = own.Dictionaries.Watch(request);
    private readonly Queue<WatchEvent> _events = new();

    /// <summary>How many have come.</summary>
    public int Messages { get; private set; }

    public async Task<WatchEvent> NextAsync()
    {
        using var limit = new CancellationTokenSource(Front.Patience);
        while (_events.Count == 0)
        {
            Assert.True(await _call.ResponseStream.MoveNext(limit.Token));
            Messages++;
            foreach (var told in _call.ResponseStream.Current.Events) _events.Enqueue(told);
        }

        return _events.Dequeue();
    }

    public void Dispose() => _call.Dispose();
}
