namespace Salus.Client.Tests.Support;

/// <summary>A region of one generation after the other, whose members always agree. Checks everything that a member
/// checks before it accepts a batch; a driver's mistake is a violation, which fails the test.</summary>
internal sealed class FakeRegion(FakeRegions world, int region, VolumeGeometry geometry)
{
    private RegionTree _accepted = new(geometry.PagesOf(region));

    // Committed blocks.
    private readonly Dictionary<int, byte[]> _blocks = [];

    // Accepted batches that are not committed, oldest first.
    private readonly List<SubBatch> _above = [];
    private CheckpointName _checkpoint;

    // Committed batches since the beginning.
    private List<SubBatch> _history = [];

    public int Number => region;

    public long Run { get; set; }

    public BatchName Committed { get; private set; }

    public Hash128 CommittedRoot { get; private set; }

    public BatchName Last => _above is [.., var last] ? last.Header.Name : Committed;

    public Hash128 Root => _accepted.Root;

    public IReadOnlyList<SubBatch> Above => _above;

    /// <summary>Records of the log: indexes of openings rise.</summary>
    public long Index { get; set; }

    public Dictionary<long, (RegionTree Tree, Dictionary<int, byte[]> Blocks)> Snapshots { get; } = [];

    public bool Has(BatchName name) => _above.Any(batch => batch.Header.Name == name);

    /// <returns>Ok, Gap or Diverged.</returns>
    public Status Accept(SubBatch batch)
    {
        if (batch.Header.Number <= Last.Number)
        {
            if (!Has(batch.Header.Name) && batch.Header.Number > Committed.Number)
                world.Violated($"region {region} gets another batch {batch.Header.Name}");
            return Status.Ok;
        }

        if (batch.Participant.Previous != Last.Number) return SalusStatus.Gap;
        if (batch.FirstDamaged() >= 0) world.Violated($"batch {batch.Header.Name} has damaged blocks");
        _accepted.Apply(batch.Writes.AsSpan(), batch.Zeros.AsSpan());
        if (_accepted.Root != batch.Participant.Root)
        {
            world.Violated($"batch {batch.Header.Name} has root {batch.Participant.Root}, not {_accepted.Root}");
            return SalusStatus.Diverged;
        }

        // The payload is a slice of the sender's buffer.
        _above.Add(batch with { Payload = batch.Payload.ToArray() });
        Index++;
        return Status.Ok;
    }

    public void CommitOldest()
    {
        var batch = _above[0];
        _above.RemoveAt(0);
        _accepted.Settle();
        for (var i = 0; i < batch.Writes.Length; i++) _blocks[batch.Writes[i].Block] = batch.DataOf(i).ToArray();
        foreach (var zero in batch.Zeros)
        {
            for (var block = zero.First; block < zero.End; block++) _blocks.Remove(block);
        }

        (Committed, CommittedRoot) = (batch.Header.Name, batch.Participant.Root);
        _history.Add(batch);
        if (batch.Header.IsMarker) Cut();
    }

    public IEnumerable<RegionBatch> History => _history.Select(static batch =>
        new RegionBatch(batch.Header.Name, batch.Participant.Root, batch.Header.VolumeRoot));

    /// <summary>Returns to the batches up to that number; nothing tells of the others any more.</summary>
    /// <returns>The batches that are gone.</returns>
    public IReadOnlyList<SubBatch> ReturnTo(long number)
    {
        var (kept, lost) = (_history.Where(batch => batch.Header.Number <= number).ToList(),
            _history.Where(batch => batch.Header.Number > number).ToList());
        (_accepted, _history, Committed, CommittedRoot) = (new(geometry.PagesOf(region)), [], default, default);
        _blocks.Clear();
        _above.Clear();
        Restore(kept);
        return lost;
    }

    /// <summary>Commits batches that are known to follow.</summary>
    public void Restore(IReadOnlyList<SubBatch> batches)
    {
        foreach (var batch in batches)
        {
            _accepted.Apply(batch.Writes.AsSpan(), batch.Zeros.AsSpan());
            _above.Add(batch);
            CommitOldest();
        }
    }

    public void UndoNewest()
    {
        _above.RemoveAt(_above.Count - 1);
        _accepted.Undo();
    }

    /// <summary>Writes a checkpoint of what is committed.</summary>
    public void Cut()
    {
        if (Committed.IsNone || _checkpoint.Batch == Committed.Number) return;
        _checkpoint = new CheckpointName(_checkpoint.Number + 1, ++Index, Committed.Run, Committed.Number,
            CommittedRoot, Hash128.Of([1, 2, 3], Index));
        var copy = new RegionTree(geometry.PagesOf(region));
        copy.Apply([.. _blocks.OrderBy(static block => block.Key)
            .Select(static block => new BlockWrite(block.Key, TreeHash.OfBlock(block.Value)))], []);
        Snapshots[_checkpoint.Number] = (copy, new Dictionary<int, byte[]>(_blocks));
        world.Publish(region, _checkpoint);
    }

    public ImmutableArray<ReadOnlyMemory<byte>> Read(int first, int count, long snapshot)
    {
        var blocks = snapshot == 0 ? _blocks : Snapshots[snapshot].Blocks;
        return [.. Enumerable.Range(first, count).Select(block =>
            new ReadOnlyMemory<byte>(blocks.TryGetValue(block, out var data) ? (byte[])data.Clone() : []))];
    }

    public RegionTree TreeOf(long snapshot) => snapshot == 0 ? _accepted : Snapshots[snapshot].Tree;
}
