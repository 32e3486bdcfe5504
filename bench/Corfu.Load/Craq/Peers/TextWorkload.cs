using System.Globalization;

namespace Corfu.Load;

/// <summary>Gets and sets over a text protocol. All callers read one key, and each writes a key of its own.</summary>
/// <param name="target">As <c>memcached/127.0.0.1:11211</c>.</param>
/// <param name="ownConnections">A connection for each caller; else one for all.</param>
internal sealed class TextWorkload(WorkloadKind kind, string target, bool ownConnections) : IWorkload
{
    private const string ReadKey = "load-read";

    private readonly List<TextConnection> _connections = [];
    private Task _connected = Task.CompletedTask;
    private int _readSize;

    public Func<int, ValueTask> Prepare(int callers, int size)
    {
        var slash = target.IndexOf('/');
        var dialect = TextDialect.Named(target[..slash]);
        var value = CraqWorkload.Value(size);
        var count = ownConnections ? callers : 1;
        _connected = ConnectAsync(_connected, count, dialect, value);
        var get = dialect.Get(ReadKey);
        byte[][] sets = [.. Enumerable.Range(0, callers).Select(caller =>
            dialect.Set($"load-{Environment.ProcessId}-{caller}", value))];
        var (request, expected) = kind == WorkloadKind.TextGet
            ? ((Func<int, byte[]>)(_ => get), size)
            : (caller => sets[caller], TextDialect.Stored);
        return async caller =>
        {
            if (!_connected.IsCompletedSuccessfully) await _connected;
            var outcome = await _connections[caller % count].CallAsync(request(caller));
            if (outcome != expected) throw new CorfuException($"The server answered {outcome}, not {expected}.");
        };
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var connection in _connections) await connection.DisposeAsync();
    }

    // Connections live from round to round; a round with more callers opens those that are missing.
    private async Task ConnectAsync(Task before, int count, TextDialect dialect, byte[] value)
    {
        await before;
        var address = target[(target.IndexOf('/') + 1)..];
        var colon = address.LastIndexOf(':');
        var port = int.Parse(address[(colon + 1)..], CultureInfo.InvariantCulture);
        while (_connections.Count < count)
            _connections.Add(await TextConnection.ConnectAsync(address[..colon], port, dialect));
        if (kind != WorkloadKind.TextGet || _readSize == value.Length) return;
        await _connections[0].CallAsync(dialect.Set(ReadKey, value));
        _readSize = value.Length;
    }
}
