using Corfu.Client;
using Craq;
using Tango;

namespace Corfu.Load;

/// <summary>A client of each cluster that this process loads, and a runtime where Tango objects are used: what a
/// service would have.</summary>
internal sealed class Sessions : IAsyncDisposable
{
    private readonly Dictionary<string, CorfuClient> _clients = [];
    private readonly Dictionary<(string Target, TransactionDecisions Decisions), TangoRuntime> _runtimes = [];
    private readonly Dictionary<string, CraqClient> _stores = [];

    public async Task<CorfuClient> ClientAsync(string target)
    {
        if (!_clients.TryGetValue(target, out var client))
            _clients.Add(target, client = await CorfuClient.ConnectAsync(target));
        return client;
    }

    public async Task<TangoRuntime> RuntimeAsync(
        string target, TransactionDecisions decisions = TransactionDecisions.Playback)
    {
        if (!_runtimes.TryGetValue((target, decisions), out var runtime))
        {
            runtime = new TangoRuntime(await ClientAsync(target), new TangoOptions { Decisions = decisions });
            _runtimes.Add((target, decisions), runtime);
        }

        return runtime;
    }

    public async Task<CraqClient> CraqAsync(string target)
    {
        if (!_stores.TryGetValue(target, out var client))
            _stores.Add(target, client = await CraqClient.ConnectAsync(target));
        return client;
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var client in _stores.Values) await client.DisposeAsync();
        foreach (var runtime in _runtimes.Values) await runtime.DisposeAsync();
        foreach (var client in _clients.Values) await client.DisposeAsync();
    }
}
