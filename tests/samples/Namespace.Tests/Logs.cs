using Corfu;
using NamespaceSample.Service;
using Tango;
using Tango.Testing;

namespace NamespaceSample.Tests;

/// <summary>A log in memory, and runtimes on it as different processes have them.</summary>
internal sealed class Logs : IAsyncDisposable
{
    private readonly InMemoryCorfuLog _log = new();
    private readonly List<TangoRuntime> _runtimes = [];

    public TangoRuntime NewRuntime()
    {
        var runtime = new TangoRuntime(
            _log, _log.OpenCursor, TimeProvider.System, SystemEntropy.Instance, NamespaceService.Options);
        _runtimes.Add(runtime);
        return runtime;
    }

    /// <summary>A runtime for each partition, which hosts it.</summary>
    public async Task HostAsync()
    {
        for (int i = 0; i < PartitionMap.Count; i++) await Partition.HostAsync(NewRuntime(), i, default);
    }

    /// <summary>A client that hosts nothing.</summary>
    public async Task<NamespaceService> OpenAsync() => await NamespaceService.OpenAsync(NewRuntime(), [], default);

    public async ValueTask DisposeAsync()
    {
        foreach (TangoRuntime runtime in _runtimes) await runtime.DisposeAsync();
    }
}
