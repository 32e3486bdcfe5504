namespace Corfu.Storage;

/// <summary>Reads one closed segment of a running log, record by record; every record must be there.</summary>
public sealed class SegmentReader(SegmentImage image, uint logId, ScanRules rules)
{
    private const int WindowSize = 1 << 20;

    private readonly LogWindow _window = new(image, WindowSize);

    /// <param name="before">Address of the record before the segment's first.</param>
    /// <param name="visit">False stops the reading.</param>
    /// <returns>False: a record is not there, or the visitor has stopped.</returns>
    public async ValueTask<bool> ReadAsync(long before, long first, long last,
        Func<FramedRecord, FramedPlace, ValueTask<bool>> visit)
    {
        var previous = before;
        var from = first;
        while (true)
        {
            var (address, header) = await RecordScanner.FindAsync(_window, from);
            if (address < 0 || header.Previous != previous || header.LogId != logId) return false;
            var length = RecordFraming.HeaderSize + header.BodyLength;
            var bytes = await _window.GetAsync(address, length);
            if (bytes.Length < length) return false;
            var (record, place) = RecordScanner.Decode(bytes, address, header, rules);
            if (!await visit(record, place)) return false;
            if (address == last) return true;
            previous = address;
            from = place.Lsn;
        }
    }
}
