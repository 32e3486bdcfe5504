using Corfu.Etcd.Protocol;
using Google.Protobuf;
using Grpc.Core;
using Grpc.Net.Client;

namespace Corfu.Load;

/// <summary>Puts and reads by a client of etcd v3: the same for etcd and for a front end. Each caller puts a key of its
/// own, and all read one.</summary>
internal sealed class EtcdWorkload : IWorkload
{
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(30);

    private readonly WorkloadKind _kind;
    private readonly GrpcChannel[] _channels;
    private readonly KV.KVClient[] _clients;
    private readonly Dictionary<int, Task> _filled = [];

    /// <param name="address">As <c>http://127.0.0.1:2379</c>.</param>
    /// <param name="connections">Shared out among the callers.</param>
    public EtcdWorkload(WorkloadKind kind, string address, int connections)
    {
        _kind = kind;
        _channels = [.. Enumerable.Range(0, connections).Select(_ => Open(address))];
        _clients = Array.ConvertAll(_channels, static channel => new KV.KVClient(channel));
    }

    /// <summary>Completes once the server answers a read.</summary>
    public static async Task ProbeAsync(string address, CancellationToken cancellationToken)
    {
        using var channel = Open(address);
        await new KV.KVClient(channel).RangeAsync(
            new RangeRequest { Key = ByteString.CopyFromUtf8("probe") }, cancellationToken: cancellationToken);
    }

    public Func<int, ValueTask> Prepare(int callers, int size)
    {
        var value = UnsafeByteOperations.UnsafeWrap(CraqWorkload.Value(size));
        var read = ByteString.CopyFromUtf8($"load-read-{Environment.ProcessId}-{size}");
        var puts = Enumerable.Range(0, callers).Select(caller => new PutRequest
        {
            Key = ByteString.CopyFromUtf8($"load-{Environment.ProcessId}-{caller}"),
            Value = value,
        }).ToArray();
        var revisions = new RisingRevisions(callers);
        if (_kind == WorkloadKind.EtcdPut) return caller => CallAsync(caller, puts[caller], revisions);
        if (!_filled.TryGetValue(size, out var filled))
        {
            filled = _clients[0].PutAsync(
                new PutRequest { Key = read, Value = value }, deadline: Deadline()).ResponseAsync;
            _filled.Add(size, filled);
        }

        var range = new RangeRequest { Key = read, Serializable = _kind == WorkloadKind.EtcdLocalRange };
        return caller => CallAsync(caller, range, size, filled);
    }

    public ValueTask DisposeAsync()
    {
        foreach (var channel in _channels) channel.Dispose();
        return default;
    }

    private static GrpcChannel Open(string address) => GrpcChannel.ForAddress(address, new GrpcChannelOptions
    {
        // Connections are counted: none is opened beside.
        HttpHandler = new SocketsHttpHandler { EnableMultipleHttp2Connections = false },
        DisposeHttpClient = true,
    });

    private static DateTime Deadline() => DateTime.UtcNow + s_patience;

    private async ValueTask CallAsync(int caller, PutRequest put, RisingRevisions revisions)
    {
        try
        {
            var answer = await _clients[caller % _clients.Length].PutAsync(put, deadline: Deadline());
            revisions.Next(caller, answer.Header.Revision);
        }
        catch (RpcException e)
        {
            throw new CorfuException($"A put failed: {e.Status}.", e);
        }
    }

    private async ValueTask CallAsync(int caller, RangeRequest range, int size, Task filled)
    {
        try
        {
            if (!filled.IsCompletedSuccessfully) await filled;
            var found = await _clients[caller % _clients.Length].RangeAsync(range, deadline: Deadline());
            if (found.Kvs is not [var entry] || entry.Value.Length != size)
                throw new CorfuException($"A read found {found.Kvs.Count} keys.");
        }
        catch (RpcException e)
        {
            throw new CorfuException($"A read failed: {e.Status}.", e);
        }
    }
}
