using Tango;
using Tango.Collections;

namespace Corfu.Benchmarks;

/// <summary>A class whose benchmarks use one dictionary on the cluster, full at the start.</summary>
public abstract class ObjectBenchmarks : ClusterBenchmarks
{
    protected const int Keys = 10_000;

    private const int Writers = 1024;

    private TangoRuntime? _runtime;

    protected TangoRuntime Runtime => _runtime!;

    protected TangoDictionary<long, string> Dictionary { get; private set; } = null!;

    /// <summary>As long as the payload of an entry in other classes.</summary>
    protected string Value { get; } = new('.', Size);

    protected override async Task PrepareAsync()
    {
        _runtime = new TangoRuntime(Client);
        Dictionary = await _runtime.OpenAsync<TangoDictionary<long, string>>("dictionary", OpenMode.Create);
        var next = -1;
        await Window.RunAsync(Writers, Keys,
            async _ => await Dictionary.SetAsync(Interlocked.Increment(ref next), Value));
        await Dictionary.CountAsync();
    }

    protected override async ValueTask EndAsync()
    {
        if (_runtime is not null) await _runtime.DisposeAsync();
    }
}
