namespace Corfu.Storage;

/// <summary>The segment files of a log as one address space, as of construction. Missing segments read as
/// zeros.</summary>
public sealed class SegmentImage : ILogImage
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
