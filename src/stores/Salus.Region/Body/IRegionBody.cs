namespace Salus.Region.Body;

/// <summary>The blocks and the hash tree of one region at one member. Batches are accepted in the order of the region's
/// log, and become readable when they are committed.</summary>
/// <remarks>Calls come one after another, in the turns of the region; a load is waited for, and its batch accepted or
/// given up, before the next load. The other tasks go on beside later calls: what they need of the memory they take
/// before their first wait.</remarks>
public interface IRegionBody : IAsyncDisposable
{
    /// <summary>Blocks of the region; a read beyond is refused by an exception.</summary>
    int Blocks { get; }

    /// <summary>Pages of the region's tree.</summary>
    int Pages { get; }

    /// <summary>The region's root behind all accepted batches.</summary>
    Hash128 Root { get; }

    /// <summary>The region's root behind all committed batches.</summary>
    Hash128 CommittedRoot { get; }

    /// <summary>Bytes of committed blocks that are in no file yet.</summary>
    long Unwritten { get; }

    /// <summary>The committed blocks are a file's worth, or more than the region's share of the node's
    /// memory.</summary>
    bool IsCutDue { get; }

    /// <summary>The number of the newest file that was begun; the next one is above. 0: none.</summary>
    long NewestFile { get; }

    /// <summary>Checkpoints that this body has made durable and not seen released, ascending.</summary>
    ImmutableArray<CheckpointName> Written { get; }

    /// <summary>Why the file that is being written fails, for people; it is tried again. Null: it does not.</summary>
    string? FileFault { get; }

    /// <summary>Files that a kept checkpoint needs and the store does not have, ascending.</summary>
    ImmutableArray<long> Missing { get; }

    /// <summary>Brings the parts of the tree that the batch changes.</summary>
    /// <exception cref="IOException">Index pages cannot be read: the member takes no batch of these blocks.</exception>
    ValueTask LoadAsync(SubBatch batch, CancellationToken cancellationToken);

    /// <summary>Makes the changes in the tree. The batch's memory is the body's from now on.</summary>
    /// <returns>False: the root is not the header's, or the blocks are none of this region's. Nothing has
    /// changed.</returns>
    bool Accept(SubBatch batch);

    /// <summary>Takes back the newest batch that is accepted and not committed (S24).</summary>
    void Undo();

    /// <summary>The oldest batch that is accepted and not committed becomes readable.</summary>
    void Commit(SubBatch batch);

    /// <summary>Reads blocks as of the last commit, verified.</summary>
    /// <param name="snapshot">The number of a kept checkpoint; 0: the last commit.</param>
    ValueTask<RegionBlocks> ReadAsync(int first, int count, long snapshot, CancellationToken cancellationToken);

    /// <summary>Reads the tree as of the last commit: the hashes of all pages, and the leaves of some.</summary>
    /// <param name="snapshot">As of <see cref="ReadAsync"/>.</param>
    ValueTask<RegionHashes> ReadTreeAsync(
        ImmutableArray<int> pages, long snapshot, CancellationToken cancellationToken);

    /// <summary>Freezes what is committed and writes it to a file, as all members do (S17). One at a time, in the
    /// order of the indexes (S18). Called when all batches below the index are committed or void, before a later one is
    /// committed. A failed write is tried again.</summary>
    /// <param name="index">The record's.</param>
    /// <param name="chain">The chain up to it.</param>
    /// <param name="batch">The region's last batch below it.</param>
    /// <returns>The file is durable. Cancelled: the body was closed before.</returns>
    Task<CheckpointName> CutAsync(CutRecord cut, long index, Hash128 chain, BatchName batch);

    /// <summary>A cut that also moves what is alive in some files, so that they are no longer needed. As of
    /// <see cref="CutAsync"/>.</summary>
    Task<CheckpointName> CompactAsync(CompactRecord compact, long index, Hash128 chain, BatchName batch);

    /// <summary>Files that a compaction should take; none: it is not worth while.</summary>
    ImmutableArray<long> ProposeInputs();

    /// <summary>Deletes the files that no kept checkpoint needs. The caller has a certificate of all members over the
    /// release (S19).</summary>
    /// <param name="kept">All checkpoints that the log of the cluster keeps of the region.</param>
    /// <returns>The files that were deleted.</returns>
    Task<ImmutableArray<long>> ReleaseAsync(ImmutableArray<CheckpointName> kept);
}

/// <summary>Blocks of a region.</summary>
/// <param name="Status">Ok; Corrupt: the member's own blocks are damaged; NotFound: no such checkpoint.</param>
/// <param name="Blocks">The data of each; no bytes: it is empty.</param>
public readonly record struct RegionBlocks(Status Status, ImmutableArray<ReadOnlyMemory<byte>> Blocks);

/// <summary>A part of a region's tree, of one moment.</summary>
/// <param name="Status">As of <see cref="RegionBlocks"/>.</param>
/// <param name="PageHashes">All pages.</param>
/// <param name="Pages">The leaves of the pages that were named, without the empty ones at their ends.</param>
public readonly record struct RegionHashes(
    Status Status, ImmutableArray<Hash128> PageHashes, ImmutableArray<ImmutableArray<Hash128>> Pages)
{
    /// <summary>The last batch that is in it.</summary>
    public BatchName Batch { get; init; }
}
