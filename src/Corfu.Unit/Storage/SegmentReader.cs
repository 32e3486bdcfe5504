namespace Corfu.Unit;

/// <summary>Reads one closed segment of a running log, record by record, and insists on finding every one of
/// them.</summary>
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
            var body = bytes.Slice(RecordCodec.HeaderSize, header.BodyLength);
            (uint, uint)? damaged = RecordCodec.CheckedPartIntact(bytes.Span, address, header)
                ? null
                : RecordCodec.Identity(bytes.Span, address);
            var end = RecordCodec.Align(address + length);
            var place = new RecordPlace(address + RecordCodec.HeaderSize, end,
                damaged is null && LogScanner.PayloadIntact(address, header, body))
            {
                Previous = previous,
                DamagedHeaders = damaged,
            };
            if (!await visit(new LogRecord(header.Kind, header.Position, body, header.CheckedLength), place))
                return false;
            if (address == contents.Last) return true;
            previous = address;
            from = end;
        }
    }
}
