namespace Corfu.Unit;

/// <summary>The entries in a stopped unit's folder, whatever else of its log is damaged: every whole record counts,
/// also one that the unit itself would not start with. Trimmed entries are left out. The folder is not
/// changed.</summary>
public sealed class UnitSalvage : IDisposable
{
    private const int WindowSize = 4 << 20;

    private readonly FileStream? _lock;
    private readonly DirectorySegmentFiles _files;
    private readonly UnitReport _report;
    private readonly LogWindow _window;
    private readonly SortedDictionary<LogPosition, (long Address, int Length)> _entries = [];

    private UnitSalvage(FileStream? folderLock, DirectorySegmentFiles files, UnitReport report)
    {
        _lock = folderLock;
        _files = files;
        _report = report;
        _window = new LogWindow(new SegmentImage(files, report.Identity.Store.SegmentSize), WindowSize);
    }

    public UnitIdentity Identity => _report.Identity;

    /// <summary>Ascending.</summary>
    public IEnumerable<LogPosition> Positions => _entries.Keys;

    /// <exception cref="UnitFolderException">No unit's folder, or the unit is running.</exception>
    public static async ValueTask<UnitSalvage> OpenAsync(string folder)
    {
        var folderLock = UnitInspector.Hold(folder);
        var files = UnitInspector.OpenLog(folder);
        var salvage = new UnitSalvage(folderLock, files, UnitInspector.Describe(folder, files));
        await salvage.ScanAsync();
        return salvage;
    }

    public async ValueTask<LogEntry> ReadAsync(LogPosition position)
    {
        var (address, length) = _entries[position];
        return EntryCodec.Decode((await _window.GetAsync(address, length))[..length].ToArray());
    }

    public void Dispose()
    {
        _files.Dispose();
        _lock?.Dispose();
    }

    private async ValueTask ScanAsync()
    {
        var contents = new UnitContents(_report);
        var logId = RecordCodec.LogIdOf(Identity.Unit);
        var next = 0L;
        while (true)
        {
            var (address, header) = await LogScanner.FindAsync(_window, next);
            if (address < 0) break;
            next = address + IRecordLog.Alignment;
            var bytes = await _window.GetAsync(address, RecordCodec.HeaderSize + header.BodyLength);
            if (header.LogId != logId || bytes.Length < RecordCodec.HeaderSize + header.BodyLength
                || !RecordCodec.CheckedPartIntact(bytes.Span, address, header)) continue;
            var body = bytes.Slice(RecordCodec.HeaderSize, header.BodyLength);
            var place = new RecordPlace(address + RecordCodec.HeaderSize, next);
            if (header.Kind is RecordKind.Page or RecordKind.Moved && IsWhole(body))
                _entries[header.Position] = (place.BodyAddress, header.BodyLength);
            contents.Visit(new LogRecord(header.Kind, header.Position, body), place);
        }

        foreach (var position in _entries.Keys.Where(contents.IsTrimmed).ToList()) _entries.Remove(position);
    }

    private static bool IsWhole(ReadOnlyMemory<byte> body)
    {
        try
        {
            return EntryCodec.Decode(body).Kind == EntryKind.Data;
        }
        catch (MalformedDataException)
        {
            return false;
        }
    }
}
