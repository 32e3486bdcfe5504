namespace Corfu.Unit;

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
