using System.Runtime.InteropServices;

namespace Corfu.ModelCheck.Engine;

/// <summary>Numbers things by their keys: equal ones get one number.</summary>
internal sealed class Interner<T>(Func<T, string> key)
{
    private readonly Dictionary<string, int> _numbers = new(StringComparer.Ordinal);
    private readonly List<T> _items = [];

    public int Count => _items.Count;

    public T this[int number] => _items[number];

    public int Number(T item)
    {
        ref var number = ref CollectionsMarshal.GetValueRefOrAddDefault(_numbers, key(item), out var known);
        if (known) return number;
        number = _items.Count;
        _items.Add(item);
        return number;
    }
}
