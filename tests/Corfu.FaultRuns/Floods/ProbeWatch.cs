using Corfu.FaultRuns.Machine;
using Corfu.Hosting;
using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.FaultRuns.Floods;

/// <summary>Asks every agent as agents ask each other, over a connection that stays and over new ones, and counts what
/// is not answered in the time that agents allow. At the end it looks for what the agents themselves found.</summary>
internal sealed class ProbeWatch(ClusterFolder folder, TextWriter output)
{
    private static readonly TimeSpan s_interval = TimeSpan.FromMilliseconds(250);

    // From this silence on an agent holds a process gone (DetectorOptions.SilentAfter).
    private static readonly TimeSpan s_limit = TimeSpan.FromSeconds(2);

    private static readonly string[] s_findings =
        [" is Dead", " is Silent", " is Replaced", " is Failed", " is Partitioned", " is Overloaded"];

    private readonly Dictionary<string, int> _findingsBefore = [];

    private int _asked;
    private int _lost;

    public int Asked => Volatile.Read(ref _asked);

    public int Lost => Volatile.Read(ref _lost);

    /// <summary>Counts until it is cancelled.</summary>
    public async Task RunAsync(CancellationToken stop)
    {
        foreach (var node in folder.Manifest.Nodes) _findingsBefore[node.Name] = Findings(node).Count;
        await Task.WhenAll(folder.Manifest.Nodes.Select(node => WatchAsync(node.Endpoint, stop)));
    }

    /// <summary>The lines in which an agent found a node gone or out of reach while this watch ran.</summary>
    public int NewFindings()
    {
        var found = 0;
        foreach (var node in folder.Manifest.Nodes)
        {
            foreach (var line in Findings(node).Skip(_findingsBefore[node.Name]))
            {
                output.WriteLine($"{node.Name}: {line}");
                found++;
            }
        }

        return found;
    }

    private List<string> Findings(ManifestNode node)
    {
        var path = Path.Combine(Path.GetDirectoryName(folder.ConfigPath(node))!, $"{node.Name}.log");
        if (!File.Exists(path)) throw new RunException($"{path} is missing");
        using var reader = new StreamReader(
            new FileStream(path, FileMode.Open, FileAccess.Read, FileShare.ReadWrite | FileShare.Delete));
        List<string> found = [];
        while (reader.ReadLine() is { } line)
        {
            if (s_findings.Any(line.Contains)) found.Add(line);
        }

        return found;
    }

    private async Task WatchAsync(NodeEndpoint process, CancellationToken stop)
    {
        using var transport = new TcpTransport(new TcpTransportOptions
        {
            Cluster = new ClusterId(folder.Manifest.Cluster),
            ConnectTimeout = s_limit,
            MaxBackOff = TimeSpan.FromMilliseconds(25),
        });
        using var timer = new PeriodicTimer(s_interval);
        NodeAddress? agent = null;
        try
        {
            while (await timer.WaitForNextTickAsync(stop))
            {
                var described = await TryAsync(process, "description",
                    limit => transport.DescribeAsync(process, limit).AsTask());
                if (described?.Roles.FirstOrDefault(role => role.Role == NodeRole.Agent) is { Id.IsNone: false } role)
                    agent ??= new NodeAddress(role.Id, process);
                if (agent is not { } known) continue;
                await TryAsync(process, "probe",
                    limit => transport.CallAsync(known, new AgentInfoRequest(Epoch.None), limit).AsTask());
            }
        }
        catch (OperationCanceledException)
        {
            // The watch is over.
        }
    }

    private async Task<T?> TryAsync<T>(NodeEndpoint process, string what, Func<CancellationToken, Task<T>> ask)
        where T : class
    {
        using var limit = new CancellationTokenSource(s_limit);
        Interlocked.Increment(ref _asked);
        try
        {
            return await ask(limit.Token);
        }
        catch (Exception e) when (e is TransportException or OperationCanceledException)
        {
            Interlocked.Increment(ref _lost);
            await output.WriteLineAsync($"lost {what} of {process}: {e.Message}");
            return null;
        }
    }
}
