namespace Salus.Coordination;

/// <summary>A process and its store, as a member of a region.</summary>
/// <param name="IsFilled">The store has all files of the region; else it takes batches, and reads go elsewhere.</param>
public readonly record struct RegionMember(StoreId Store, Incarnation Incarnation, bool IsFilled);

/// <summary>The place where a generation goes on, which all its members have signed.</summary>
/// <param name="Index">The index of its opening record; 0: the region is new.</param>
/// <param name="Chain">The chain up to that record: it vouches for everything below.</param>
/// <param name="Run">The run that the generation takes batches of.</param>
/// <param name="Last">The region's last batch below.</param>
/// <param name="StoresRead">Stores of the newest admitted generation that the recovery has read from.</param>
public sealed record RegionOpening(long Index, Hash128 Chain, long Run, BatchName Last, int StoresRead)
{
    internal void Write(ref WireWriter w)
    {
        w.Int64(Index);
        w.Hash(Chain);
        w.Int64(Run);
        Last.Write(ref w);
        w.Int32(StoresRead);
    }

    internal static RegionOpening Read(ref WireReader r) =>
        new(r.Number(), r.Hash(), r.Number(), BatchName.Read(ref r), r.Int32());
}

/// <summary>A membership of a region.</summary>
/// <param name="Members">The primary first.</param>
/// <param name="Opening">Null: the region is being recovered.</param>
/// <param name="IsAdmitted">The generation takes batches, cuts and frees. One that was replaced before never
/// did.</param>
public sealed record RegionGeneration(
    Epoch Number, ImmutableArray<RegionMember> Members, RegionOpening? Opening, bool IsAdmitted)
{
    /// <summary>For certificates of this generation.</summary>
    public MemberSet Set => new(Number, [.. Members.Select(static member => member.Incarnation)]);

    public RegionMember? Find(Incarnation incarnation)
    {
        foreach (var member in Members)
        {
            if (member.Incarnation == incarnation) return member;
        }

        return null;
    }
}

/// <summary>A region of a volume.</summary>
/// <param name="Current">The newest generation.</param>
/// <param name="Past">Earlier ones, ascending, as long as a certificate of theirs, or a copy on their stores, may be
/// needed.</param>
/// <param name="Checkpoints">Kept ones, ascending. The region's files and records below the first one that
/// the stable point has reached may go.</param>
/// <param name="Report">The region's word to the present run; null: none since the run or the generation began.</param>
public sealed record RegionState(RegionGeneration Current, ImmutableArray<RegionGeneration> Past,
    ImmutableArray<CheckpointName> Checkpoints, RegionReport? Report)
{
    /// <summary>The newest checkpoint: no recovery begins below (S10). None: the region has no file.</summary>
    public CheckpointName Newest => Checkpoints.IsEmpty ? default : Checkpoints[^1];

    /// <summary>All that are known, ascending.</summary>
    public IEnumerable<RegionGeneration> Generations => Past.Append(Current);

    /// <summary>The newest admitted generation: the next recovery begins from its opening (S9).</summary>
    public RegionGeneration Anchor
    {
        get
        {
            if (Current.IsAdmitted) return Current;
            for (var i = Past.Length - 1; i >= 0; i--)
            {
                if (Past[i].IsAdmitted) return Past[i];
            }

            return Current;
        }
    }

    /// <summary>Stores that tell how long the region's log was: those of the anchor, and of generations that were read
    /// from it (S10). Members of a recovery that was given up before it opened may have nothing.</summary>
    public IEnumerable<StoreId> Informed
    {
        get
        {
            var anchor = Anchor.Number;
            return Generations.Where(generation => generation.Number == anchor
                    || (generation.Number > anchor && generation.Opening is { StoresRead: > 0 }))
                .SelectMany(static generation => generation.Members).Select(static member => member.Store).Distinct();
        }
    }

    /// <summary>Null: the generation is none that is known, so its certificates prove nothing.</summary>
    public MemberSet? MembersOf(Epoch generation)
    {
        if (Current.Number == generation) return Current.Set;
        foreach (var past in Past)
        {
            if (past.Number == generation) return past.Set;
        }

        return null;
    }
}
