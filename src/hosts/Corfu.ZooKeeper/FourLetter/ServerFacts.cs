using System.Net;

namespace Corfu.ZooKeeper.FourLetter;

/// <summary>Numbers of a front end at one moment, as four-letter words tell them.</summary>
internal sealed record ServerFacts
{
    public ServerState State { get; init; }

    /// <summary>A <see cref="ServerMode"/>.</summary>
    public string Mode { get; init; } = ServerMode.Standalone;

    /// <summary>Other live front ends.</summary>
    public int Followers { get; init; }

    public long Zxid { get; init; }

    public int Nodes { get; init; }

    public int Ephemerals { get; init; }

    public long DataBytes { get; init; }

    /// <summary>Sessions of the whole service.</summary>
    public int Sessions { get; init; }

    public long Watches { get; init; }

    public int WatchedPaths { get; init; }

    public int WatchingConnections { get; init; }

    public RequestFigures Requests { get; init; }

    public ImmutableArray<ConnectionFacts> Connections { get; init; } = [];

    /// <summary>Settings, in the order in which they are shown.</summary>
    public ImmutableArray<KeyValuePair<string, string>> Settings { get; init; } = [];
}

/// <param name="Waiting">Requests without a reply.</param>
/// <param name="Shortest">Time to a reply, in ms, as the other two.</param>
internal readonly record struct RequestFigures(
    long Received, long Sent, long Waiting, long Shortest, double Average, long Longest);

internal sealed record ConnectionFacts(EndPoint Peer, long Received, long Sent, int Waiting);

internal enum ServerState
{
    /// <summary>The first state of the tree has not been read yet.</summary>
    Starting,

    Serving,

    ReadOnly,

    /// <summary>Neither reads nor writes: the lease or the log is lost.</summary>
    Stopped,
}
