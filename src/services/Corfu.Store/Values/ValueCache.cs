using System.Diagnostics.CodeAnalysis;
using Corfu.Store.State;

namespace Corfu.Store.Values;

/// <summary>Values that were read, the least recently used going first.</summary>
// K6: by place, whose bytes never change. By key the cache goes stale.
internal sealed class ValueCache(long mostBytes)
{
    // Bytes of an entry besides its value.
    private const int Overhead = 128;

    private readonly Lock _gate = new();

    // Guarded by _gate.
    private readonly Dictionary<ValuePlace, LinkedListNode<(ValuePlace Place, ReadOnlyMemory<byte> Value)>> _known = [];
    private readonly LinkedList<(ValuePlace Place, ReadOnlyMemory<byte> Value)> _used = [];
    private long _bytes;

    public bool TryGet(ValuePlace place, [MaybeNullWhen(false)] out ReadOnlyMemory<byte> value)
    {
        lock (_gate)
        {
            if (!_known.TryGetValue(KeyOf(place), out var node))
            {
                value = default;
                return false;
            }

            _used.Remove(node);
            _used.AddFirst(node);
            value = node.Value.Value;
            return true;
        }
    }

    /// <param name="value">Bytes of its own, no part of an entry's.</param>
    public void Add(ValuePlace place, ReadOnlyMemory<byte> value)
    {
        var size = Overhead + value.Length;
        if (size > mostBytes) return;
        lock (_gate)
        {
            if (_known.ContainsKey(KeyOf(place))) return;
            _known.Add(KeyOf(place), _used.AddFirst((place, value)));
            _bytes += size;
            while (_bytes > mostBytes)
            {
                var last = _used.Last!.Value;
                _used.RemoveLast();
                _known.Remove(KeyOf(last.Place));
                _bytes -= Overhead + last.Value.Length;
            }
        }
    }

    private static ValuePlace KeyOf(ValuePlace place) =>
        Planted.Is("cache-by-item") ? place with { Position = 0, Record = 0 } : place;
}
