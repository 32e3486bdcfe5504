namespace Corfu.Client;

/// <summary>Lists of chains under R1: the chain of a position is the position modulo their number. A list repeated is
/// the same list, and two lists are compared position by position up to their least common multiple.</summary>
internal static class ChainLists
{
    /// <summary>The chains of the positions 0, 1, 2... under both lists, until both repeat.</summary>
    public static IEnumerable<(Chain Old, Chain New)> Pairs(ImmutableArray<Chain> old, ImmutableArray<Chain> @new)
    {
        var count = CommonLength(old.Length, @new.Length);
        for (var i = 0; i < count; i++) yield return (old[i % old.Length], @new[i % @new.Length]);
    }

    /// <exception cref="ReconfigurationException">The lists together are too long.</exception>
    private static int CommonLength(int a, int b)
    {
        var (x, y) = (a, b);
        while (y != 0) (x, y) = (y, x % y);
        var common = (long)a / x * b;
        return common <= Membership.MaxChains
            ? (int)common
            : throw new ReconfigurationException(
                $"{a} chains and {b} chains have no common multiple up to {Membership.MaxChains}: choose another "
                + "number of chains.");
    }

    /// <summary>The shortest list that says the same.</summary>
    public static ImmutableArray<Chain> Reduce(ImmutableArray<Chain> chains)
    {
        for (var period = 1; period <= chains.Length / 2; period++)
        {
            var repeats = chains.Length % period == 0 && chains[period..].SequenceEqual(chains[..^period]);
            if (repeats) return chains[..period];
        }

        return chains;
    }
}
