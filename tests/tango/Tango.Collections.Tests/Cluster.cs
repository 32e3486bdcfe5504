using Corfu;
using Tango.Testing;

namespace Tango.Collections.Tests;

/// <summary>An in-memory log and the runtimes on it.</summary>
internal sealed class Cluster : IAsyncDisposable
{
    private readonly List<TangoRuntime> _runtimes = [];

    private readonly InMemoryCorfuLog _log = new();

    public TangoRuntime NewRuntime()
    {
        var runtime = new TangoRuntime(_log, _log.OpenCursor, TimeProvider.System, SystemEntropy.Instance);
        _runtimes.Add(runtime);
        return runtime;
    }

    public ValueTask<T> OpenAsync<T>(string name = "object")
        where T : TangoObject, ITangoObject<T> => NewRuntime().OpenAsync<T>(name, OpenMode.Create);

    public async ValueTask DisposeAsync()
    {
        foreach (TangoRuntime runtime in _runtimes) await runtime.DisposeAsync();
    }
}
