namespace Salus;

/// <summary>
/// A mounted volume: blocks of one size. Writes take their places in the order in which they are called, and after
/// any crash the volume holds a prefix of them. A read returns what the writes called before it leave; one that is
/// called while the read waits may show too. Any thread, and calls may be under way together. Disposal ends the use: it
/// waits for what was called, makes it durable where that is still possible, and lets another process mount the
/// volume.
/// </summary>
/// <remarks>A failed call throws <see cref="VolumeException"/>, and one beyond the volume's end
/// <see cref="ArgumentOutOfRangeException"/>. The blocks of a failed write hold their old or their new content; the old
/// one after <see cref="VolumeFault.OutOfSpace"/>. No call waits longer than <see cref="SalusClientOptions.Patience"/>
/// for stores.</remarks>
public interface IVolume : IAsyncDisposable
{
    /// <summary>Bytes; a multiple of <see cref="BlockSize"/>.</summary>
    long Size { get; }

    /// <summary>Bytes of a block; a power of two.</summary>
    int BlockSize { get; }

    /// <summary>Writes are refused with <see cref="VolumeFault.ReadOnly"/>.</summary>
    bool IsReadOnly { get; }

    /// <summary>Reads whole blocks, verified; empty blocks are zeros. Nothing in <paramref name="into"/> is to be used
    /// before the task has succeeded.</summary>
    /// <param name="into">Filled whole: a multiple of the block size. The volume touches the memory until the task
    /// has ended, cancelled or not, and not afterwards.</param>
    /// <param name="extents">Gets the runs of empty and of other blocks, if the caller wants them; touched as long as
    /// <paramref name="into"/>.</param>
    ValueTask ReadAsync(long firstBlock, Memory<byte> into, BlockExtents? extents, CancellationToken cancellationToken);

    /// <summary>Writes whole blocks. A write up to the volume's limit of atomic writes is there whole or not at
    /// all.</summary>
    /// <param name="data">A multiple of the block size, unchanged until the task has ended.</param>
    /// <param name="durable">The task ends when the write is durable. Otherwise it ends as the volume acknowledges:
    /// when the write is durable, or when it has its place.</param>
    /// <returns>Not to be cancelled: the write has its place.</returns>
    ValueTask WriteAsync(long firstBlock, ReadOnlyMemory<byte> data, bool durable);

    /// <summary>Makes blocks empty: they read as zeros and take no space. A write like others.</summary>
    /// <inheritdoc cref="WriteAsync"/>
    ValueTask ClearAsync(long firstBlock, long blocks, bool durable);

    /// <summary>Ends when all writes called before, by any caller, are durable.</summary>
    ValueTask FlushAsync();

    /// <summary>Tells which blocks are empty, from the beginning of a range on, at least of its first block.</summary>
    /// <param name="mostExtents">Enough: the rest of the range may be left out.</param>
    ValueTask DescribeAsync(
        long firstBlock, long blocks, int mostExtents, BlockExtents extents, CancellationToken cancellationToken);
}
