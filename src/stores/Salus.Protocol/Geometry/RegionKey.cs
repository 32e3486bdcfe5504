namespace Salus.Protocol;

/// <summary>The identity of a volume, for ever: a new volume of an old name has another.</summary>
public readonly record struct VolumeId(Guid Value)
{
    public override string ToString() => Value.ToString("N")[..8];
}

/// <summary>A region of a volume.</summary>
/// <param name="Region">Counts the volume's regions, from 0.</param>
public readonly record struct RegionKey(VolumeId Volume, int Region)
{
    public override string ToString() => $"{Volume}/{Region}";
}

/// <summary>Blocks of one region that follow each other.</summary>
/// <param name="First">The first one, counted within the region.</param>
public readonly record struct BlockRange(int Region, int First, int Count)
{
    /// <summary>The block behind the last one.</summary>
    public int End => First + Count;
}
