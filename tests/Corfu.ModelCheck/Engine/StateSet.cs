namespace Corfu.ModelCheck.Engine;

/// <summary>
/// The states seen, each as 128 bits of hash: two of ten million collide with a probability below 10^-24. Each
/// remembers the state it was first reached from and by which of its moves.
/// </summary>
internal sealed class StateSet
{
    private UInt128[] _keys = new UInt128[1 << 16];
    private int[] _numbers = new int[1 << 16];
    private int[] _parents = new int[1 << 15];
    private ushort[] _moves = new ushort[1 << 15];

    public int Count { get; private set; }

    public bool Add(ReadOnlySpan<int> state, int parent, int move)
    {
        var key = Hash(state);
        if (2 * Count >= _keys.Length) Grow();
        ref var slot = ref Find(key);
        if (slot != 0) return false;
        if (Count == _parents.Length)
        {
            Array.Resize(ref _parents, 2 * Count);
            Array.Resize(ref _moves, 2 * Count);
        }

        _parents[Count] = parent;
        _moves[Count] = checked((ushort)move);
        slot = ++Count;
        return true;
    }

    /// <summary>Moves from the first state to this one.</summary>
    public IReadOnlyList<int> PathTo(int number)
    {
        var path = new List<int>();
        for (var at = number; _parents[at] >= 0; at = _parents[at]) path.Add(_moves[at]);
        path.Reverse();
        return path;
    }

    private ref int Find(UInt128 key)
    {
        var mask = _keys.Length - 1;
        for (var i = (int)(ulong)key & mask; ; i = (i + 1) & mask)
        {
            if (_numbers[i] == 0) _keys[i] = key;
            if (_numbers[i] == 0 || _keys[i] == key) return ref _numbers[i];
        }
    }

    private void Grow()
    {
        var (keys, numbers) = (_keys, _numbers);
        _keys = new UInt128[2 * keys.Length];
        _numbers = new int[_keys.Length];
        for (var i = 0; i < keys.Length; i++)
        {
            if (numbers[i] != 0) Find(keys[i]) = numbers[i];
        }
    }

    private static UInt128 Hash(ReadOnlySpan<int> state)
    {
        ulong a = 0x9E3779B97F4A7C15, b = 0xC2B2AE3D27D4EB4F;
        foreach (var word in state)
        {
            a = Mix(a ^ (uint)word);
            b = Mix(b + ((ulong)(uint)word << 17) + 0x165667B19E3779F9);
        }

        return new UInt128(a, b);
    }

    private static ulong Mix(ulong x)
    {
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
        x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
        return x ^ (x >> 31);
    }
}
