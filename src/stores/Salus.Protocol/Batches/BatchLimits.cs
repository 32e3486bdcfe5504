namespace Salus.Protocol;

/// <summary>Bounds of a batch, which every reader checks.</summary>
public static class BatchLimits
{
    /// <summary>Bytes of the requests in a batch.</summary>
    public const int MaxBytes = 1 << 20;

    /// <summary>Requests in a batch.</summary>
    public const int MaxRequests = 256;

    /// <summary>Bytes of whole blocks in a batch: a write of the largest size may begin within a block.</summary>
    public const int MaxPayload = MaxBytes + VolumeGeometry.MaxBlockSize;

    /// <summary>Blocks that a batch writes: the largest size in the smallest blocks, beginning within a
    /// block.</summary>
    public const int MaxWrites = (MaxBytes / VolumeGeometry.MinBlockSize) + MaxRequests;

    /// <summary>Ranges that a batch empties in one region: writes may divide the range of a request that came
    /// before.</summary>
    public const int MaxZeros = MaxRequests + MaxWrites;

    /// <summary>Regions that take part in a batch; a marker has all of them.</summary>
    public const int MaxParticipants = VolumeGeometry.MaxRegions;
}
