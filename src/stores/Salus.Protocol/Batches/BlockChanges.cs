namespace Salus.Protocol;

/// <summary>A block that a batch writes.</summary>
/// <param name="Block">Counted within the region.</param>
/// <param name="Hash">The data's; never empty.</param>
public readonly record struct BlockWrite(int Block, Hash128 Hash);

/// <summary>Blocks that a batch empties: a discard, or zeros.</summary>
/// <param name="First">Counted within the region.</param>
public readonly record struct ZeroRange(int First, int Count)
{
    public int End => First + Count;
}
