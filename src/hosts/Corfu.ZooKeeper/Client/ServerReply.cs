using Corfu.ZooKeeper.Wire;

namespace Corfu.ZooKeeper.Client;

/// <summary>A server's reply. Each type of request fills the fields that it has.</summary>

internal sealed record ServerReply(long Zxid, ErrorCode Error)
{
    /// <summary>Path of a created node, or of a sync.</summary>
    public string? Path { get; init; }

    public byte[]? Data { get; init; }

    public NodeStat? Stat { get; init; }

    /// <summary>Children, or paths of ephemeral nodes.</summary>
    public ImmutableArray<string> Names { get; init; } = [];

    public ImmutableArray<AclEntry> Acl { get; init; } = [];

    public ImmutableArray<AuthId> Ids { get; init; } = [];

    /// <summary>Count of all nodes below one.</summary>
    public int Count { get; init; }

    /// <summary>Replies to the parts of a multi.</summary>
    public ImmutableArray<ServerReply> Parts { get; init; } = [];
}

/// <summary>A notification.</summary>
internal sealed record ServerEvent(long Zxid, TreeChangeKind Kind, int State, string Path);
