namespace Salus.Coordination;

/// <summary>Bounds of what one log holds.</summary>
public static class CoordinationLimits
{
    /// <summary>Stores, those that are gone for good included until an operator forgets them.</summary>
    public const int MaxStores = 10_000;

    public const int MaxVolumes = 10_000;

    /// <summary>Bytes of a name: of a volume, a snapshot or a domain.</summary>
    public const int MaxName = 255;
}
