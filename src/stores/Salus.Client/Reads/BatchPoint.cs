namespace Salus.Reads;

/// <summary>The state of a region that a question is about: behind its last committed batch, or a snapshot.</summary>
/// <param name="Last">The number of that batch; 0: none.</param>
/// <param name="Proof">All batches up to it are committed; null: the run began behind it.</param>
/// <param name="Snapshot">A kept checkpoint; 0: the region as it is.</param>
internal readonly record struct BatchPoint(long Last, CommitProof? Proof, long Snapshot = 0)
{
    public GetRequest Blocks(Epoch generation, RegionKey region, int first, int count) =>
        new(generation, region, first, count, Last, Proof, Snapshot);

    public ReadTreeRequest Tree(Epoch generation, RegionKey region, ImmutableArray<int> pages) =>
        new(generation, region, pages, Last, Proof, Snapshot);
}
