using System.Numerics;
using System.Runtime.InteropServices;

namespace Salus.Region.Body;

/// <summary>Changes of a region's committed batches since a cut: the newest data of each block, or that it is
/// empty.</summary>
/// <remarks>Guarded by its body's lock until it is frozen; then it does not change. A payload lives as long as one of
/// its blocks is here.</remarks>
internal sealed class Memtable(int blocks)
{
    // About what an entry takes beside its data, and an empty range.
    private const int EntryCost = 64;

    private readonly Dictionary<int, MemBlock> _data = [];

    // A bit for each changed block; one that is not in _data is empty now. Null: nothing has changed.
    private ulong[]? _changed;

    /// <summary>Memory that the batches have brought; overwritten blocks count, as their payload may still
    /// live.</summary>
    public long Bytes { get; private set; }

    public bool IsEmpty => _changed is null;

    public void Put(SubBatch batch)
    {
        if (batch.Writes.IsEmpty && batch.Zeros.IsEmpty) return;
        _changed ??= new ulong[(blocks + 63) / 64];
        foreach (var zero in batch.Zeros)
        {
            if (!Planted.Is("discard-keeps-its-leaf")) Clear(zero);
        }

        for (var i = 0; i < batch.Writes.Length; i++)
        {
            var (block, hash) = batch.Writes[i];
            _changed[block / 64] |= 1UL << (block % 64);
            _data[block] = new MemBlock(hash, batch.DataOf(i));
        }

        Bytes += batch.Payload.Length + ((long)EntryCost * (batch.Writes.Length + batch.Zeros.Length));
    }

    /// <summary>False: the block has not changed. An empty hash: the block is empty.</summary>
    public bool TryGet(int block, out MemBlock found)
    {
        found = default;
        if (_changed is null || (_changed[block / 64] & (1UL << (block % 64))) == 0) return false;
        _data.TryGetValue(block, out found);
        return true;
    }

    /// <summary>A block whose data is not what its hash says; null: there is none.</summary>
    public int? FindDamaged()
    {
        foreach (var (block, found) in _data)
        {
            if (TreeHash.OfBlock(found.Data.Span) != found.Hash) return block;
        }

        return null;
    }

    /// <summary>The changed blocks of a page, ascending.</summary>
    public IEnumerable<BlockContent> ChangesOf(int page)
    {
        if (_changed is null) yield break;
        var end = Math.Min((page + 1) * TreePage.Leaves / 64, _changed.Length);
        for (var word = page * TreePage.Leaves / 64; word < end; word++)
        {
            for (var rest = _changed[word]; rest != 0; rest &= rest - 1)
            {
                var block = (word * 64) + BitOperations.TrailingZeroCount(rest);
                var found = _data.GetValueOrDefault(block);
                yield return new BlockContent(block, found.Hash, found.Data);
            }
        }
    }

    /// <summary>Makes the leaves of a page those after these changes.</summary>
    public void Overlay(int page, Span<Hash128> leaves)
    {
        if (_changed is null) return;
        var end = Math.Min((page + 1) * TreePage.Leaves / 64, _changed.Length);
        for (var word = page * TreePage.Leaves / 64; word < end; word++)
        {
            for (var rest = _changed[word]; rest != 0; rest &= rest - 1)
            {
                var block = (word * 64) + BitOperations.TrailingZeroCount(rest);
                leaves[block % TreePage.Leaves] = _data.GetValueOrDefault(block).Hash;
            }
        }
    }

    private void Clear(in ZeroRange zero)
    {
        for (var block = zero.First; block < zero.End;)
        {
            var (word, bit) = (block / 64, block % 64);
            var count = Math.Min(zero.End - block, 64 - bit);
            var mask = (count == 64 ? ulong.MaxValue : (1UL << count) - 1) << bit;
            for (var rest = _changed![word] & mask; rest != 0; rest &= rest - 1)
                _data.Remove((word * 64) + BitOperations.TrailingZeroCount(rest));
            _changed[word] |= mask;
            block += count;
        }
    }
}

/// <param name="Hash">Empty: the block is empty.</param>
[StructLayout(LayoutKind.Auto)]
internal readonly record struct MemBlock(Hash128 Hash, ReadOnlyMemory<byte> Data);
