using System.Net;
using Corfu.Etcd.Hosting;
using Tango.Testing;

namespace Corfu.Etcd.Tests.Support;

/// <summary>Front ends of one store over a log in memory, each in a runtime of its own, at ports of loopback.</summary>
internal sealed class EtcdWorld : IAsyncDisposable
{
    private readonly List<IAsyncDisposable> _open = [];

    public InMemoryCorfuLog Log { get; } = new(new InMemoryLogOptions());

    public async Task<EtcdClient> StartAsync(EtcdLimits? limits = null)
    {
        var runtime = new TangoRuntime(Log, EtcdFrontEnd.RuntimeOptions);
        var options = new EtcdFrontEndOptions(new IPEndPoint(IPAddress.Loopback, 0))
        {
            Limits = limits ?? new EtcdLimits(),
        };
        var frontEnd = await EtcdFrontEnd.StartAsync(
            new ServedLog(Log, "log", static () => 7), runtime, options, null, CancellationToken.None);
        var client = new EtcdClient(frontEnd, runtime);
        _open.Add(client);
        return client;
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var one in _open) await one.DisposeAsync();
    }
}
