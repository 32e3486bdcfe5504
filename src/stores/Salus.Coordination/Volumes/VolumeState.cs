namespace Salus.Coordination;

/// <summary>The newest that the driver tells: proof that a mount is not to lose.</summary>
/// <param name="Batch">Committed, with all before it.</param>
/// <param name="Stable">All batches up to this one are in checkpoints of all their regions.</param>
public sealed record DriverNote(BatchName Batch, Hash128 VolumeRoot, long Stable)
{
    internal void Write(ref WireWriter w)
    {
        Batch.Write(ref w);
        w.Hash(VolumeRoot);
        w.Int64(Stable);
    }

    internal static DriverNote Read(ref WireReader r) => new(BatchName.Read(ref r), r.Hash(), r.Number());
}

/// <summary>A snapshot: the volume as it was committed at a marker.</summary>
/// <param name="Marker">None while the snapshot is wanted.</param>
public sealed record SnapshotEntry(string Name, BatchName Marker, Hash128 VolumeRoot, SnapshotState State)
{
    internal void Write(ref WireWriter w)
    {
        w.Text(Name);
        Marker.Write(ref w);
        w.Hash(VolumeRoot);
        w.Byte((byte)State);
    }

    internal static SnapshotEntry Read(ref WireReader r)
    {
        var snapshot = new SnapshotEntry(
            r.Text(CoordinationLimits.MaxName), BatchName.Read(ref r), r.Hash(), (SnapshotState)r.Byte());
        return snapshot.State <= SnapshotState.Wanted
            ? snapshot
            : throw new MalformedDataException("The state of a snapshot is unknown: update this node.");
    }
}

/// <summary>Numbers are part of the format.</summary>
public enum SnapshotState : byte
{
    /// <summary>A region has no checkpoint of the marker yet.</summary>
    Cutting = 0,

    /// <summary>All regions have one, and their roots make the marker's.</summary>
    Complete = 1,

    /// <summary>The roots of the checkpoints do not make the marker's: the snapshot cannot be read.</summary>
    Diverged = 2,

    /// <summary>An operator asks for it. The writer sends the marker.</summary>
    Wanted = 3,
}

/// <summary>An accusation of a member.</summary>
/// <param name="UnixMilliseconds">The accuser's clock.</param>
public sealed record Suspicion(
    int Region, Epoch Generation, Incarnation Member, SuspicionKind Kind, long UnixMilliseconds)
{
    internal const int Size = 4 + 8 + 16 + 1 + 8;

    internal void Write(ref WireWriter w)
    {
        w.Int32(Region);
        w.Epoch(Generation);
        w.Guid(Member.Value);
        w.Byte((byte)Kind);
        w.Int64(UnixMilliseconds);
    }

    internal static Suspicion Read(ref WireReader r)
    {
        var suspicion = new Suspicion(
            r.RegionNumber(), r.Epoch(), new Incarnation(r.Guid()), (SuspicionKind)r.Byte(), r.Number());
        return suspicion.Kind is SuspicionKind.WrongAnswer or SuspicionKind.Stall
            ? suspicion
            : throw new MalformedDataException("The kind of a suspicion is unknown: update this node.");
    }
}

/// <summary>Numbers are part of the format.</summary>
public enum SuspicionKind : byte
{
    None = 0,

    /// <summary>A read was answered with other blocks than the driver's tree has.</summary>
    WrongAnswer = 1,

    /// <summary>A batch makes no progress.</summary>
    Stall = 2,
}

/// <summary>Acknowledged batches that an operator has given up. Kept for ever.</summary>
/// <param name="Kept">The last batch that stays.</param>
/// <param name="Proven">The last one that was committed.</param>
/// <param name="By">The operator's name.</param>
public sealed record VolumeLoss(long Run, BatchName Kept, BatchName Proven, string By, long UnixMilliseconds)
{
    internal void Write(ref WireWriter w)
    {
        w.Int64(Run);
        Kept.Write(ref w);
        Proven.Write(ref w);
        w.Text(By);
        w.Int64(UnixMilliseconds);
    }

    internal static VolumeLoss Read(ref WireReader r) => new(r.Number(), BatchName.Read(ref r),
        BatchName.Read(ref r), r.Text(CoordinationLimits.MaxName), r.Number());
}

/// <summary>The state of a volume besides its regions.</summary>
public sealed record VolumeHead
{
    public static VolumeHead None { get; } = new();

    public VolumeId Id { get; init; }

    /// <summary>Null: the volume is not made.</summary>
    public VolumeGeometry? Geometry { get; init; }

    /// <summary>Counts the tenures of writers.</summary>
    public long Run { get; init; }

    /// <summary>Fencing token of the writer's lock, with which the run was begun.</summary>
    public long Token { get; init; }

    public Incarnation Driver { get; init; }

    public RunPhase Phase { get; init; }

    /// <summary>The newest one: of this run from <see cref="RunPhase.Decided"/> on, else of an earlier one.</summary>
    public RunDecision? Decision { get; init; }

    /// <summary>The newest one that was opened, or that gave up a tail: what it voids never comes back.</summary>
    public RunDecision? Bar { get; init; }

    /// <summary>Why the run waits, in <see cref="RunPhase.Waiting"/>.</summary>
    public RunShortfall? Shortfall { get; init; }

    public DriverNote? Note { get; init; }

    public ImmutableArray<SnapshotEntry> Snapshots { get; init; } = [];

    public ImmutableArray<Suspicion> Suspicions { get; init; } = [];

    public ImmutableArray<VolumeLoss> Losses { get; init; } = [];

    /// <summary>The stable point.</summary>
    public long Stable => Note?.Stable ?? 0;
}

/// <summary>A volume: immutable.</summary>
/// <param name="Revision">Rises with every change.</param>
public sealed record VolumeState(long Revision, VolumeHead Head, ImmutableSortedDictionary<int, RegionState> Regions)
{
    public static VolumeState Empty { get; } =
        new(0, VolumeHead.None, ImmutableSortedDictionary<int, RegionState>.Empty);

    /// <summary>All regions have members: a run may begin.</summary>
    public bool IsPlaced => Head.Geometry is { } geometry && Regions.Count == geometry.Regions;

    public RegionKey Key(int region) => new(Head.Id, region);

    /// <summary>Whether the proof is one of a generation that the volume knows.</summary>
    public bool Proves(CommitProof proof) =>
        Regions.TryGetValue(proof.Leader, out var leader)
        && leader.MembersOf(proof.Certificate.Generation) is { } members && proof.IsValid(Head.Id, members);
}

/// <summary>The verdict of the rules.</summary>
/// <param name="State">The state behind the change, or the one before it.</param>
/// <param name="Refusal">Why nothing changes, for people; null: it changes, or had changed before.</param>
internal readonly record struct VolumeRuling(VolumeState State, string? Refusal);
