namespace Corfu.Backup.Tests;

/// <summary>A folder that says what would be left of it after a power cut.</summary>
internal sealed class MemoryFolder : IBackupFolder
{
    private readonly Dictionary<string, byte[]> _files = new(StringComparer.Ordinal);
    private readonly HashSet<string> _volatile = new(StringComparer.Ordinal);

    public string Name => "memory";

    /// <summary>Asked before every append; throws what the disk would.</summary>
    public Action<string>? BeforeAppend { get; set; }

    public byte[] this[string name]
    {
        get => _files[name];
        set => _files[name] = value;
    }

    public IReadOnlyList<string> List() => [.. _files.Keys.Order(StringComparer.Ordinal)];

    public Stream Open(string name) =>
        _files.TryGetValue(name, out var bytes)
            ? new MemoryStream(bytes, false)
            : throw new FileNotFoundException("not there");

    public IBackupFileWriter Create(string name)
    {
        _files[name] = [];
        _volatile.Add(name);
        return new Writer(this, name);
    }

    /// <summary>The manifest names durable files only, or a power cut between the two would leave a broken
    /// backup.</summary>
    public void Replace(string name, ReadOnlySpan<byte> content)
    {
        foreach (var file in BackupManifest.Decode(content).AllFiles) Assert.DoesNotContain(file.Name, _volatile);
        _files[name] = content.ToArray();
    }

    public void Delete(string name)
    {
        // Files that the manifest names stay until another manifest is there.
        if (_files.TryGetValue(BackupManifest.FileName, out var manifest))
            Assert.DoesNotContain(BackupManifest.Decode(manifest).AllFiles, f => f.Name == name);
        _files.Remove(name);
    }

    public void Dispose()
    {
    }

    private sealed class Writer(MemoryFolder folder, string name) : IBackupFileWriter
    {
        private readonly MemoryStream _bytes = new();

        public void Append(ReadOnlySpan<byte> bytes)
        {
            folder.BeforeAppend?.Invoke(name);
            _bytes.Write(bytes);
            folder._files[name] = _bytes.ToArray();
            folder._volatile.Add(name);
        }

        public void Sync() => folder._volatile.Remove(name);

        public void Dispose() => _bytes.Dispose();
    }
}
