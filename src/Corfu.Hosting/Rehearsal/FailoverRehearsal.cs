using System.Collections.Immutable;
using System.Net;
using Corfu.Agent;
using Corfu.Client;
using Corfu.Client.Layout;
using Corfu.Layout;
using Corfu.Protocol;
using Corfu.Sequencer;
using Corfu.Transport;
using Corfu.Unit;
using Microsoft.Extensions.Logging;

namespace Corfu.Hosting;

/// <summary>
/// A small cluster within the process, on scratch files, of which a unit and then the sequencer die under appends while agents look on. What a failure asks of
/// this process, whichever part it will have, has then run once, and is compiled: the first failure that matters is not the first that it sees.
/// </summary>
public sealed class FailoverRehearsal : IAsyncDisposable
{
    private const int Appenders = 4;
    private const string Prefix = "corfu-rehearsal-";

    // Far longer than a rehearsal may take.
    private static readonly TimeSpan LeftoverAge = TimeSpan.FromMinutes(10);

    private static readonly FasterStoreOptions SmallStore = new()
    {
        LogPageSize = 64 << 10,
        LogMemory = 512 << 10,
        SegmentSize = 1 << 20,
        Reserve = 128 << 10,
        HotBytes = 64 << 10,
        MapIndexSize = 64 << 10,
        MapMemory = 1 << 20,
    };

    private readonly ClusterId _cluster = new(Guid.NewGuid());
    private readonly RehearsalNetwork _network;
    private readonly string _folder;
    private readonly ILoggerFactory _loggers;
    private readonly List<IAsyncDisposable> _open = [];
    private readonly List<ClusterAgent> _agents = [];

    private FailoverRehearsal(string folder)
    {
        _folder = folder;
        _network = new RehearsalNetwork(_cluster);
        _loggers = LoggerFactory.Create(logging => logging.AddProvider(new FileLoggerProvider(Path.Combine(folder, "log"), TimeProvider.System)));
    }

    /// <summary>Never fails: it is only a rehearsal.</summary>
    /// <returns>Whether it came to its end.</returns>
    public static async Task<bool> RunAsync(ILogger logger, CancellationToken cancellationToken)
    {
        string? folder = null;
        try
        {
            DeleteLeftovers();
            folder = Directory.CreateTempSubdirectory(Prefix).FullName;
            var began = TimeProvider.System.GetTimestamp();
            await using (var rehearsal = new FailoverRehearsal(folder)) await rehearsal.PlayAsync(cancellationToken);
            HostingLog.Rehearsed(logger, TimeProvider.System.GetElapsedTime(began).TotalMilliseconds);
            return true;
        }
        catch (Exception e) when (e is CorfuException or IOException or UnauthorizedAccessException or OperationCanceledException or InvalidOperationException)
        {
            if (!cancellationToken.IsCancellationRequested) HostingLog.NotRehearsed(logger, e.Message);
            return false;
        }
        finally
        {
            if (folder is not null) TryDelete(folder);
        }
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var open in _open) await open.DisposeAsync();
        _loggers.Dispose();
    }

    private async Task PlayAsync(CancellationToken cancellationToken)
    {
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        stop.CancelAfter(TimeSpan.FromSeconds(20));
        // Two processes die, one with a unit and one with the sequencer; the other two have all the rest.
        NodeEndpoint[] at = [.. Enumerable.Range(1, 4).Select(port => new NodeEndpoint(IPAddress.Loopback.ToString(), port))];
        var sequencer = Add(at[1], new SequencerHandler(SystemEntropy.Instance));
        Add(at[3], new SequencerHandler(SystemEntropy.Instance));
        ImmutableArray<NodeAddress> units = [await AddUnitAsync(at[0]), await AddUnitAsync(at[2])];
        await AddUnitAsync(at[3]);
        var acceptor = await AddAcceptorAsync(at[2]);
        var first = await new Reconfigurer(_network, new LayoutClient(_network, SystemEntropy.Instance, TimeProvider.System), TimeProvider.System).CreateAsync(
            _cluster, sequencer, [new Chain([new Replica(units[0].Id), new Replica(units[1].Id)])], units, [acceptor], stop.Token);
        foreach (var endpoint in at) AddAgent(endpoint, at);
        WriteTexts(first);
        Task[] agents = [.. _agents.Select(agent => agent.RunAsync(stop.Token))];
        try
        {
            await using var client = await CorfuClient.ConnectAsync(
                new ConnectionString([at[2]]), _network, TimeProvider.System, SystemEntropy.Instance, cancellationToken: stop.Token);
            await LoseAsync(client, at[0], Epoch.First.Next, stop.Token);
            await LoseAsync(client, at[1], Epoch.First.Next.Next, stop.Token);
        }
        finally
        {
            await stop.CancelAsync();
            await Task.WhenAll(agents);
        }
    }

    // Real changes have longer reasons than those that are played, and the runtime has other code for texts of other lengths.
    private static void WriteTexts(Projection p)
    {
        using var log = new StreamWriter(Stream.Null) { AutoFlush = true };
        for (var length = 0; length <= Reconfigurer.MaxReason; length++)
        {
            var text = new string('-', length);
            var named = new Projection(p.Cluster, p.Epoch, p.Sequencer, p.Start, p.TrimMark, p.Segments, p.Units, p.Acceptors, text);
            _ = ProjectionCodec.Decode(ProjectionCodec.Encode(named));
            log.WriteLine(text);
        }
    }

    // Appends, of which some are on their way when the process dies, until each appender has one of the epoch without it.
    private async Task LoseAsync(CorfuClient client, NodeEndpoint victim, Epoch until, CancellationToken cancellationToken)
    {
        Task[] appenders = [.. Enumerable.Range(0, Appenders).Select(AppendAsync)];
        await Task.Delay(100, cancellationToken);
        _network.Kill(victim);
        await Task.WhenAll(appenders);

        async Task AppendAsync(int index)
        {
            ImmutableArray<StreamId> streams = index % 2 == 0 ? [] : [new StreamId((ulong)index)];
            while ((await client.AppendAsync(new byte[16], streams, cancellationToken)).Position.Epoch < until) await Task.Delay(1, cancellationToken);
        }
    }

    private void AddAgent(NodeEndpoint self, NodeEndpoint[] all)
    {
        var options = new AgentOptions
        {
            Self = self,
            Peers = [.. all],
            Step = TimeSpan.FromMilliseconds(10),
            Detector = new DetectorOptions { Interval = TimeSpan.FromMilliseconds(20), DeadAfter = TimeSpan.FromMilliseconds(20) },
            LeadAfter = TimeSpan.FromMinutes(1),
            IsRehearsal = true,
        };
        var agent = new ClusterAgent(options, _network, _network, TimeProvider.System, SystemEntropy.Instance, _loggers.CreateLogger<ClusterAgent>());
        _agents.Add(agent);
        Add(self, agent);
    }

    private async Task<NodeAddress> AddUnitAsync(NodeEndpoint endpoint)
    {
        var options = new UnitNodeOptions { Folder = Path.Combine(_folder, $"unit-{endpoint.Port}"), Cluster = _cluster, Store = SmallStore };
        var unit = await UnitNode.OpenAsync(options, SystemEntropy.Instance);
        _open.Add(unit);
        return Add(endpoint, unit.Handler);
    }

    private async Task<NodeAddress> AddAcceptorAsync(NodeEndpoint endpoint)
    {
        var device = FileAcceptorDevice.Open(Path.Combine(_folder, $"acceptor-{endpoint.Port}"));
        var acceptor = await AcceptorHandler.OpenAsync(device, _cluster, new NodeId(SystemEntropy.Instance.NewGuid()));
        _open.Add(acceptor);
        return Add(endpoint, acceptor);
    }

    private NodeAddress Add(NodeEndpoint endpoint, IRoleHandler role)
    {
        _network.Add(endpoint, role);
        return new NodeAddress(role.Id, endpoint);
    }

    // Of processes that were killed within their first seconds.
    private static void DeleteLeftovers()
    {
        foreach (var folder in Directory.EnumerateDirectories(Path.GetTempPath(), Prefix + "*"))
        {
            if (TimeProvider.System.GetUtcNow() - Directory.GetLastWriteTimeUtc(folder) > LeftoverAge) TryDelete(folder);
        }
    }

    private static void TryDelete(string folder)
    {
        try
        {
            Directory.Delete(folder, recursive: true);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // Whoever cleans the temporary folder finds it.
        }
    }
}
