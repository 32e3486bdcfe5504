using NamespaceSample.Model;
using NamespaceSample.Service;
using Tango;

namespace NamespaceSample.Load;

/// <summary>
/// Three clients at once on one namespace, each with a runtime of its own: two host a partition each, the third hosts
/// neither. What they did is compared with what is there at the end.
/// </summary>
/// <param name="newRuntime">A runtime over the shared log, with connections of its own where it has any.</param>
public sealed class LoadRun(Func<CancellationToken, Task<TangoRuntime>> newRuntime, int seed) : IAsyncDisposable
{
    public const int Clients = 3;

    private readonly List<TangoRuntime> _runtimes = [];

    /// <param name="start">Made first, by the client that hosts nothing.</param>
    /// <param name="perClient">How many changes each client makes then.</param>
    /// <param name="made">Called for each change that took effect, from any thread.</param>
    public async Task<LoadReport> RunAsync(
        IReadOnlyList<NamespaceChange> start, int perClient, Action made, CancellationToken cancellationToken)
    {
        var services = new NamespaceService[Clients];
        for (int i = 0; i < PartitionMap.Count; i++)
            await Partition.HostAsync(await RuntimeAsync(cancellationToken), i, cancellationToken);
        for (int i = 0; i < Clients; i++)
        {
            TangoRuntime runtime = i < PartitionMap.Count ? _runtimes[i] : await RuntimeAsync(cancellationToken);
            services[i] = await NamespaceService.OpenAsync(
                runtime, i < PartitionMap.Count ? [i] : [], cancellationToken);
        }

        List<CommittedChange> committed = [];
        foreach (NamespaceChange change in start)
        {
            committed.Add(new CommittedChange(await services[^1].ChangeAsync(change, cancellationToken), change));
            made();
        }

        LoadClient[] clients =
            [.. services.Select((service, i) => new LoadClient(i, service, new Random(seed * Clients + i)))];
        await Task.WhenAll(clients.Select(client => client.RunAsync(perClient, made, cancellationToken)));
        committed.AddRange(clients.SelectMany(static client => client.Committed));
        Refused = clients.Sum(static client => client.Refused);
        NamespaceService fresh =
            await NamespaceService.OpenAsync(await RuntimeAsync(cancellationToken), [], cancellationToken);
        return LoadCheck.Compare(Clients, committed, await fresh.ReadAllAsync(cancellationToken));
    }

    /// <summary>Changes that did not fit what another client had changed before.</summary>
    public int Refused { get; private set; }

    public async ValueTask DisposeAsync()
    {
        foreach (TangoRuntime runtime in _runtimes) await runtime.DisposeAsync();
    }

    private async Task<TangoRuntime> RuntimeAsync(CancellationToken cancellationToken)
    {
        TangoRuntime runtime = await newRuntime(cancellationToken);
        _runtimes.Add(runtime);
        return runtime;
    }
}
