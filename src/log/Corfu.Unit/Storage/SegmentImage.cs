namespace Corfu.Unit;

/// <summary>The segment files of a log as one address space, as of construction. Missing segments read as
/// zeros.</summary>
internal sealed class SegmentImage : ILogImage
{
    private readonly ISegmentFiles _files;
    private readonly int _segmentSize;
    private readonly HashSet<int> _existing = [];

    public SegmentImage(ISegmentFiles files, int segmentSize)
    {
        _files = files;
        _segmentSize = segmentSize;
        var segments = files.List();
        if (segments.Count == 0) return;
        _existing.UnionWith(segments);
        Begin = segments[0] * (long)segmentSize;
        End = (segments[^1] * (long)segmentSize) + files.Length(segments[^1]);
    }

    public long Begin { get; }

    public long End { get; }

    public long PartSize => _segmentSize;

    public long SkipMissing(long address)
    {
        var segment = (int)(address / _segmentSize);
        if (_existing.Contains(segment)) return address;
        while (!_existing.Contains(segment) && segment * (long)_segmentSize < End) segment++;
        return segment * (long)_segmentSize;
    }

    public ValueTask ReadAsync(long address, Memory<byte> buffer)
    {
        var rest = buffer.Span;
        while (!rest.IsEmpty)
        {
            var offset = address % _segmentSize;
            var part = (int)Math.Min(rest.Length, _segmentSize - offset);
            _files.Read((int)(address / _segmentSize), offset, rest[..part]);
            rest = rest[part..];
            address += part;
        }

        return ValueTask.CompletedTask;
    }
}

/// <summary>Reads one closed segment of a running log, record by record; every record must be there.</summary>
internal sealed class SegmentReader(SegmentImage image, uint logId)
{
    private const int WindowSize = 1 << 20;

    private readonly LogWindow _window = new(image, WindowSize);

    public async ValueTask<bool> ReadAsync(SegmentContents contents,
        Func<LogRecord, RecordPlace, ValueTask<bool>> visit)
    {
        var previous = contents.Before;
        var from = contents.First;
        while (true)
        {
            var (address, header) = await LogScanner.FindAsync(_window, from);
            if (address < 0 || header.Previous != previous || header.LogId != logId) return false;
            var length = RecordCodec.HeaderSize + header.BodyLength;
            var bytes = await _window.GetAsync(address, length);
            if (bytes.Length < length) return false;
            var (record, place) = LogScanner.Decode(bytes, address, header);
            if (!await visit(record, place)) return false;
            if (address == contents.Last) return true;
            previous = address;
            from = place.Lsn;
        }
    }
}
