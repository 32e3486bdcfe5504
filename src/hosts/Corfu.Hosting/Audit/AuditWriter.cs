namespace Corfu.Hosting;

/// <summary>The audit files of one node on disk: the current one, and the full ones before it. One thread at a
/// time.</summary>
/// <param name="maxFileBytes">A full file is put aside.</param>
internal sealed class AuditWriter(string folder, long maxFileBytes = AuditWriter.MaxFileBytes) : IDisposable
{
    public const long MaxFileBytes = 16 << 20;
    public const int MaxFiles = 16;

    private const UnixFileMode OwnerOnly = UnixFileMode.UserRead | UnixFileMode.UserWrite;

    private readonly string _path = Path.Combine(folder, AuditFiles.CurrentName);
    private FileStream? _file;
    private string _last = AuditFiles.Begin;
    private long _cut;

    /// <summary>Bytes of an unfinished line that a crash had left, and that were cut since the call before.</summary>
    public long TakeCut()
    {
        var cut = _cut;
        _cut = 0;
        return cut;
    }

    /// <exception cref="IOException">The file cannot be written.</exception>
    public void Append(AuditEntry entry)
    {
        _file ??= Open();
        var line = (entry with { Prev = _last }).Encode();
        if (_file.Position > 0 && _file.Position + line.Length + 1 > maxFileBytes) PutAside();
        var began = _file!.Position;
        try
        {
            _file.Write([.. line, (byte)'\n']);
        }
        catch (IOException)
        {
            // The chain goes on behind the last whole line.
            TryCutTo(began);
            throw;
        }

        _last = AuditEntry.HashOf(line);
    }

    /// <exception cref="IOException">The disk refuses.</exception>
    public void Sync()
    {
        if (_file is not null) DurableFile.Sync(_file.SafeFileHandle, _path);
    }

    public void Dispose()
    {
        var file = _file;
        _file = null;
        file?.Dispose();
    }

    private FileStream Open()
    {
        var options = new FileStreamOptions
        {
            Mode = FileMode.OpenOrCreate,
            Access = FileAccess.ReadWrite,
            Share = FileShare.Read,
            // A buffer would keep a line that the disk refused, and write it again when the file is closed.
            BufferSize = 0,
        };
        if (!OperatingSystem.IsWindows()) options.UnixCreateMode = OwnerOnly;
        var file = new FileStream(_path, options);
        try
        {
            var end = EndOfLines(file);
            if (end < file.Length)
            {
                _cut += file.Length - end;
                file.SetLength(end);
            }

            file.Position = end;
            _last = LastHashOf(end == 0 ? AuditFiles.In(folder).Where(other => other != _path) : [_path]);
            return file;
        }
        catch
        {
            file.Dispose();
            throw;
        }
    }

    // A crash may leave a part of the last line.
    private static long EndOfLines(FileStream file)
    {
        for (var end = file.Length; end > 0; end--)
        {
            file.Position = end - 1;
            if (file.ReadByte() == '\n') return end;
        }

        return 0;
    }

    private static string LastHashOf(IEnumerable<string> files) =>
        files.LastOrDefault() is { } newest ? AuditFiles.Verify([newest]).LastHash : AuditFiles.Begin;

    private void PutAside()
    {
        Sync();
        Dispose();
        var full = AuditFiles.In(folder).Where(file => file != _path).ToList();
        var next = full.Count == 0 ? 1 : AuditFiles.NumberOf(full[^1])!.Value + 1;
        File.Move(_path, Path.Combine(folder, AuditFiles.NameOf(next)));
        foreach (var oldest in full.Take(full.Count + 2 - MaxFiles)) File.Delete(oldest);
        DurableFile.SyncDirectory(folder);
        _file = Open();
    }

    private void TryCutTo(long length)
    {
        try
        {
            _file!.SetLength(length);
        }
        catch (IOException)
        {
            // The next opening cuts the unfinished line.
        }

        Dispose();
    }
}
