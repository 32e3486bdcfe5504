namespace Corfu.Simulation.Kernel.Seeds;

/// <summary>A known bug of the product, which one checker must find.</summary>
/// <param name="Rule">The rules of docs/rules.md that it breaks, or an invariant there that has no number.</param>
/// <param name="What">The product's mistake, in a few words.</param>
/// <param name="Checker">The checker that must fire; another's verdict, a crash or a time-out does not count.</param>
/// <param name="Hint">A seed near which it was found last: a short hunt begins here. It proves nothing by
/// itself.</param>
public abstract record PlantedBug(string Name, string Rule, string What, string Checker, ulong Hint)
{
    /// <summary>The kind of runs that may show it, as <see cref="SeedProcess"/> is told; empty: the program's
    /// first.</summary>
    public virtual string Runs => "";

    /// <summary>False for seeds whose plan lacks what the bug sits in.</summary>
    public abstract bool MayShowIn(ulong seed);
}
