using Microsoft.Extensions.Logging.Abstractions;

namespace Corfu.WebConsole.Collecting;

/// <summary>
/// Asks every process of a cluster how it is, for all viewers of a console together: about two small requests a second
/// to each. Between viewers nothing is asked.
/// </summary>
public sealed class Collector : IAsyncDisposable
{
    private static readonly TimeSpan s_interval = TimeSpan.FromSeconds(1);

    // The collector goes on for this long after the last viewer: a page that is loaded again finds its figures.
    private static readonly TimeSpan s_rest = TimeSpan.FromSeconds(30);

    // A process that does not answer must not hold up what the others have told.
    private static readonly TimeSpan s_round = TimeSpan.FromMilliseconds(900);
    private static readonly TimeSpan s_answer = TimeSpan.FromSeconds(1);

    private readonly ConsoleOptions _options;
    private readonly ImmutableArray<NodeEndpoint> _given;
    private readonly TcpTransportOptions _tcp;
    private readonly ClusterTls? _tls;
    private readonly TcpTransport _discovery;
    private readonly Dictionary<NodeEndpoint, ProcessWatch> _watches = [];
    private readonly PictureMaker _maker = new();
    private readonly WantedLoop _loop;
    private readonly Lock _gate = new();

    // Guarded by _gate.
    private TaskCompletionSource _changed = NewSignal();

    // Used by the loop; the transport and the cluster are read by others once they are set.
    private volatile TcpTransport? _transport;
    private ClusterId _cluster;
    private Projection? _projection;
    private ClusterPicture _picture = ClusterPicture.Empty;

    /// <exception cref="FormatException">The connection string is malformed.</exception>
    /// <exception cref="CertificateException">The certificates are missing or of no use, or connections to another
    /// machine would not be encrypted.</exception>
    public Collector(ConsoleOptions options)
    {
        _options = options;
        var connection = ConnectionString.Parse(options.Connection);
        _given = connection.Endpoints;
        _tcp = ConnectionTls.Apply(connection, options.Client.Tcp, options.Client.Tls, out _tls);
        _discovery = NewTransport(_tcp.Cluster);
        Logger = options.Loggers.CreateLogger<Collector>();
        _loop = new WantedLoop(Time, s_interval, s_rest, _ => AskAsync(), Failed);
    }

    public ClusterPicture Picture => Volatile.Read(ref _picture);

    public TimeProvider Time => _options.Time;

    public ILogger Logger { get; }

    /// <summary>Finds a process of the cluster now.</summary>
    /// <exception cref="ClusterNotFoundException">None answers, or they belong to several clusters.</exception>
    public async Task FindAsync(CancellationToken cancellationToken)
    {
        if (await TryFindAsync(cancellationToken) is { } fault) throw new ClusterNotFoundException(fault);
    }

    /// <summary>The newest picture. After a rest the first one is waited for, a round at most.</summary>
    public async Task<ClusterPicture> LookAsync(CancellationToken cancellationToken)
    {
        Task next;
        lock (_gate) next = _changed.Task;
        if (_loop.Wake() || Picture.At == DateTimeOffset.MinValue)
            await Task.WhenAny(next, Task.Delay(s_round + s_answer, Time, cancellationToken));
        return Picture;
    }

    /// <summary>Keeps the collector awake until the result is disposed.</summary>
    public IDisposable Watch() => _loop.Hold();

    /// <summary>Waits for the next picture.</summary>
    public async Task<ClusterPicture> NextAsync(CancellationToken cancellationToken)
    {
        Task changed;
        lock (_gate) changed = _changed.Task;
        await changed.WaitAsync(cancellationToken);
        return Picture;
    }

    /// <summary>A client of the cluster's log; null until a process has told a projection. The caller disposes
    /// it.</summary>
    public CorfuClient? NewClient()
    {
        var projection = Picture.Projection;
        return projection is null || _transport is not { } transport
            ? null
            : new CorfuClient(
                projection, transport, Time, SystemEntropy.Instance, _options.Client,
                _options.Loggers.CreateLogger<CorfuClient>());
    }

    public async ValueTask DisposeAsync()
    {
        await _loop.DisposeAsync();
        _transport?.Dispose();
        _discovery.Dispose();
        _tls?.Dispose();
    }

    private static TaskCompletionSource NewSignal() => new(TaskCreationOptions.RunContinuationsAsynchronously);

    // The former state of the cluster is shown no longer: no answer behind it is new.
    private void Failed(Exception e)
    {
        ConsoleLog.RoundFailed(Logger, e);
        Publish(ClusterPicture.Empty with
        {
            At = Time.GetUtcNow(),
            Problem = $"The console cannot put the answers together: {e.Message} The console's log has the rest.",
        });
    }

    private async Task AskAsync()
    {
        if (_transport is null && await TryFindAsync(_loop.Stopped) is { } fault)
        {
            Publish(ClusterPicture.Empty with { At = Time.GetUtcNow(), Problem = fault });
            return;
        }

        KeepWatches();
        var epoch = _projection?.Epoch ?? Epoch.None;
        var all = Task.WhenAll(
            _watches.Values.Select(watch => watch.AskAsync(_cluster, epoch, _loop.Stopped)).ToList());
        await Task.WhenAny(all, Task.Delay(s_round, Time, _loop.Stopped));
        ImmutableArray<ProcessPicture> processes =
            [.. _watches.Values.Select(static watch => watch.Picture).OrderBy(static process => process.Endpoint)];
        await LearnAsync(processes);
        Publish(_maker.Make(Time.GetUtcNow(), _cluster, _projection, processes));
    }

    // Without an acceptor that answers the agents know the projection. A process that does not answer its watch is
    // not asked beside it: that would pass over the pause of the watch.
    private async Task LearnAsync(ImmutableArray<ProcessPicture> processes)
    {
        var known = processes.SelectMany(static process => process.Roles).Select(static role => role.Latest)
            .OfType<Projection>().MaxBy(static projection => projection.Epoch);
        if (known is null && _projection is null)
        {
            var answers = await Task.WhenAll(
                processes.Where(static process => process is { Agent: not null, Problem: null })
                    .Select(process => AskAgentAsync(process.Endpoint)));
            known = answers.OfType<Projection>().MaxBy(static projection => projection.Epoch);
        }

        if (known is not null && !(known.Epoch <= _projection?.Epoch)) _projection = known;
    }

    private async Task<Projection?> AskAgentAsync(NodeEndpoint endpoint)
    {
        try
        {
            var description = await _transport!.DescribeAsync(endpoint, _loop.Stopped);
            var agent = description.Roles.FirstOrDefault(static role => role.Role == NodeRole.Agent);
            if (agent.Id.IsNone) return null;
            var answer = await _transport.CallAsync(
                new NodeAddress(agent.Id, endpoint), new LatestRequest(Epoch.None), _loop.Stopped);
            return answer.IsOk ? answer.Latest : null;
        }
        catch (CorfuException)
        {
            return null;
        }
    }

    // Processes that the projection names, that agents know, or that were given and answer.
    private void KeepWatches()
    {
        var wanted = new HashSet<NodeEndpoint>();
        if (_projection is { } projection)
        {
            wanted.UnionWith(projection.Units.Select(static unit => unit.Endpoint));
            wanted.UnionWith(projection.Acceptors.Select(static acceptor => acceptor.Endpoint));
            wanted.Add(projection.Sequencer.Endpoint);
        }

        var told = _watches.Values.Select(static watch => watch.Picture.Agent).OfType<AgentInfoResponse>();
        wanted.UnionWith(told.SelectMany(static agent => agent.Nodes)
            .Where(static node => node.Duty != NodeDuty.Removed).Select(static node => node.Address.Endpoint));
        var isKnown = wanted.Count > 0;
        wanted.UnionWith(_given.Where(
            given => !isKnown || _watches.GetValueOrDefault(given)?.Picture is { Problem: null }));
        foreach (var gone in _watches.Keys.Except(wanted).ToList()) _watches.Remove(gone);
        foreach (var endpoint in wanted)
            _watches.TryAdd(endpoint, new ProcessWatch(endpoint, _transport!, Time));
    }

    private void Publish(ClusterPicture picture)
    {
        Volatile.Write(ref _picture, picture);
        TaskCompletionSource changed;
        lock (_gate) (changed, _changed) = (_changed, NewSignal());
        changed.SetResult();
    }

    // Null: found.
    private async Task<string?> TryFindAsync(CancellationToken cancellationToken)
    {
        if (_transport is not null) return null;
        var answers = await Task.WhenAll(_given.Select(endpoint => DescribeAsync(endpoint, cancellationToken)));
        var clusters = answers.Select(static answer => answer.Cluster).Where(static id => !id.IsNone).Distinct()
            .ToList();
        if (clusters.Count == 0)
            return $"No process of a cluster answers at {_options.Connection} "
                + $"({string.Join("; ", answers.Select(static answer => answer.Fault))}).";
        if (clusters.Count > 1)
            return $"The endpoints of {_options.Connection} belong to {clusters.Count} different clusters.";
        lock (_gate)
        {
            if (_transport is not null) return null;
            _cluster = clusters[0];
            _transport = NewTransport(_cluster);
        }

        return null;
    }

    private async Task<(ClusterId Cluster, string Fault)> DescribeAsync(
        NodeEndpoint endpoint, CancellationToken cancellationToken)
    {
        try
        {
            return ((await _discovery.DescribeAsync(endpoint, cancellationToken)).Cluster, "");
        }
        catch (TransportException e)
        {
            return (ClusterId.None, $"{endpoint}: {e.Message}");
        }
    }

    private TcpTransport NewTransport(ClusterId cluster) => new(
        _tcp with { Cluster = cluster, ConnectTimeout = s_answer, RequestTimeout = s_answer },
        Time, logger: NullLogger.Instance);
}
