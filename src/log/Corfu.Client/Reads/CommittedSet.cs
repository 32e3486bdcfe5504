using System.Collections;

namespace Corfu.Client;

/// <summary>R11: positions known to be committed, because an append returned them or a chain's tail answered them.
/// Being committed is final, so what is here stays right over epochs; forgetting costs a question to a tail.</summary>
internal sealed class CommittedSet
{
    private const int BlockBits = 12;
    private const int MaxBlocks = 1024;

    private readonly Lock _gate = new();

    // Guarded by _gate. Blocks of neighbouring positions, the oldest one made is dropped first.
    private readonly Dictionary<long, BitArray> _blocks = [];
    private readonly Queue<long> _order = new();

    public void Add(LogPosition position)
    {
        var key = position.Offset >> BlockBits;
        lock (_gate)
        {
            if (!_blocks.TryGetValue(key, out var block))
            {
                if (_order.Count == MaxBlocks) _blocks.Remove(_order.Dequeue());
                _order.Enqueue(key);
                _blocks[key] = block = new BitArray(1 << BlockBits);
            }

            block[(int)(position.Offset & ((1 << BlockBits) - 1))] = true;
        }
    }

    public bool Contains(LogPosition position)
    {
        lock (_gate)
            return _blocks.TryGetValue(position.Offset >> BlockBits, out var block)
                && block[(int)(position.Offset & ((1 << BlockBits) - 1))];
    }
}
