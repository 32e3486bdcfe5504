using Corfu.Protocol;
using Corfu.Storage;
using Corfu.Unit;

namespace Corfu.Conformance;

/// <summary>A store without a disk. "Durable" means appended, or, with <paramref name="commitByHand"/>, whatever
/// <see cref="MakeDurable"/> was told: the way to test what waits for durability.</summary>
internal sealed class MemoryPageStore(bool commitByHand = false) : IPageStore
{
    private readonly Lock _gate = new();
    private readonly Dictionary<LogPosition, PageSlot> _map = [];
    private readonly Dictionary<long, byte[]> _bodies = [];
    private long _tail;
    private long _durable;
    private long _bytes;

    public IStoreObserver? Observer { get; set; }

    public long DurableUntil => Volatile.Read(ref _durable);

    public long AppendedUntil => Volatile.Read(ref _tail);

    public (long Pages, long Bytes) Size => (_map.Count, _bytes);

    public ValueTask RecoverAsync(RecordVisitor visit, Action<ReadOnlyMemory<byte>>? restore = null)
    {
        // The Open record that every log begins with.
        Append(new LogRecord(RecordKind.Open, LogPosition.Zero));
        MakeDurable(_tail);
        return ValueTask.CompletedTask;
    }

    public PageSlot Find(LogPosition position) => _map.GetValueOrDefault(position);

    public void Set(LogPosition position, in PageSlot slot) => _map[position] = slot;

    public Status Admit(int bodyLength, SpaceUse use) => Status.Ok;

    public UnitHealth Health => UnitHealth.Ok;

    public RecordPlace Append(in LogRecord record)
    {
        lock (_gate)
        {
            var address = _tail + RecordCodec.HeaderSize;
            if (!record.Body.IsEmpty) _bodies[address] = record.Body.ToArray();
            _bytes += RecordCodec.Size(record);
            _tail = IRecordLog.Align(address + record.Body.Length);
            if (!commitByHand) Volatile.Write(ref _durable, _tail);
            return new RecordPlace(address, _tail);
        }
    }

    public void Commit()
    {
        if (!commitByHand) Observer?.OnDurable(DurableUntil);
    }

    /// <summary>Everything up to the log sequence number counts as durable from now on.</summary>
    public void MakeDurable(long lsn)
    {
        lock (_gate) Volatile.Write(ref _durable, Math.Max(_durable, lsn));
        Observer?.OnDurable(lsn);
    }

    public ValueTask<ReadOnlyMemory<byte>> ReadAsync(long address, int length)
    {
        lock (_gate)
        {
            return _bodies.TryGetValue(address, out var body)
                ? new ValueTask<ReadOnlyMemory<byte>>(body.AsMemory(0, Math.Min(length, body.Length)))
                : default;
        }
    }

    public void Release(LogPosition below)
    {
        lock (_gate)
        {
            foreach (var (position, slot) in _map.Where(p => p.Key < below).ToList())
            {
                _map.Remove(position);
                if (_bodies.Remove(slot.Address, out var body)) _bytes -= body.Length;
            }
        }
    }

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;
}
