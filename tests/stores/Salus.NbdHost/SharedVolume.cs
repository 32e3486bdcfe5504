namespace Salus.NbdHost;

/// <summary>A use of a volume that outlives the use, as the blocks of a real volume outlive their mounts.</summary>
/// <param name="isReadOnly">The use is a view for reading.</param>
public sealed class SharedVolume(IVolume volume, bool isReadOnly = false) : IVolume
{
    public long Size => volume.Size;

    public int BlockSize => volume.BlockSize;

    public bool IsReadOnly => isReadOnly || volume.IsReadOnly;

    public ValueTask ReadAsync(
        long firstBlock, Memory<byte> into, BlockExtents? extents, CancellationToken cancellationToken) =>
        volume.ReadAsync(firstBlock, into, extents, cancellationToken);

    public ValueTask WriteAsync(long firstBlock, ReadOnlyMemory<byte> data, bool durable) =>
        volume.WriteAsync(firstBlock, data, durable);

    public ValueTask ClearAsync(long firstBlock, long blocks, bool durable) =>
        volume.ClearAsync(firstBlock, blocks, durable);

    public ValueTask FlushAsync() => volume.FlushAsync();

    public ValueTask DescribeAsync(
        long firstBlock, long blocks, int mostExtents, BlockExtents extents, CancellationToken cancellationToken) =>
        volume.DescribeAsync(firstBlock, blocks, mostExtents, extents, cancellationToken);

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;
}
