using Salus.Store.Files;

namespace Salus.Region.Tests.Body;

/// <summary>Files of a store that a power cut leaves as they are named: published or not at all.</summary>
internal sealed class MemoryFiles : IRegionFiles
{
    private ImmutableDictionary<RegionFile, byte[]> _files = ImmutableDictionary<RegionFile, byte[]>.Empty;

    public ImmutableDictionary<RegionFile, byte[]> Files
    {
        get => Volatile.Read(ref _files);
        set => Volatile.Write(ref _files, value);
    }

    /// <summary>Called before and after every change of a name, and within every file.</summary>
    public Action? Event { get; set; }

    /// <summary>Thrown by the next writes.</summary>
    public IOException? WriteError { get; set; }

    /// <summary>Thrown by the next listings.</summary>
    public Exception? ListError { get; set; }

    /// <summary>Listings that have failed.</summary>
    public int FailedListings { get; private set; }

    public IReadOnlyList<RegionFile> List()
    {
        if (ListError is not { } error) return [.. Files.Keys];
        FailedListings++;
        throw error;
    }

    public IRegionFileWriter Create(RegionFile file) => new Writer(this, file);

    public long Length(RegionFile file) => Find(file).Length;

    public ValueTask<int> ReadAsync(RegionFile file, long offset, Memory<byte> buffer)
    {
        var bytes = Find(file);
        var count = (int)Math.Clamp(bytes.Length - offset, 0, buffer.Length);
        if (count > 0) bytes.AsMemory((int)offset, count).CopyTo(buffer);
        return ValueTask.FromResult(count);
    }

    public void Delete(RegionFile file)
    {
        Event?.Invoke();
        ImmutableInterlocked.TryRemove(ref _files, file, out _);
        Event?.Invoke();
    }

    /// <summary>Turns a bit over, in a copy: snapshots of the dictionary keep the file as it was.</summary>
    public void Flip(RegionFile file, long offset)
    {
        byte[] bytes = [.. Find(file)];
        bytes[offset] ^= 1;
        Files = Files.SetItem(file, bytes);
    }

    public byte[] Find(RegionFile file) =>
        Files.TryGetValue(file, out var bytes) ? bytes : throw new FileNotFoundException($"{file}");

    private sealed class Writer(MemoryFiles files, RegionFile file) : IRegionFileWriter
    {
        private readonly MemoryStream _bytes = new();

        public void Write(ReadOnlySpan<byte> bytes)
        {
            files.Event?.Invoke();
            if (files.WriteError is { } error) throw error;
            _bytes.Write(bytes);
        }

        public ValueTask PublishAsync()
        {
            files.Event?.Invoke();
            var bytes = _bytes.ToArray();
            ImmutableInterlocked.AddOrUpdate(ref files._files, file, bytes, (_, _) => bytes);
            files.Event?.Invoke();
            return ValueTask.CompletedTask;
        }

        public void Dispose() => _bytes.Dispose();
    }
}
