namespace Tango.Collections;

/// <summary>Reader of a tree's changes in a change feed.</summary>
public sealed partial class TangoTree<TValue>
{
    private const int Put = 1;
    private const int Erase = 2;
    private const int Replace = 6;

    /// <summary>Reads an element of <c>ChangesAsync</c>. A move tells each node of the subtree, first as gone and then
    /// at its new path; all of one transaction follow each other. A <see cref="SetAsync"/> that found no node or
    /// another version is told as well.</summary>
    /// <returns>None: it says nothing of a node.</returns>
    public static Lookup<TreeChange<TValue>> ReadChange(TangoChange<TangoTree<TValue>> change)
    {
        ArgumentNullException.ThrowIfNull(change);
        return change.Mutator?.Number switch
        {
            Put or Replace => Lookup.Of(new TreeChange<TValue>(
                change.ReadKey<string>(), Lookup.Of(change.ReadArgument<TValue>()))),
            Erase => Lookup.Of(new TreeChange<TValue>(change.ReadKey<string>(), Lookup<TValue>.None)),
            _ => Lookup<TreeChange<TValue>>.None,
        };
    }
}
