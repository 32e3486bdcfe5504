namespace Salus.Coordination;

/// <summary>The beginning of a run, the same for everyone: all batches up to this one are committed, and all batches of
/// lower runs above are void.</summary>
/// <param name="Batch">None: the volume is empty.</param>
/// <param name="VolumeRoot">The volume's root after that batch.</param>
/// <param name="Lasts">By region, its last batch at or below; null: the region rolls back to find it.</param>
public sealed record RunDecision(long Run, BatchName Batch, Hash128 VolumeRoot, ImmutableArray<BatchName?> Lasts)
{
    /// <summary>Whether the decision has voided the batch.</summary>
    // A batch of a later run cannot be below the decision, nor be void by it.
    public bool Voids(in BatchName batch) => batch.Run < Run && batch.Number > Batch.Number;

    internal void Write(ref WireWriter w)
    {
        w.Int64(Run);
        Batch.Write(ref w);
        w.Hash(VolumeRoot);
        w.Array(Lasts, static (ref w, last) =>
        {
            w.Bool(last is not null);
            last?.Write(ref w);
        });
    }

    internal static RunDecision Read(ref WireReader r) => new(r.Number(), BatchName.Read(ref r), r.Hash(),
        r.Array(1, static (ref r) => r.Bool() ? BatchName.Read(ref r) : default(BatchName?),
            VolumeGeometry.MaxRegions));
}

/// <summary>The reason why a run cannot begin: more is proven committed than the regions can show (S20).</summary>
/// <param name="Regions">The regions that lack something; their stores must come back.</param>
/// <param name="Proven">All batches up to this one are proven committed.</param>
/// <param name="Shown">All batches up to here are there.</param>
public sealed record RunShortfall(ImmutableArray<int> Regions, BatchName Proven, long Shown)
{
    /// <summary>The batch that stays where the tail is given up: the last one whose root the roots of the regions make.
    /// Null: the reports tell.</summary>
    public ShownBatch? Prefix { get; init; }

    internal void Write(ref WireWriter w)
    {
        w.Array(Regions, static (ref w, region) => w.Int32(region));
        Proven.Write(ref w);
        w.Int64(Shown);
    }

    internal static RunShortfall Read(ref WireReader r) => new(
        r.Array(4, static (ref r) => r.RegionNumber(), VolumeGeometry.MaxRegions), BatchName.Read(ref r), r.Number());
}

/// <summary>A batch that all regions can return to.</summary>
/// <param name="Batch">The digest may be missing: at the stable point no header may be left.</param>
/// <param name="VolumeRoot">The volume's root after it.</param>
public readonly record struct ShownBatch(BatchName Batch, Hash128 VolumeRoot)
{
    internal void Write(ref WireWriter w)
    {
        Batch.Write(ref w);
        w.Hash(VolumeRoot);
    }

    internal static ShownBatch Read(ref WireReader r) => new(BatchName.Read(ref r), r.Hash());
}

/// <summary>Numbers are part of the format.</summary>
public enum RunPhase : byte
{
    /// <summary>No writer has ever begun.</summary>
    None = 0,

    /// <summary>Regions report.</summary>
    Fencing = 1,

    /// <summary>A region lacks something that is proven committed: its report shows that, or the volume's
    /// root.</summary>
    Waiting = 2,

    /// <summary>The regions open at the decision, and the driver compares roots.</summary>
    Decided = 3,

    /// <summary>The driver writes.</summary>
    Opened = 4,
}
