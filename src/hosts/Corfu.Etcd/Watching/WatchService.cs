using Corfu.Etcd.Serving;
using Grpc.Core;

namespace Corfu.Etcd.Watching;

/// <summary>Watches. They are of their stream: a client goes on at any front end with the revision after the last one
/// that it heard.</summary>
internal sealed class WatchService(StoreAccess access) : Watch.WatchBase
{
    public override Task Watch(IAsyncStreamReader<WatchRequest> requestStream,
        IServerStreamWriter<WatchResponse> responseStream, ServerCallContext context) =>
        access.RunLongAsync(nameof(Watch), context, async (served, token) =>
        {
            await using var stream = new WatchStream(served, responseStream);
            await stream.RunAsync(requestStream, token).ConfigureAwait(false);
            return true;
        });
}
