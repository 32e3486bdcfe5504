namespace Salus.Store.Files;

/// <summary>The store's port to its checkpoint files: a directory in production, a disk with faults in tests and the
/// simulator. A file appears whole or not at all, and never changes. All failures are an
/// <see cref="IOException"/>.</summary>
public interface IRegionFiles
{
    /// <summary>The published files. Rests of unpublished ones, which no writer is at, are removed.</summary>
    /// <exception cref="IOException">The folder cannot be read.</exception>
    IReadOnlyList<RegionFile> List();

    /// <summary>A file that nothing sees before it is published; one of an earlier attempt is overwritten.</summary>
    IRegionFileWriter Create(RegionFile file);

    /// <exception cref="IOException">There is no such file.</exception>
    long Length(RegionFile file);

    /// <summary>Fills the buffer, but for what lies beyond the end.</summary>
    /// <returns>Bytes read.</returns>
    /// <exception cref="IOException">There is no such file, or it cannot be read.</exception>
    ValueTask<int> ReadAsync(RegionFile file, long offset, Memory<byte> buffer);

    /// <summary>Removes a file, if it is there; durable on return.</summary>
    void Delete(RegionFile file);
}

/// <summary>Writes one file from its beginning on. Disposed unpublished, nothing of it is left.</summary>
public interface IRegionFileWriter : IDisposable
{
    /// <exception cref="IOException">Not all was written.</exception>
    void Write(ReadOnlySpan<byte> bytes);

    /// <summary>The file is there under its name, durable on return.</summary>
    ValueTask PublishAsync();
}

/// <summary>A checkpoint file of a region.</summary>
/// <param name="Number">Counts the region's files, from 1.</param>
public readonly record struct RegionFile(RegionKey Region, long Number);
