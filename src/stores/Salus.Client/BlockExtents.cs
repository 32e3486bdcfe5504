namespace Salus;

/// <summary>A run of blocks that are all empty, or all not.</summary>
public readonly record struct BlockExtent(long Blocks, bool IsEmpty);

/// <summary>Runs of blocks, one behind the other. Consecutive runs differ. One thread at a time.</summary>
public sealed class BlockExtents
{
    private readonly List<BlockExtent> _extents = [];

    public int Count => _extents.Count;

    public BlockExtent this[int index] => _extents[index];

    /// <param name="blocks">Zero adds nothing.</param>
    public void Add(long blocks, bool isEmpty)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(blocks);
        if (blocks == 0) return;
        if (_extents is [.., var last] && last.IsEmpty == isEmpty)
            _extents[^1] = last with { Blocks = checked(last.Blocks + blocks) };
        else
            _extents.Add(new BlockExtent(blocks, isEmpty));
    }

    public void Clear() => _extents.Clear();
}
