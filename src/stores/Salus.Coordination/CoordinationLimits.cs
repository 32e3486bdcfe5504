using System.Text;

namespace Salus.Coordination;

/// <summary>Bounds of what one log holds.</summary>
public static class CoordinationLimits
{
    /// <summary>Stores, those that are gone for good included until an operator forgets them.</summary>
    public const int MaxStores = 10_000;

    public const int MaxVolumes = 10_000;

    /// <summary>Bytes of a name: of a volume, a snapshot, a domain or an operator.</summary>
    public const int MaxName = 255;

    /// <summary>Generations of a region that certificates may still name.</summary>
    public const int MaxGenerations = 256;

    /// <summary>Checkpoints of a region that are kept: for snapshots, and above the stable point.</summary>
    public const int MaxCheckpoints = 512;

    public const int MaxSnapshots = 256;

    /// <summary>The newest ones of a volume; older ones go.</summary>
    public const int MaxSuspicions = 256;

    public const int MaxLosses = 256;

    /// <summary>Regions that one record places.</summary>
    public const int MaxPlaced = 256;

    internal static bool IsName(string name) => name.Length > 0 && Encoding.UTF8.GetByteCount(name) <= MaxName;
}
