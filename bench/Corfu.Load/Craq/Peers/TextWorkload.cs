using System.Globalization;

namespace Corfu.Load;

/// <summary>Gets and sets over a text protocol. All callers read one key, and each writes a key of its own.</summary>
/// <param name="target">As <c>memcached/127.0.0.1:11211</c>.</param>
/// <param name="ownConnections">A connection for each caller; else one for all.</param>
internal sealed class TextWorkload(WorkloadKind kind, string target, bool ownConnections) : IWorkload
{
    private const string ReadKey = "load-read";

    private readonly List<TextConnection> _connections = [];
    private Task? _connected;

    public Func<int, ValueTask> Prepare(int callers, int size)
    {
        var slash = target.IndexOf('/');
        var dialect = TextDialect.Named(target[..slash]);
        var value = CraqWorkload.Value(size);
        _connected ??= ConnectAsync(ownConnections ? callers : 1, dialect, value);
        var get = dialect.Get(ReadKey);
        byte[][] sets = [.. Enumerable.Range(0, callers).Select(caller =>
            dialect.Set($"load-{Environment.ProcessId}-{caller}", value))];
        var (request, expected) = kind == WorkloadKind.TextGet
            ? ((Func<int, byte[]>)(_ => get), size)
            : (caller => sets[caller], TextDialect.Stored);
        return async caller =>
        {
            if (!_connected.IsCompletedSuccessfully) await _connected;
            var outcome = await _connections[caller % _connections.Count].CallAsync(request(caller));
            if (outcome != expected) throw new CorfuException($"The server answered {outcome}, not {expected}.");
        };
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var connection in _connections) await connection.DisposeAsync();
    }

    private async Task ConnectAsync(int count, TextDialect dialect, byte[] value)
    {
        var address = target[(target.IndexOf('/') + 1)..];
        var colon = address.LastIndexOf(':');
        var port = int.Parse(address[(colon + 1)..], CultureInfo.InvariantCulture);
        for (var i = 0; i < count; i++)
            _connections.Add(await TextConnection.ConnectAsync(address[..colon], port, dialect));
        await _connections[0].CallAsync(dialect.Set(ReadKey, value));
    }
}
