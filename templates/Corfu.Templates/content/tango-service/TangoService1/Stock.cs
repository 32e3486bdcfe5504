using System.Collections.Immutable;
using Tango;

namespace TangoService1;

/// <summary>How many of each item there are; never fewer than none.</summary>
[TangoObject("TangoService1/stock")]
public sealed partial class Stock : TangoObject
{
    // The state: immutable types only, changed by the Apply methods alone.
    private ImmutableDictionary<string, int> _items = ImmutableDictionary<string, int>.Empty;

    [Mutator(1)]
    public partial ValueTask PutAsync([VersionKey] string item, int count,
        CancellationToken cancellationToken = default);

    private void ApplyPut(string item, int count) => _items = _items.SetItem(item, ReadCount(item) + count);

    /// <summary>Takes some of an item and returns how many are left.</summary>
    /// <exception cref="TangoRejectedException">There are too few.</exception>
    [Mutator(2, MayReject = true)]
    public partial ValueTask<int> TakeAsync([VersionKey] string item, int count,
        CancellationToken cancellationToken = default);

    private int ApplyTake(string item, int count)
    {
        var left = ReadCount(item) - count;
        if (left < 0) throw Reject($"{count} of {item} were asked for, there are {ReadCount(item)}");
        _items = _items.SetItem(item, left);
        return left;
    }

    [Accessor]
    public partial ValueTask<int> CountAsync([VersionKey] string item, CancellationToken cancellationToken = default);

    private int ReadCount(string item) => _items.GetValueOrDefault(item);
}
