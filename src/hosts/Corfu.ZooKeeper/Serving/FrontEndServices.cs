using Corfu.Server;
using Corfu.ZooKeeper.Auth;
using Corfu.ZooKeeper.FourLetter;

namespace Corfu.ZooKeeper.Serving;

/// <summary>Parts that the connections of a front end share.</summary>
internal sealed record FrontEndServices(Dispatcher Dispatcher, FrontEndPartitions Partitions, SyncWaiters Sync,
    Credentials Credentials, FrontEndIdentity Identity, RequestCounters Figures, ILogger Logger,
    FrontEndEnvironment Environment)
{
    public TimeProvider Time => Environment.Time;

    public LoopContext Loops => Environment.Loops;

    public FrontEndTimes Times => Environment.Times;

    /// <summary>Four-letter words that clients may send.</summary>
    public ImmutableArray<string> OpenWords { get; init; } = Words.Default;

    /// <summary>The front end ends.</summary>
    public CancellationToken Stopped { get; init; }

    /// <summary>Null: connections are plain.</summary>
    public ClientTls? Tls { get; init; }

    /// <summary>Reads wait until the root has all that was answered anywhere before they came.</summary>
    public bool AreReadsLinearizable { get; init; }

    /// <summary>Name of the service.</summary>
    public string Service { get; init; } = "";

    /// <summary>Settings that the word <c>conf</c> shows.</summary>
    public ImmutableArray<KeyValuePair<string, string>> Settings { get; init; } = [];

    /// <summary>Numbers of this moment. Called under the gate.</summary>
    public ServerFacts Facts()
    {
        var root = Dispatcher.Root;
        ImmutableArray<ConnectionFacts> connections =
            [.. Dispatcher.Connections.Attached.Select(static connection => connection.Facts)];
        return new ServerFacts
        {
            State = root is null ? ServerState.Starting
                : Dispatcher.IsServing ? ServerState.Serving
                : Dispatcher.IsReadOnly ? ServerState.ReadOnly : ServerState.Stopped,
            Mode = root is null ? ServerMode.Standalone
                : Dispatcher.IsReadOnly ? ServerMode.ReadOnly : ServerMode.Of(root, Identity.Id),
            Followers = root is null ? 0 : ServerMode.LiveIn(root).Count() - 1,
            Zxid = root is null ? 0 : Dispatcher.Roots.LastZxid,
            Nodes = root is null ? 0 : Dispatcher.Roots.CountBelow(NodePath.Root),
            DataBytes = root is null ? 0 : Dispatcher.Roots.All.Sum(static part => part.DataBytes),
            Sessions = root?.SessionCount ?? 0,
            Ephemerals = root is null ? 0 : Dispatcher.Roots.All.Sum(
                static part => part.AllSessions().Sum(static session => session.Ephemerals.Count)),
            Watches = Dispatcher.Watches.Count,
            WatchedPaths = Dispatcher.Watches.Paths,
            WatchingConnections = Dispatcher.Watches.Owners,
            Requests = Figures.Read(connections.Sum(static connection => (long)connection.Waiting)),
            Connections = connections,
            Settings = Settings,
        };
    }
}
