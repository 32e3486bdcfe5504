using Tango;

namespace Corfu.Orleans.Reminders;

/// <summary>A reminder. Times are ticks, the start in UTC.</summary>
/// <param name="Hash">The grain's place on Orleans' ring.</param>
[MessagePackObject]
internal sealed record ReminderRow(
    [property: Key(0)] uint Hash,
    [property: Key(1)] string Grain,
    [property: Key(2)] string Name,
    [property: Key(3)] long StartTicks,
    [property: Key(4)] long PeriodTicks,
    [property: Key(5)] Guid Etag);

/// <summary>The reminders of a service, in the order of the ring, so that a silo's range is found without looking at
/// the others.</summary>
/// <remarks>Invariant: <c>_rows</c> is sorted by hash, grain and name, which together are unique.</remarks>
[TangoObject("corfu.orleans.reminders")]
internal sealed partial class ReminderObject : TangoObject
{
    private ImmutableList<ReminderRow> _rows = [];

    /// <summary>Adds or replaces.</summary>
    [Mutator(1)]
    public partial ValueTask PutAsync(ReminderRow row, CancellationToken cancellationToken = default);

    /// <summary>False: there is no such reminder, or it was replaced since.</summary>
    [Mutator(2)]
    public partial ValueTask<bool> RemoveAsync(uint hash, string grain, string name, Guid etag,
        CancellationToken cancellationToken = default);

    [Mutator(3)]
    public partial ValueTask ClearAsync(CancellationToken cancellationToken = default);

    [Accessor]
    public partial ValueTask<ReminderRow?> FindAsync(uint hash, string grain, string name,
        CancellationToken cancellationToken = default);

    [Accessor]
    public partial ValueTask<ImmutableArray<ReminderRow>> OfGrainAsync(uint hash, string grain,
        CancellationToken cancellationToken = default);

    /// <summary>Reminders with a hash in (begin, end] on the ring. If begin is not below end the range wraps; if they
    /// are equal it is the whole ring.</summary>
    [Accessor]
    public partial ValueTask<ImmutableArray<ReminderRow>> InRangeAsync(uint begin, uint end,
        CancellationToken cancellationToken = default);

    private void ApplyPut(ReminderRow row)
    {
        var at = _rows.BinarySearch(row, RingOrder.Instance);
        _rows = at >= 0 ? _rows.SetItem(at, row) : _rows.Insert(~at, row);
    }

    private bool ApplyRemove(uint hash, string grain, string name, Guid etag)
    {
        var at = IndexOf(hash, grain, name);
        if (at < 0 || _rows[at].Etag != etag) return false;
        _rows = _rows.RemoveAt(at);
        return true;
    }

    private void ApplyClear() => _rows = _rows.Clear();

    private ReminderRow? ReadFind(uint hash, string grain, string name)
    {
        var at = IndexOf(hash, grain, name);
        return at < 0 ? null : _rows[at];
    }

    private ImmutableArray<ReminderRow> ReadOfGrain(uint hash, string grain)
    {
        // No name is before the empty one.
        var first = IndexOf(hash, grain, "");
        if (first < 0) first = ~first;
        var end = first;
        while (end < _rows.Count && _rows[end].Hash == hash && _rows[end].Grain == grain) end++;
        return Slice(first, end);
    }

    private ImmutableArray<ReminderRow> ReadInRange(uint begin, uint end)
    {
        var afterBegin = CountUpTo(begin);
        var afterEnd = CountUpTo(end);
        return begin < end
            ? Slice(afterBegin, afterEnd)
            : [.. Slice(afterBegin, _rows.Count), .. Slice(0, afterEnd)];
    }

    /// <summary>How many have a hash of at most that.</summary>
    private int CountUpTo(uint hash)
    {
        var (low, high) = (0, _rows.Count);
        while (low < high)
        {
            var middle = (low + high) / 2;
            if (_rows[middle].Hash <= hash) low = middle + 1;
            else high = middle;
        }

        return low;
    }

    private ImmutableArray<ReminderRow> Slice(int first, int end)
    {
        var rows = ImmutableArray.CreateBuilder<ReminderRow>(end - first);
        for (var at = first; at < end; at++) rows.Add(_rows[at]);
        return rows.MoveToImmutable();
    }

    private int IndexOf(uint hash, string grain, string name) =>
        _rows.BinarySearch(new ReminderRow(hash, grain, name, 0, 0, Guid.Empty), RingOrder.Instance);
}

internal sealed class RingOrder : IComparer<ReminderRow>
{
    public static RingOrder Instance { get; } = new();

    public int Compare(ReminderRow? left, ReminderRow? right)
    {
        var byHash = left!.Hash.CompareTo(right!.Hash);
        if (byHash != 0) return byHash;
        var byGrain = string.CompareOrdinal(left.Grain, right.Grain);
        return byGrain != 0 ? byGrain : string.CompareOrdinal(left.Name, right.Name);
    }
}
