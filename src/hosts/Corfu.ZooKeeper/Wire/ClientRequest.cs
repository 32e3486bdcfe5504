namespace Corfu.ZooKeeper.Wire;

/// <summary>A client's request as its bytes say it.</summary>
internal abstract record ClientRequest(OpCode Code);

/// <summary>A request without fields that matter: ping, whoAmI, and those that are refused.</summary>
internal sealed record PlainRequest(OpCode Code) : ClientRequest(Code);

/// <summary>A write, which the tree decides; a multi is a <see cref="MultiRequest"/>.</summary>
internal sealed record WriteRequest(OpCode Code, TreeOp Op) : ClientRequest(Code);

/// <param name="Parts">The type of each request: it says the form of its result.</param>
internal sealed record MultiRequest(ImmutableArray<OpCode> Parts, MultiOp Op) : ClientRequest(OpCode.Multi)
{
    public bool Equals(MultiRequest? other) => other is not null
        && Parts.AsSpan().SequenceEqual(other.Parts.AsSpan())
        && Op.Parts.AsSpan().SequenceEqual(other.Op.Parts.AsSpan());

    public override int GetHashCode() => Parts.Length;
}

/// <summary>A read, or a sync, of one node; of ephemeral nodes: of a prefix.</summary>
/// <param name="Watch">Leaves a watch. False where the request has no such field.</param>
internal sealed record NodeRequest(OpCode Code, string Path, bool Watch = false) : ClientRequest(Code);

internal sealed record MultiReadRequest(ImmutableArray<NodeRequest> Parts) : ClientRequest(OpCode.MultiRead)
{
    public bool Equals(MultiReadRequest? other) =>
        other is not null && Parts.AsSpan().SequenceEqual(other.Parts.AsSpan());

    public override int GetHashCode() => Parts.Length;
}

/// <summary>A check, a removal or an addition of watches.</summary>
/// <param name="Kind">A <see cref="WatchKind"/>, or of an addition a <see cref="WatchMode"/>, as the client sent
/// it.</param>
internal sealed record WatchRequest(OpCode Code, string Path, int Kind) : ClientRequest(Code);

/// <summary>Watches that a client had on its last connection.</summary>
/// <param name="Zxid">The newest that the client has seen: later changes are told at once.</param>
internal sealed record SetWatchesRequest(
    OpCode Code, long Zxid, ImmutableArray<string> Data, ImmutableArray<string> Exist, ImmutableArray<string> Child,
    ImmutableArray<string> Persistent, ImmutableArray<string> Recursive) : ClientRequest(Code)
{
    public bool Equals(SetWatchesRequest? other) => other is not null && (Code, Zxid) == (other.Code, other.Zxid)
        && Data.AsSpan().SequenceEqual(other.Data.AsSpan()) && Exist.AsSpan().SequenceEqual(other.Exist.AsSpan())
        && Child.AsSpan().SequenceEqual(other.Child.AsSpan())
        && Persistent.AsSpan().SequenceEqual(other.Persistent.AsSpan())
        && Recursive.AsSpan().SequenceEqual(other.Recursive.AsSpan());

    public override int GetHashCode() => HashCode.Combine(Code, Zxid);
}

/// <summary>Credentials for the connection.</summary>
internal sealed record AuthRequest(string Scheme, ImmutableArray<byte> Credential) : ClientRequest(OpCode.Auth)
{
    public bool Equals(AuthRequest? other) => other is not null && Scheme == other.Scheme
        && Credential.AsSpan().SequenceEqual(other.Credential.AsSpan());

    public override int GetHashCode() => HashCode.Combine(Scheme, Credential.Length);

    // Credentials are in no log.
    public override string ToString() => $"{nameof(AuthRequest)} {Scheme}";
}

/// <summary>Watches that a removal or a check is about.</summary>
internal enum WatchKind
{
    Children = 1,
    Data = 2,
    Any = 3,
    Persistent = 4,
    Recursive = 5,
}

internal enum WatchMode
{
    Persistent = 0,
    Recursive = 1,
}
