using global::Tango;
using global::Tango.Testing;

namespace Corfu.Grpc.Tests.Tango;

/// <summary>A log in memory and the front ends that share it, in real time.</summary>
internal sealed class Front(InMemoryLogOptions? options = null) : IAsyncDisposable
{
    public static readonly TimeSpan Patience = TimeSpan.FromSeconds(20);

    private readonly List<IAsyncDisposable> _parts = [];

    public InMemoryCorfuLog Log { get; } = new(options);

    public TangoRuntime NewRuntime(int maxRemoteCohorts = 1000)
    {
        var runtime = new TangoRuntime(Log, () => new StreamCursor(Log), TimeProvider.System, SystemEntropy.Instance,
            new TangoOptions { IdlePlayback = TimeSpan.FromMilliseconds(20), MaxRemoteCohorts = maxRemoteCohorts });
        _parts.Add(runtime);
        return runtime;
    }

    public async Task<TangoFrontEnd> StartAsync(Action<CorfuGrpcOptions>? configure = null)
    {
        var started = await TangoFrontEnd.StartAsync(NewRuntime(), configure);
        _parts.Add(started);
        return started;
    }

    public async ValueTask DisposeAsync()
    {
        // The parts started last use the others.
        for (var i = _parts.Count - 1; i >= 0; i--) await _parts[i].DisposeAsync();
    }
}
