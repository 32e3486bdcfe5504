namespace Salus.Writes;

/// <summary>The changes of a batch in one region: of two requests for one block, the later one stands.</summary>
internal sealed class RegionChanges(int region, int blockSize)
{
    // Ascending, without overlaps.
    private readonly List<Change> _changes = [];

    public int Region => region;

    public int Writes { get; private set; }

    public int Zeros { get; private set; }

    /// <param name="data">Empty: the blocks become empty.</param>
    public void Add(int first, int count, ReadOnlyMemory<byte> data)
    {
        var end = first + count;
        var at = FirstBehind(first);
        if (at > 0 && _changes[at - 1].End > first)
        {
            var before = _changes[at - 1];
            _changes[at - 1] = Part(before, before.First, first);
            if (before.End > end) _changes.Insert(at, Part(before, end, before.End));
        }

        var covered = at;
        while (covered < _changes.Count && _changes[covered].End <= end) covered++;
        if (covered < _changes.Count && _changes[covered].First < end)
            _changes[covered] = Part(_changes[covered], end, _changes[covered].End);
        _changes.RemoveRange(at, covered - at);
        _changes.Insert(at, new Change(first, end, data));
    }

    /// <summary>The changes in the order of their blocks, with the data copied behind room for the head of the
    /// sub-batch: the callers' memory is used no more.</summary>
    /// <param name="participants">Regions of the batch, which its header names.</param>
    public PartDraft Copy(int participants)
    {
        Count();
        var writes = ImmutableArray.CreateBuilder<BlockWrite>(Writes);
        var zeros = ImmutableArray.CreateBuilder<ZeroRange>(Zeros);
        var room = PartDraft.RoomFor(participants, Writes, Zeros);
        var buffer = GC.AllocateUninitializedArray<byte>(room + (Writes * blockSize));
        var at = room;
        foreach (var change in _changes)
        {
            if (change.Data.IsEmpty)
            {
                if (zeros is [.., var last] && last.End == change.First)
                    zeros[^1] = new ZeroRange(last.First, last.Count + change.End - change.First);
                else
                    zeros.Add(new ZeroRange(change.First, change.End - change.First));
                continue;
            }

            change.Data.Span.CopyTo(buffer.AsSpan(at));
            for (var block = change.First; block < change.End; block++, at += blockSize)
                writes.Add(new BlockWrite(block, TreeHash.OfBlock(buffer.AsSpan(at, blockSize))));
        }

        return new PartDraft(region, blockSize, writes.ToImmutable(), zeros.ToImmutable(), buffer, room);
    }

    private void Count()
    {
        (Writes, Zeros) = (0, 0);
        foreach (var change in _changes)
        {
            if (change.Data.IsEmpty) Zeros++;
            else Writes += change.End - change.First;
        }
    }

    private int FirstBehind(int first)
    {
        var (low, high) = (0, _changes.Count);
        while (low < high)
        {
            var middle = (low + high) / 2;
            if (_changes[middle].First < first) low = middle + 1;
            else high = middle;
        }

        return low;
    }

    private Change Part(in Change change, int first, int end) => new(first, end,
        change.Data.IsEmpty
            ? default
            : change.Data.Slice((first - change.First) * blockSize, (end - first) * blockSize));

    private readonly record struct Change(int First, int End, ReadOnlyMemory<byte> Data);
}
