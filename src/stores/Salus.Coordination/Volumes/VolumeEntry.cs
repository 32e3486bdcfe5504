namespace Salus.Coordination;

/// <summary>A volume by its name.</summary>
public sealed record VolumeEntry(VolumeId Id, VolumeGeometry Geometry, VolumeStage Stage)
{
    internal void Write(ref WireWriter w)
    {
        w.Volume(Id);
        w.Geometry(Geometry);
        w.Byte((byte)Stage);
    }

    internal static VolumeEntry Read(ref WireReader r)
    {
        var entry = new VolumeEntry(r.Volume(), r.Geometry(), (VolumeStage)r.Byte());
        return entry.Stage <= VolumeStage.Deleting
            ? entry
            : throw new MalformedDataException("The stage of a volume is unknown: update this node.");
    }
}

/// <summary>Numbers are part of the format.</summary>
public enum VolumeStage : byte
{
    /// <summary>The regions get their members.</summary>
    Creating = 0,

    Ready = 1,

    /// <summary>The stores free what they hold of it; it is mounted no more.</summary>
    Deleting = 2,
}

/// <summary>The first members of regions that follow each other.</summary>
public sealed record PlacedRegions(ImmutableArray<ImmutableArray<RegionMember>> Members)
{
    internal void Write(ref WireWriter w) =>
        w.Array(Members, static (ref w, members) => w.Array(members, RegionCodec.Member));

    internal static PlacedRegions Read(ref WireReader r) => new(r.Array(4, static (ref r) =>
        r.Array(RegionCodec.MemberSize, RegionCodec.Member, VolumeGeometry.MaxCopies),
        CoordinationLimits.MaxPlaced));
}

internal static class GeometryCodec
{
    public static void Geometry(this ref WireWriter w, VolumeGeometry geometry)
    {
        w.Int64(geometry.Size);
        w.Int32(geometry.BlockSize);
        w.Int32(geometry.RegionBlocks);
        w.Int32(geometry.Copies);
    }

    public static VolumeGeometry Geometry(this ref WireReader r)
    {
        var (size, block, region, copies) = (r.Int64(), r.Int32(), r.Int32(), r.Int32());
        return VolumeGeometry.FaultOf(size, block, region, copies) is { } fault
            ? throw new MalformedDataException(fault)
            : VolumeGeometry.Create(size, block, region, copies);
    }
}
