namespace Tango.ZooKeeper;

/// <summary>Result that Apply computed for a record; the reply of a client's request.</summary>
public abstract record TreeResult(ZooKeeperError Error)
{
    /// <summary>Result of a record that has no reply of its own.</summary>
    public static TreeResult Of(ZooKeeperError error) => new OpResult(error);
}

/// <summary>Result of one request.</summary>
/// <param name="Path">The path that a created node got.</param>
/// <param name="Stat">Numbers of a node that was created or written.</param>
public sealed record OpResult(ZooKeeperError Error, string? Path = null, NodeStat? Stat = null) : TreeResult(Error)
{
    /// <summary>Done, with nothing to tell.</summary>
    public static OpResult Done { get; } = new(ZooKeeperError.Ok);
}

/// <summary>Result of a multi: as many parts as it has requests. A failed one has the code of the request that failed,
/// and has left nothing.</summary>
public sealed record MultiResult(ZooKeeperError Error, ImmutableArray<OpResult> Parts) : TreeResult(Error)
{
    public bool Equals(MultiResult? other) =>
        other is not null && Error == other.Error && Parts.AsSpan().SequenceEqual(other.Parts.AsSpan());

    public override int GetHashCode() => HashCode.Combine(Error, Parts.Length);
}

/// <summary>Result of a create or attach of a session.</summary>
/// <param name="Attachment">Number that the session's requests carry from now on; 0 where it failed.</param>
public sealed record SessionResult(ZooKeeperError Error, long Session, int Attachment) : TreeResult(Error);

/// <summary>Result of an expiry.</summary>
/// <param name="Sessions">Sessions that the record ended.</param>
public sealed record ExpireResult(ImmutableArray<long> Sessions) : TreeResult(ZooKeeperError.Ok)
{
    public bool Equals(ExpireResult? other) =>
        other is not null && Sessions.AsSpan().SequenceEqual(other.Sessions.AsSpan());

    public override int GetHashCode() => Sessions.Length;
}

/// <summary>Result of a reap.</summary>
/// <param name="Paths">Paths of the nodes that the record deleted.</param>
public sealed record ReapResult(ImmutableArray<string> Paths) : TreeResult(ZooKeeperError.Ok)
{
    public bool Equals(ReapResult? other) =>
        other is not null && Paths.AsSpan().SequenceEqual(other.Paths.AsSpan());

    public override int GetHashCode() => Paths.Length;
}

/// <summary>Result of an import.</summary>
/// <param name="Refused">Nodes of the record that it did not make; it has made the others.</param>
public sealed record ImportResult(ImmutableArray<RefusedNode> Refused) : TreeResult(ZooKeeperError.Ok)
{
    public bool Equals(ImportResult? other) =>
        other is not null && Refused.AsSpan().SequenceEqual(other.Refused.AsSpan());

    public override int GetHashCode() => Refused.Length;
}
