namespace Corfu.FaultRuns.ZooKeeper.Clients;

/// <summary>Numbers of a node that the judges look at.</summary>
public sealed record ZooStat(long Czxid, long Mzxid, long Pzxid, int Version, long Owner = 0);

/// <summary>Requests of a session, and other lines of its history.</summary>
public enum ZooAct
{
    Create,
    Delete,
    Set,
    Get,
    Exists,
    Children,
    Sync,

    /// <summary>A set that takes effect only while another node exists: a multi.</summary>
    GuardedSet,
    Close,

    /// <summary>A reply to a ping or to the watches that are left again.</summary>
    Other,

    /// <summary>A notification.</summary>
    Event,

    /// <summary>A server has told the client that its session has ended.</summary>
    Expired,
}

/// <param name="Path">Path of the node; without the number where the create adds one.</param>
public sealed record ZooCall(ZooAct Act, string Path)
{
    public string Data { get; init; } = "";

    /// <summary>Version that the node must have; -1: any.</summary>
    public int Version { get; init; } = -1;

    public bool IsEphemeral { get; init; }

    public bool IsSequential { get; init; }

    /// <summary>Leaves a watch.</summary>
    public bool Watch { get; init; }

    /// <summary>Path of the node that must exist.</summary>
    public string Guard { get; init; } = "";
}

/// <summary>A line of a session's history, in the order in which its client took the packets.</summary>
public sealed record ZooEntry(ZooCall Call)
{
    /// <summary>Error of a call whose reply never came: it may or may not have taken effect.</summary>
    public const int Unknown = int.MinValue;

    /// <summary>Error of a call that was never sent.</summary>
    public const int NotSent = int.MaxValue;

    public const int NoNode = -101;
    public const int BadVersion = -103;
    public const int NodeExists = -110;
    public const int SessionExpired = -112;

    /// <summary>Time stamps of the call and of its reply.</summary>
    public long Began { get; init; }

    public long Ended { get; init; }

    public int Error { get; init; }

    public long Zxid { get; init; }

    /// <summary>Data of a node that was read; path of a node that was created.</summary>
    public string Text { get; init; } = "";

    public ZooStat? Stat { get; init; }

    public IReadOnlyList<string> Names { get; init; } = [];

    /// <summary>Kind of an event: 1 created, 2 deleted, 3 data changed, 4 children changed.</summary>
    public int Kind { get; init; }

    public bool IsOk => Error == 0;

    public ZooAct Act => Call.Act;

    public string Path => Call.Path;

    public bool IsReply => Act is not (ZooAct.Other or ZooAct.Event or ZooAct.Expired)
        && Error is not (Unknown or NotSent);
}
