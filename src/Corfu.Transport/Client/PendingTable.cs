namespace Corfu.Transport;

/// <summary>
/// Calls by correlation: a ring indexed by the correlation's low bits, at most half full. Correlations only count up,
/// so a late answer to a cancelled call finds an empty slot or another number. Not thread-safe.
/// </summary>
internal sealed class PendingTable
{
    private PendingCall?[] _slots = new PendingCall?[1024];
    private uint _next;

    public int Count { get; private set; }

    public void Add(PendingCall call)
    {
        if ((Count + 1) * 2 > _slots.Length) Grow();
        while (_slots[Index(_next)] is not null) _next++;
        call.Correlation = _next++;
        _slots[Index(call.Correlation)] = call;
        Count++;
    }

    public PendingCall? Take(uint correlation) =>
        _slots[Index(correlation)] is { } call && call.Correlation == correlation && Take(call) ? call : null;

    public bool Take(PendingCall call)
    {
        ref var slot = ref _slots[Index(call.Correlation)];
        if (slot != call) return false;
        slot = null;
        Count--;
        return true;
    }

    /// <summary>Removes those whose deadline is at or before <paramref name="sweep"/>.</summary>
    public void TakeExpired(long sweep, List<PendingCall> into)
    {
        if (Count == 0) return;
        foreach (ref var slot in _slots.AsSpan())
        {
            if (slot is not { } call || call.Deadline > sweep) continue;
            into.Add(call);
            slot = null;
            Count--;
        }
    }

    private int Index(uint correlation) => (int)(correlation & (uint)(_slots.Length - 1));

    private void Grow()
    {
        var old = _slots;
        _slots = new PendingCall?[old.Length * 2];
        // Correlations that differ in their low bits still do with one bit more.
        foreach (var call in old)
        {
            if (call is not null) _slots[Index(call.Correlation)] = call;
        }
    }
}
