namespace Salus.Coordination;

/// <summary>Bytes of a region's state.</summary>
internal static class RegionCodec
{
    public const int MemberSize = 16 + 16 + 1;

    private const int SmallestGeneration = 8 + 4 + MemberSize + 1 + 1;
    private const int CheckpointSize = (4 * 8) + (2 * Hash128.Size);

    public static void Member(ref WireWriter w, RegionMember member)
    {
        w.Guid(member.Store.Value);
        w.Guid(member.Incarnation.Value);
        w.Bool(member.IsFilled);
    }

    public static RegionMember Member(ref WireReader r) =>
        new(new StoreId(r.Guid()), new Incarnation(r.Guid()), r.Bool());

    public static void Region(ref WireWriter w, RegionState region)
    {
        Generation(ref w, region.Current);
        w.Array(region.Past, Generation);
        w.Array(region.Checkpoints, static (ref w, checkpoint) => checkpoint.Write(ref w));
        w.Bool(region.Report is not null);
        region.Report?.Write(ref w);
    }

    public static RegionState Region(ref WireReader r) => new(Generation(ref r),
        r.Array(SmallestGeneration, Generation, CoordinationLimits.MaxGenerations),
        r.Array(CheckpointSize, CheckpointName.Read, CoordinationLimits.MaxCheckpoints),
        r.Bool() ? RegionReport.Read(ref r) : null);

    private static void Generation(ref WireWriter w, RegionGeneration generation)
    {
        w.Epoch(generation.Number);
        w.Array(generation.Members, Member);
        w.Bool(generation.Opening is not null);
        generation.Opening?.Write(ref w);
        w.Bool(generation.IsAdmitted);
    }

    private static RegionGeneration Generation(ref WireReader r) => new(r.Epoch(),
        r.Array(MemberSize, Member, VolumeGeometry.MaxCopies),
        r.Bool() ? RegionOpening.Read(ref r) : null, r.Bool());
}
