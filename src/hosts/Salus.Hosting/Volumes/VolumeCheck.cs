namespace Salus.Hosting;

/// <summary>Reads all that a volume holds, each block verified.</summary>
public static class VolumeCheck
{
    private const int ReadBytes = 1 << 20;
    private const int MostExtents = 1024;

    /// <summary>Reads the blocks that are not empty, one copy of each.</summary>
    /// <param name="progress">Told how many bytes of the volume are behind.</param>
    /// <exception cref="VolumeException">The volume cannot be read any further.</exception>
    public static async Task<VolumeVerdict> RunAsync(
        IVolume volume, IProgress<long>? progress = null, CancellationToken cancellationToken = default)
    {
        var (blocks, verified) = (volume.Size / volume.BlockSize, 0L);
        var damaged = ImmutableArray.CreateBuilder<long>();
        var buffer = new byte[Math.Max(ReadBytes, volume.BlockSize)];
        var extents = new BlockExtents();
        for (var block = 0L; block < blocks;)
        {
            extents.Clear();
            await volume.DescribeAsync(block, blocks - block, MostExtents, extents, cancellationToken);
            for (var i = 0; i < extents.Count; i++)
            {
                var (count, isEmpty) = extents[i];
                for (var end = block + count; block < end;)
                {
                    var most = isEmpty ? end - block : Math.Min(end - block, buffer.Length / volume.BlockSize);
                    if (!isEmpty)
                    {
                        var into = buffer.AsMemory(0, (int)most * volume.BlockSize);
                        verified += await ReadAsync(volume, block, into, damaged, cancellationToken);
                    }

                    block += most;
                    progress?.Report(block * volume.BlockSize);
                }
            }
        }

        return new VolumeVerdict(blocks, verified, damaged.DrainToImmutable());
    }

    /// <returns>The blocks that were read.</returns>
    private static async Task<long> ReadAsync(IVolume volume, long block, Memory<byte> into,
        ImmutableArray<long>.Builder damaged, CancellationToken cancellationToken)
    {
        try
        {
            await volume.ReadAsync(block, into, null, cancellationToken);
            return into.Length / volume.BlockSize;
        }
        catch (VolumeException e) when (e.Fault == VolumeFault.Unverifiable)
        {
            if (into.Length == volume.BlockSize)
            {
                damaged.Add(block);
                return 0;
            }
        }

        // Blocks are read one by one: the others of the piece are whole.
        var verified = 0L;
        for (var at = 0; at < into.Length; at += volume.BlockSize)
        {
            verified += await ReadAsync(
                volume, block + (at / volume.BlockSize), into.Slice(at, volume.BlockSize), damaged, cancellationToken);
        }

        return verified;
    }
}

/// <param name="Blocks">Blocks of the volume.</param>
/// <param name="Verified">Blocks that were read and match the volume's tree. The others are empty.</param>
/// <param name="Damaged">Blocks of which no copy matches, ascending.</param>
public sealed record VolumeVerdict(long Blocks, long Verified, ImmutableArray<long> Damaged);
