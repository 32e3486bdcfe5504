using System.Net;
using Corfu.Etcd.Hosting;
using Tango.Testing;

namespace Corfu.Etcd.Tests.Support;

/// <summary>Front ends of one store over a log in memory, each in a runtime of its own, at ports of loopback.</summary>
internal sealed class EtcdWorld : IAsyncDisposable
{
    private readonly List<IAsyncDisposable> _open = [];

    public InMemoryCorfuLog Log { get; } = new(new InMemoryLogOptions());

    public static EtcdFrontEndOptions OptionsOf(EtcdLimits? limits = null) =>
        new(new IPEndPoint(IPAddress.Loopback, 0)) { Limits = limits ?? new EtcdLimits() };

    public async Task<EtcdClient> StartAsync(EtcdLimits? limits = null)
    {
        var (frontEnd, runtime) = await StartAsync(OptionsOf(limits), null);
        var client = new EtcdClient(frontEnd, runtime);
        _open.Add(client);
        return client;
    }

    /// <summary>A front end without a client. The caller disposes of both.</summary>
    /// <param name="port">Open, and without a store yet; null: the front end's own.</param>
    public async Task<(EtcdFrontEnd FrontEnd, TangoRuntime Runtime)> StartAsync(
        EtcdFrontEndOptions options, EtcdPort? port)
    {
        var runtime = new TangoRuntime(Log, EtcdFrontEnd.RuntimeOptions);
        return (await EtcdFrontEnd.StartAsync(
            new ServedLog(Log, "log", static () => 7), runtime, options, port, CancellationToken.None), runtime);
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var one in _open) await one.DisposeAsync();
    }
}
