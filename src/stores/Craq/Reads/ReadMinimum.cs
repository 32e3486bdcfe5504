namespace Craq.Reads;

/// <summary>The least number of counting members that any next epoch of a chain keeps. A number that is too low costs
/// confirmations and breaks nothing.</summary>
internal static class ReadMinimum
{
    public static int Of(ChainConfig config)
    {
        var placement = config.Placement;
        var wished = placement.MinMembers > 0 ? placement.MinMembers : Majority(placement);
        return Math.Max(1, Math.Min(wished, config.MostMinimum));
    }

    // 1 where the size is that of a list of nodes, which no config has.
    private static int Majority(Placement placement)
    {
        if (placement.Master is not null) return 1;
        var size = placement.Groups.IsEmpty
            ? placement.Datacenters * placement.Size
            : placement.Groups.Any(group => group.Size == 0) ? 0 : placement.Groups.Sum(group => group.Size);
        return size < 3 ? 1 : size / 2 + 1;
    }
}
