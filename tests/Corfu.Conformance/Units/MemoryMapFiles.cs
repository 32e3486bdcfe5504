namespace Corfu.Conformance;

/// <summary>The files of a plain address map, in memory.</summary>
internal sealed class MemoryMapFiles : IMapFiles
{
    private readonly Lock _gate = new();
    private readonly SortedDictionary<string, byte[]> _files = new(StringComparer.Ordinal);

    public long Floor { get; set; }

    public IReadOnlyList<string> List()
    {
        lock (_gate) return [.. _files.Keys];
    }

    public byte[] Read(string name)
    {
        lock (_gate) return _files[name];
    }

    public ValueTask WriteAsync(string name, ReadOnlyMemory<byte> bytes)
    {
        lock (_gate) _files[name] = bytes.ToArray();
        return ValueTask.CompletedTask;
    }

    public void Rename(string from, string to)
    {
        lock (_gate)
        {
            _files[to] = _files[from];
            _files.Remove(from);
        }
    }

    public void Delete(string name)
    {
        lock (_gate) _files.Remove(name);
    }
}
