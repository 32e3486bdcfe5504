using System.Collections.Concurrent;
using System.Diagnostics;
using System.Text.Json.Nodes;
using Corfu.Client;
using Corfu.FaultRuns.Clients;
using Corfu.FaultRuns.Machine;
using Corfu.Hosting;
using Corfu.Protocol;

namespace Corfu.FaultRuns.Returns;

/// <summary>A cluster of processes without spares, a client that appends to it, and the check of what was
/// acknowledged.</summary>
internal sealed class LocalCluster(UndoList undo)
{
    private const int ReadBatch = 256;

    private readonly ProcessCluster _processes =
        new(new NodeCommandLine("dotnet", [Path.Combine(AppContext.BaseDirectory, "corfu.dll"), "node", "--config"]));
    private readonly ClusterShape _shape = new() { Units = 3, Replicas = 2 };
    private readonly ConcurrentDictionary<string, long> _acknowledged = [];
    private long _number;

    public string Folder { get; } = Path.Combine(undo.Folder, "cluster");

    public CorfuClient Client { get; private set; } = null!;

    /// <summary>As many units may leave as the run kills: agents limit that to one a minute.</summary>
    public async Task CreateAsync(CancellationToken stop)
    {
        var folder = ClusterFolder.OpenOrCreate(Folder, _shape, SystemEntropy.Instance);
        foreach (var node in folder.Manifest.Nodes)
        {
            var config = JsonNode.Parse(File.ReadAllText(folder.ConfigPath(node)))!;
            config["limits"] =
                JsonNode.Parse("""{ "agent": { "policy": { "unitBurst": 1000, "unitRefill": "00:00:01" } } }""");
            File.WriteAllText(folder.ConfigPath(node), config.ToJsonString());
        }

        await UpAsync(stop);
        Client = await WorkClient.ConnectAsync(folder.Manifest.ConnectionString());
    }

    public async Task UpAsync(CancellationToken stop)
    {
        var state = await _processes.UpAsync(Folder, _shape, stop);
        foreach (var id in state.Nodes.Select(node => node.ProcessId).OfType<int>().Distinct())
            undo.AddProcess(id, "corfu.dll");
        if (!state.Problems.IsEmpty) throw new RunException($"cluster up: {string.Join("; ", state.Problems)}");
    }

    public Task DownAsync(CancellationToken stop) => _processes.DownAsync(Folder, stop);

    /// <summary>SIGKILL to one node's process.</summary>
    public async Task<NodeEndpoint> KillAsync(string name, CancellationToken stop)
    {
        var node = (await ClusterProbe.StateAsync(ClusterFolder.Open(Folder), stop)).Nodes.First(n => n.Node == name);
        using var process = Process.GetProcessById(node.ProcessId ?? throw new RunException($"{name} does not run"));
        process.Kill();
        await process.WaitForExitAsync(stop);
        return node.Endpoint;
    }

    /// <summary>SIGKILL to all of them.</summary>
    public async Task KillAllAsync(CancellationToken stop)
    {
        foreach (var node in ClusterFolder.Open(Folder).Manifest.Nodes) await KillAsync(node.Name, stop);
    }

    /// <summary>A node's unit: its identity, and what it says about itself.</summary>
    public async Task<NodeState> UnitOfAsync(string name, CancellationToken stop) =>
        (await ClusterProbe.StateAsync(ClusterFolder.Open(Folder), stop)).Nodes
            .First(n => n.Node == name && n.Role == NodeRole.Unit);

    /// <summary>Waits until the newest projection is as wanted.</summary>
    public async Task<Projection> WaitAsync(string what, Func<Projection, bool> wanted, TimeSpan limit,
        CancellationToken stop)
    {
        var clock = Stopwatch.StartNew();
        while (true)
        {
            var projection = await Client.Cluster.RefreshAsync(stop);
            if (wanted(projection)) return projection;
            if (clock.Elapsed > limit)
                throw new RunException(
                    $"after {limit.TotalSeconds:0} s still not {what}: {projection}: {projection.Reason}");
            await Task.Delay(100, stop);
        }
    }

    /// <summary>Every unit takes entries, and every chain has its full replicas.</summary>
    public static bool IsWhole(Projection projection) => projection.Active.Chains.Length == 3
        && projection.Segments.All(s => s.Chains.All(c => c.FullCount == 2 && c.Replicas.Length == 2));

    /// <param name="callers">Appends under way at once: with many, a unit's log is dense.</param>
    public Task AppendAsync(int count, int callers, CancellationToken stop)
    {
        var last = Volatile.Read(ref _number) + (long)count;
        return Task.WhenAll(Enumerable.Range(0, callers).Select(_ => AppendUntilAsync(last, stop)));
    }

    private async Task AppendUntilAsync(long last, CancellationToken stop)
    {
        while (!stop.IsCancellationRequested && Interlocked.Increment(ref _number) is var number && number <= last)
        {
            var id = $"r-{number}";
            try
            {
                var result = await Client.AppendAsync(EntryText.Make(id), [EntryText.StreamOf(id)],
                    CancellationToken.None);
                if (result.Outcome == AppendOutcome.Appended) _acknowledged.TryAdd(id, result.Position.Offset);
            }
            catch (CorfuException e) when (e is not CorfuStatusException { Status: Status.BadRequest })
            {
                // Not acknowledged: it may be in or not.
            }
        }
    }

    /// <summary>Reads the whole log.</summary>
    /// <returns>Acknowledged entries that are not where they were said to be, and entries that are there more than
    /// once.</returns>
    public async Task<(int Acknowledged, int Lost, int Twice)> CheckAsync(CancellationToken stop)
    {
        var tail = (await Client.CheckAsync([], cancellationToken: stop)).Tail.Offset;
        var found = new List<(long Position, string Id)>();
        for (var first = 0L; first < tail; first += ReadBatch)
        {
            var results =
                await Client.ReadManyAsync(
                    [.. Enumerable.Range(0, (int)Math.Min(ReadBatch, tail - first))
                        .Select(i => new LogPosition(first + i))], cancellationToken: stop);
            foreach (var result in results.Where(r => r.State == PageState.Data))
                found.Add((result.Position.Offset, EntryText.NameOf(result.Entry!.Payload.Span) ?? "damaged"));
        }

        var at = found.ToDictionary(f => f.Position, f => f.Id);
        var lost = _acknowledged.Count(a => at.GetValueOrDefault(a.Value) != a.Key);
        return (_acknowledged.Count, lost, found.GroupBy(f => f.Id).Count(g => g.Count() > 1));
    }
}
