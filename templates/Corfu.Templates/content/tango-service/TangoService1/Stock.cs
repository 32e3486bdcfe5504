using System.Collections.Immutable;
using Tango;

namespace TangoService1;

/// <summary>How many of each item there are; never fewer than none.</summary>
[TangoObject("TangoService1/stock")]
public sealed partial class Stock : TangoObject
{
    // The state: immutable types only, changed by the Apply methods alone.
    private ImmutableDictionary<string, int> _items = ImmutableDictionary<string, int>.Empty;

    /// <summary>Adds some of an item.</summary>
    /// <exception cref="TangoRejectedException">The count is negative, or there would be too many.</exception>
    [Mutator(1, MayReject = true)]
    public partial ValueTask PutAsync([VersionKey] string item, int count,
        CancellationToken cancellationToken = default);

    // Replicas refuse alike: what decides is the state and the arguments, and nothing has changed before.
    private void ApplyPut(string item, int count)
    {
        var there = ReadCount(item);
        if (count < 0 || count > int.MaxValue - there) throw Reject($"{count} of {item} cannot be added to {there}");
        _items = _items.SetItem(item, there + count);
    }

    /// <summary>Takes some of an item and returns how many are left.</summary>
    /// <exception cref="TangoRejectedException">There are too few, or the count is negative.</exception>
    [Mutator(2, MayReject = true)]
    public partial ValueTask<int> TakeAsync([VersionKey] string item, int count,
        CancellationToken cancellationToken = default);

    private int ApplyTake(string item, int count)
    {
        var there = ReadCount(item);
        if (count < 0 || count > there) throw Reject($"{count} of {item} were asked for, there are {there}");
        _items = _items.SetItem(item, there - count);
        return there - count;
    }

    [Accessor]
    public partial ValueTask<int> CountAsync([VersionKey] string item, CancellationToken cancellationToken = default);

    private int ReadCount(string item) => _items.GetValueOrDefault(item);
}
