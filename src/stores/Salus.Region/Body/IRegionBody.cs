namespace Salus.Region.Body;

/// <summary>The blocks and the hash tree of one region at one member. Batches are accepted in the order of the region's
/// log, and become readable when they are committed.</summary>
/// <remarks>Calls come one after another, in the turns of the region; a load is waited for before the next one. The
/// other tasks go on beside later calls: what they need of the memory they take before their first wait.</remarks>
public interface IRegionBody : IAsyncDisposable
{
    /// <summary>The region's root behind all accepted batches.</summary>
    Hash128 Root { get; }

    /// <summary>Bytes of committed blocks that are in no file yet.</summary>
    long Unwritten { get; }

    /// <summary>Brings the parts of the tree that the batch changes.</summary>
    /// <exception cref="IOException">They cannot be read: the member takes no batch of these blocks.</exception>
    ValueTask LoadAsync(SubBatch batch, CancellationToken cancellationToken);

    /// <summary>Makes the changes in the tree. The batch's memory is the body's from now on.</summary>
    /// <returns>False: the root is not the header's, and nothing has changed.</returns>
    bool Accept(SubBatch batch);

    /// <summary>Takes back the newest batch that is accepted and not committed (S24).</summary>
    void Undo();

    /// <summary>The oldest batch that is accepted and not committed becomes readable.</summary>
    void Commit(SubBatch batch);

    /// <summary>Reads blocks as of the last commit, verified.</summary>
    /// <param name="snapshot">A kept checkpoint; 0: the last commit.</param>
    ValueTask<RegionBlocks> ReadAsync(int first, int count, long snapshot, CancellationToken cancellationToken);

    /// <summary>Reads the tree, all accepted batches included: the hashes of all pages or the leaves of some.</summary>
    /// <param name="snapshot">As of <see cref="ReadAsync"/>.</param>
    ValueTask<RegionHashes> ReadTreeAsync(
        ImmutableArray<int> pages, long snapshot, CancellationToken cancellationToken);

    /// <summary>Freezes what is committed and writes it to a file, as all members do (S17). One at a time, in the
    /// order of the indexes (S18).</summary>
    /// <param name="index">The record's.</param>
    /// <param name="chain">The chain up to it.</param>
    /// <param name="batch">The region's last batch below it.</param>
    /// <returns>The file is durable.</returns>
    Task<CheckpointName> CutAsync(CutRecord cut, long index, Hash128 chain, BatchName batch);

    /// <summary>Makes one file of several. As of <see cref="CutAsync"/>.</summary>
    Task<CheckpointName> CompactAsync(CompactRecord compact, long index, Hash128 chain, BatchName batch);
}

/// <summary>Blocks of a region.</summary>
/// <param name="Status">Ok; Corrupt: the member's own blocks are damaged; NotFound: no such checkpoint.</param>
/// <param name="Blocks">The data of each; no bytes: it is empty.</param>
public readonly record struct RegionBlocks(Status Status, ImmutableArray<ReadOnlyMemory<byte>> Blocks);

/// <summary>A part of a region's tree.</summary>
/// <param name="Status">As of <see cref="RegionBlocks"/>.</param>
/// <param name="PageHashes">All pages, where none was named.</param>
/// <param name="Pages">The leaves of the pages that were named, without the empty ones at their ends.</param>
public readonly record struct RegionHashes(
    Status Status, ImmutableArray<Hash128> PageHashes, ImmutableArray<ImmutableArray<Hash128>> Pages);
