using Salus.Store.Files;

namespace Salus.Store.Tests;

internal sealed class MemoryRegionFiles : IRegionFiles
{
    public Dictionary<RegionFile, byte[]> Files { get; } = [];

    /// <summary>Thrown by the next listings.</summary>
    public IOException? ListError { get; set; }

    public IReadOnlyList<RegionFile> List() => ListError is { } error ? throw error : [.. Files.Keys];

    public IRegionFileWriter Create(RegionFile file) => new Writer(this, file);

    public long Length(RegionFile file) => Find(file).Length;

    public ValueTask<int> ReadAsync(RegionFile file, long offset, Memory<byte> buffer)
    {
        var bytes = Find(file);
        var count = (int)Math.Clamp(bytes.Length - offset, 0, buffer.Length);
        if (count > 0) bytes.AsMemory((int)offset, count).CopyTo(buffer);
        return ValueTask.FromResult(count);
    }

    public void Delete(RegionFile file) => Files.Remove(file);

    private byte[] Find(RegionFile file) =>
        Files.TryGetValue(file, out var bytes) ? bytes : throw new FileNotFoundException($"{file}");

    private sealed class Writer(MemoryRegionFiles files, RegionFile file) : IRegionFileWriter
    {
        private readonly MemoryStream _bytes = new();

        public void Write(ReadOnlySpan<byte> bytes) => _bytes.Write(bytes);

        public ValueTask PublishAsync()
        {
            files.Files[file] = _bytes.ToArray();
            return ValueTask.CompletedTask;
        }

        public void Dispose() => _bytes.Dispose();
    }
}
