namespace Corfu.Protocol;

/// <summary>The immutable map of one epoch (CORFU 2.2): sequencer, segments, chains, units and the acceptors that
/// decide the next epoch. The constructor refuses a map that breaks its invariants.</summary>
public sealed class Projection : IEquatable<Projection>
{
    private readonly Dictionary<NodeId, NodeEndpoint> _endpoints;

    public Projection(ClusterId cluster, Epoch epoch, NodeAddress sequencer, LogPosition start, LogPosition trimMark,
        ImmutableArray<Segment> segments, ImmutableArray<NodeAddress> units, ImmutableArray<NodeAddress> acceptors,
        string reason, ClusterId mirrorOf = default, DateTimeOffset? proposedAt = null)
    {
        Cluster = cluster;
        Epoch = epoch;
        Sequencer = sequencer;
        Start = start;
        TrimMark = trimMark;
        Segments = segments;
        Units = units;
        Acceptors = acceptors;
        Reason = WireWriter.Cut(reason);
        MirrorOf = mirrorOf;
        // The encoded form: zero says that the time is not known.
        var milliseconds = proposedAt?.ToUnixTimeMilliseconds() ?? 0;
        ProposedAt = milliseconds == 0 ? null : DateTimeOffset.FromUnixTimeMilliseconds(milliseconds);
        ProjectionRules.Check(this);
        _endpoints = units.ToDictionary(u => u.Id, u => u.Endpoint);
    }

    public ClusterId Cluster { get; }

    public Epoch Epoch { get; }

    /// <summary>The incarnation that grants positions in this epoch, and its endpoint.</summary>
    public NodeAddress Sequencer { get; }

    /// <summary>T: the first position of this epoch's sequencer. No entry of an older epoch is ever written at or above
    /// it.</summary>
    public LogPosition Start { get; }

    /// <summary>Everything below was prefix-trimmed when this projection was made; units may since be
    /// further.</summary>
    public LogPosition TrimMark { get; }

    /// <summary>Ascending, contiguous from the first one's From; only the last one is open.</summary>
    public ImmutableArray<Segment> Segments { get; }

    /// <summary>Every unit of every chain, ordered by identity.</summary>
    public ImmutableArray<NodeAddress> Units { get; }

    /// <summary>The acceptors that decide epoch + 1; their number is odd.</summary>
    public ImmutableArray<NodeAddress> Acceptors { get; }

    /// <summary>The reason for this epoch, for people; at most <see cref="MessageLimits.MaxReason"/> bytes of
    /// it.</summary>
    public string Reason { get; }

    /// <summary>The proposer's clock, UTC, in whole milliseconds: for people, never compared. Null if
    /// unknown.</summary>
    public DateTimeOffset? ProposedAt { get; }

    /// <summary>Not none: the log is a copy of that cluster's, which decides every position, so none is granted or
    /// filled here before a reconfiguration promotes it. The own cluster's id: it is being promoted, and takes no
    /// copies.</summary>
    public ClusterId MirrorOf { get; }

    public bool IsMirror => !MirrorOf.IsNone;

    public Segment Active => Segments[^1];

    public NodeAddress AddressOf(NodeId unit) => new(unit, _endpoints[unit]);

    public bool HasUnit(NodeId unit) => _endpoints.ContainsKey(unit);

    /// <summary>Every position has one: the first segment's chains hold the positions below it, too.</summary>
    public Chain ChainOf(LogPosition position)
    {
        for (var i = Segments.Length - 1; i > 0; i--)
        {
            if (position >= Segments[i].From) return Segments[i].ChainOf(position);
        }

        return Segments[0].ChainOf(position);
    }

    public bool Equals(Projection? other) =>
        other is not null && Epoch == other.Epoch && Cluster == other.Cluster && MirrorOf == other.MirrorOf
        && ProposedAt == other.ProposedAt
        && Sequencer == other.Sequencer && Start == other.Start && TrimMark == other.TrimMark && Reason == other.Reason
        && Units.AsSpan().SequenceEqual(other.Units.AsSpan())
        && Acceptors.AsSpan().SequenceEqual(other.Acceptors.AsSpan())
        && Segments.AsSpan().SequenceEqual(other.Segments.AsSpan());

    public override bool Equals(object? obj) => Equals(obj as Projection);

    public override int GetHashCode() => HashCode.Combine(Cluster, Epoch, Sequencer, Start);

    public override string ToString() =>
        $"{Epoch} start {Start.Offset} segments {Segments.Length} sequencer {Sequencer}";
}

/// <summary>A half-open range of positions and the chains that hold it. <see cref="Until"/> is null for the open,
/// active one.</summary>
public sealed record Segment(LogPosition From, LogPosition? Until, ImmutableArray<Chain> Chains)
{
    /// <summary>The chain index is the position modulo the chains, never relative to the segment's start, so that
    /// merging neighbours moves no entry.</summary>
    public Chain ChainOf(LogPosition position)
    {
        if (Planted.Is("chain-within-its-segment"))
            return Chains[(int)(Math.Max(0, position.Offset - From.Offset) % Chains.Length)];
        return Chains[(int)(position.Offset % Chains.Length)];
    }

    public bool Equals(Segment? other) =>
        other is not null && From == other.From && Nullable.Equals(Until, other.Until)
        && Chains.AsSpan().SequenceEqual(other.Chains.AsSpan());

    public override int GetHashCode() => HashCode.Combine(From, Until, Chains.Length);
}

/// <summary>An ordered list of replicas, written head to tail. The full replicas come first.</summary>
public sealed class Chain(ImmutableArray<Replica> replicas) : IEquatable<Chain>
{
    public ImmutableArray<Replica> Replicas { get; } = replicas;

    /// <summary>How many of the replicas, from the head, are full.</summary>
    public int FullCount { get; } = replicas.Count(r => !r.Joining);

    /// <summary>The full replicas, head to tail.</summary>
    public IEnumerable<NodeId> FullUnits => Replicas.Take(FullCount).Select(r => r.Unit);

    public NodeId Head => Replicas[0].Unit;

    /// <summary>The last full replica: what it holds is committed.</summary>
    public NodeId Tail => Replicas[FullCount - 1].Unit;

    public bool Equals(Chain? other) => other is not null && Replicas.AsSpan().SequenceEqual(other.Replicas.AsSpan());

    public override bool Equals(object? obj) => Equals(obj as Chain);

    public override int GetHashCode() =>
        HashCode.Combine(Replicas.Length, Replicas.Length == 0 ? default : Replicas[0]);
}

/// <summary>A unit's place in a chain. A joining replica is written by fills, completes and trims but is never read. It
/// is never head, tail, survivor, confirmer or a source of copies, and stands behind the full ones.</summary>
public readonly record struct Replica(NodeId Unit, bool Joining = false);
