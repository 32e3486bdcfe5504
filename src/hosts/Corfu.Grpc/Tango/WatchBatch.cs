using Grpc.Core;
using V1 = Corfu.Grpc.Protocol.Tango.V1;

namespace Corfu.Grpc;

/// <summary>Events of a watch that wait to be sent together.</summary>
internal sealed class WatchBatch(
    IServerStreamWriter<V1.WatchResponse> responses, CorfuGrpcOptions options, StandingAccess access)
{
    private V1.WatchResponse _waiting = new();
    private long _bytes;

    public async ValueTask AddAsync(V1.WatchEvent told, CancellationToken cancellationToken)
    {
        var bytes = told.CalculateSize();
        if (_bytes + bytes > options.MaxBatchBytes || _waiting.Events.Count >= options.MaxBatchEntries)
            await FlushAsync(cancellationToken);
        _waiting.Events.Add(told);
        _bytes += bytes;
    }

    public async ValueTask FlushAsync(CancellationToken cancellationToken)
    {
        if (_waiting.Events.Count == 0) return;
        var full = _waiting;
        (_waiting, _bytes) = (new V1.WatchResponse(), 0);
        await access.RequireAsync();
        await responses.WriteAsync(full, cancellationToken);
    }
}
