namespace Salus.Protocol;

/// <summary>Bytes of hashes and ids, in messages and records.</summary>
public static class HashCodec
{
    public static void Hash(this ref WireWriter w, Hash128 hash)
    {
        w.UInt64((ulong)hash.Value);
        w.UInt64((ulong)(hash.Value >> 64));
    }

    public static Hash128 Hash(this ref WireReader r)
    {
        var low = r.UInt64();
        return new Hash128(new UInt128(r.UInt64(), low));
    }

    public static void Hashes(this ref WireWriter w, ImmutableArray<Hash128> hashes) =>
        w.Array(hashes, static (ref w, hash) => w.Hash(hash));

    public static ImmutableArray<Hash128> Hashes(this ref WireReader r, int limit) =>
        r.Array(Hash128.Size, static (ref r) => r.Hash(), limit);

    public static void Volume(this ref WireWriter w, VolumeId volume) => w.Guid(volume.Value);

    public static VolumeId Volume(this ref WireReader r) => new(r.Guid());

    public static void Region(this ref WireWriter w, RegionKey region)
    {
        w.Volume(region.Volume);
        w.Int32(region.Region);
    }

    public static RegionKey Region(this ref WireReader r) => new(r.Volume(), r.RegionNumber());

    public static int RegionNumber(this ref WireReader r)
    {
        var region = r.Int32();
        return region is >= 0 and < VolumeGeometry.MaxRegions
            ? region
            : throw new MalformedDataException($"A volume has no region {region}.");
    }

    /// <summary>A count or number that is never negative.</summary>
    public static long Number(this ref WireReader r)
    {
        var value = r.Int64();
        return value >= 0 ? value : throw new MalformedDataException("A number is negative.");
    }

    /// <summary>A number within a region.</summary>
    public static int BlockNumber(this ref WireReader r)
    {
        var block = r.Int32();
        return block is >= 0 and < VolumeGeometry.MaxRegionBlocks
            ? block
            : throw new MalformedDataException($"A region has no block {block}.");
    }
}
