using Tango.Ledgers.Records;

namespace Tango.Ledgers.Reading;

/// <summary>Records that were played last: a follower reads them next.</summary>
internal sealed class RecordCache
{
    private const long MaxBytes = 1 << 20;

    private readonly Lock _gate = new();
    private readonly Dictionary<LogPosition, EntriesRecord> _records = [];
    private readonly Queue<LogPosition> _order = new();
    private long _bytes;

    public void Add(LogPosition position, EntriesRecord record)
    {
        lock (_gate)
        {
            if (!_records.TryAdd(position, record)) return;
            _order.Enqueue(position);
            _bytes += record.Bytes;
            while (_bytes > MaxBytes && _records.Remove(_order.Dequeue(), out var oldest)) _bytes -= oldest.Bytes;
        }
    }

    public EntriesRecord? Find(LogPosition position)
    {
        lock (_gate) return _records.GetValueOrDefault(position);
    }
}
