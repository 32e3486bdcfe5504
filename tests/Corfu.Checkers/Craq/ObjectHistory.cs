namespace Corfu.Checkers;

/// <summary>
/// Calls of a run's clients about the objects of a store, with their answers, in plain numbers and text. Versions order
/// the writes of a chain; zero stands for none. Start and End order the calls: event numbers, or ticks of one clock.
/// From and Until are the same moments as times. Every put, append and prepend carries a text of its own.
/// </summary>
public sealed class ObjectHistory
{
    /// <summary>End of a call that was never answered.</summary>
    public const long Never = long.MaxValue;

    public List<ObjectCall> Calls { get; } = [];

    /// <summary>Transactions over several chains.</summary>
    public List<ObjectTransaction> Transactions { get; } = [];

    /// <summary>The same history where the final contents of the chains are known: a write of unknown outcome has the
    /// version that it has there, or never took effect; a transaction's part is refused then. <see cref="OnceCheck"/>
    /// holds the contents against what was told.</summary>
    public ObjectHistory Resolved(IEnumerable<AppliedWrite> applied)
    {
        var versions = applied.DistinctBy(write => write.Id).ToDictionary(write => write.Id, write => write.Version);
        var resolved = new ObjectHistory();
        resolved.Transactions.AddRange(Transactions);
        foreach (var call in Calls)
        {
            if (call.Fate != ObjectFate.Unknown || !call.Writes) resolved.Calls.Add(call);
            else if (versions.TryGetValue(call.Id, out var version))
                resolved.Calls.Add(call with { Fate = ObjectFate.Done, Version = version, End = Never, Until = Never });
            else if (call.Transaction is not null) resolved.Calls.Add(call with { Fate = ObjectFate.Refused });
        }

        return resolved;
    }
}

public enum ObjectFate
{
    /// <summary>No answer, or the answer "unknown": a write may have been applied, or will be.</summary>
    Unknown,

    Done,

    /// <summary>A compare failed, or an operation did not fit its object: nothing was written.</summary>
    Mismatch,

    /// <summary>Nothing was written, and nothing was read.</summary>
    Refused,
}

public enum ObjectMode
{
    /// <summary>A call of operations, compares and reads in one step.</summary>
    Mutate,

    Strong,
    Session,
    Bounded,
    Eventual,
}

/// <summary>A call about objects of one chain.</summary>
/// <param name="Id">The name of the call in findings, and the id of its write.</param>
public sealed record ObjectCall(string Id, string Chain, ObjectMode Mode, long Start, long End, ObjectFate Fate)
{
    /// <summary>The version of a write, if that is known; 0 otherwise.</summary>
    public long Version { get; init; }

    /// <summary>Everything up to it was committed when the answer was made; 0: not told.</summary>
    public long Mark { get; init; }

    /// <summary>Objects as the answer showed them; of a mutation as they were before its writes.</summary>
    public IReadOnlyList<ObjectSeen> Seen { get; init; } = [];

    public IReadOnlyList<ObjectTest> Tests { get; init; } = [];

    public IReadOnlyList<ObjectAct> Acts { get; init; } = [];

    /// <summary>The index of the test that failed, after a mismatch; behind the last one, of the act that did not
    /// fit.</summary>
    public int Failed { get; init; }

    /// <summary>The version of the object that did not fit, after a mismatch; 0: it was absent, or not
    /// told.</summary>
    public long FailedVersion { get; init; }

    /// <summary>The session that the call belongs to; null: none.</summary>
    public string? Session { get; init; }

    /// <summary>The transaction over several chains that the call is a part of; null: none.</summary>
    public string? Transaction { get; init; }

    /// <summary>The number of uncommitted versions that a bounded read allows.</summary>
    public int MaxAhead { get; init; }

    /// <summary>The age that a bounded read allows, in the unit of From; 0: any.</summary>
    public long MaxAge { get; init; }

    public long From { get; init; }

    public long Until { get; init; }

    public bool Writes => Acts.Count > 0;

    public override string ToString() =>
        $"{Mode} {Id} in {Chain} [{Start},{(End == ObjectHistory.Never ? "-" : End)}] {Fate}"
        + (Version > 0 ? $" as {ObjectVersions.Show(Version)}" : "")
        + (Acts.Count > 0 ? $" {{{string.Join(", ", Acts)}}}" : "")
        + (Tests.Count > 0 ? $" if {{{string.Join(", ", Tests)}}}" : "")
        + (Seen.Count > 0 ? $" saw {{{string.Join(", ", Seen)}}}" : "")
        + (Fate == ObjectFate.Mismatch ? $" at {Failed}, version {ObjectVersions.Show(FailedVersion)}" : "");
}

/// <param name="Version">0: absent, and what deleted it is not told.</param>
/// <param name="Value">Null: absent.</param>
/// <param name="IsDirty">Told as not known to be committed.</param>
public sealed record ObjectSeen(string Key, long Version, string? Value, bool IsDirty = false)
{
    public override string ToString() => $"{Key}@{ObjectVersions.Show(Version)}={Value ?? "-"}{(IsDirty ? "?" : "")}";
}

public enum ObjectTestKind
{
    /// <summary>Exactly this version; 0: absent.</summary>
    Version,

    Exists,
    Absent,

    /// <summary>Exactly this value.</summary>
    Value,
}

public sealed record ObjectTest(string Key, ObjectTestKind Kind, long Version = 0, string Value = "")
{
    public override string ToString() => Kind switch
    {
        ObjectTestKind.Version => $"{Key}@{ObjectVersions.Show(Version)}",
        ObjectTestKind.Value => $"{Key}={Value}",
        _ => $"{Key} {Kind}",
    };
}

public enum ObjectActKind
{
    Put,

    /// <summary>Does not fit an absent object, as the four below.</summary>
    Delete,

    Append,
    Prepend,

    /// <summary>Decimal text plus a delta: wraps upwards at 2^64, and stops at 0 downwards.</summary>
    Add,

    Touch,

    /// <summary>Deletes all objects of the chain.</summary>
    Clear,
}

/// <param name="Sum">The answer of an Add that was done; null: not told.</param>
/// <param name="Expiry">The time of a Put or Touch, in the unit of <see cref="ObjectCall.From"/>, from which on the
/// object reads as absent; 0: none.</param>
public sealed record ObjectAct(
    string Key, ObjectActKind Kind, string Value = "", long Delta = 0, ulong? Sum = null, long Expiry = 0)
{
    public override string ToString() => Kind switch
    {
        ObjectActKind.Add => $"{Key}{Delta:+0;-0}{(Sum is { } sum ? $"={sum}" : "")}",
        ObjectActKind.Clear => "Clear",
        _ => $"{Kind} {Key} {Value}{(Expiry > 0 ? $" until {Expiry}" : "")}",
    };
}

/// <summary>A transaction over several chains. An item is a chain and a key.</summary>
/// <param name="Reads">Versions that it saw, and tested; 0: it was before the item's first write.</param>
/// <param name="Writes">Versions that it wrote; 0: not known.</param>
public sealed record ObjectTransaction(string Name, long Began, long Ended, TxFate Fate,
    IReadOnlyList<(string Item, long Version)> Reads, IReadOnlyList<(string Item, long Version)> Writes)
{
    public override string ToString() => $"{Name} ({Fate})";
}

internal static class ObjectVersions
{
    private const int CounterBits = 40;

    public static string Show(long version) =>
        version < 1L << CounterBits ? $"{version}" : $"e{version >> CounterBits}:{version & ((1L << CounterBits) - 1)}";
}
