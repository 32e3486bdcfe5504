using Corfu.Protocol;

namespace Corfu.Unit;

/// <summary>
/// A store over a plain log device: the FASTER store's record codec, recovery scan and group commit without FASTER. The simulator's
/// units run on it. Single-threaded asynchrony is enough for it, real threads are fine.
/// </summary>
public sealed class LogPageStore(ILogDevice device, NodeId unit) : IPageStore, ILogImage
{
    /// <summary>A new run starts at a block of its own, so that no write ever touches a block that an earlier run made durable.</summary>
    private const int BlockSize = 4096;

    private const int FirstAddress = 64;

    /// <summary>Room that stays for seals, installs and trims when the disk is full, as the FASTER store's.</summary>
    public const int SpaceReserve = 16 << 10;

    private readonly uint _logId = RecordCodec.LogIdOf(unit);

    // Guards everything below; never held across an await.
    private readonly Lock _gate = new();
    private readonly Dictionary<LogPosition, PageSlot> _map = [];
    private byte[] _pending = new byte[4096];
    private int _pendingLength;

    // The pending bytes belong at [_tail - _pendingLength, _tail).
    private long _tail;
    private long _lastRecord;
    private long _durable;
    private uint _incarnation;
    private bool _committing;
    private bool _again;
    private StoreFailedException? _failure;
    private Task _commit = Task.CompletedTask;

    public IStoreObserver? Observer { get; set; }

    public long AppendedUntil => Volatile.Read(ref _tail);

    public long DurableUntil => Volatile.Read(ref _durable);

    public (long Pages, long Bytes) Size => (_map.Count, _tail);

    long ILogImage.Begin => 0;

    long ILogImage.End => device.Length;

    ValueTask ILogImage.ReadAsync(long address, Memory<byte> buffer) => device.ReadAsync(address, buffer);

    public async ValueTask RecoverAsync(RecordVisitor visit, Action<ReadOnlyMemory<byte>>? restore = null)
    {
        var found = await new LogScanner(this, _logId).ScanAsync(0, visit);
        _incarnation = found.Incarnation + 1;
        _lastRecord = found.LastRecord;
        // A torn record may hold the only floor that proves what is damaged before it. So it stays until the floor of the new Open record,
        // which goes behind it, says as much (R6).
        var start = found.TornBytes ? device.Length : found.End;
        _tail = start == 0 ? FirstAddress : (start + BlockSize - 1) / BlockSize * BlockSize;
        // R4: what a killed process wrote may be in the cache alone, and from now on it counts as durable.
        await device.FlushAsync();
        _durable = found.End;
        // Nothing of this incarnation is written before its Open record is durable, so the number is never used twice.
        Append(new LogRecord(RecordKind.Open, LogPosition.Zero));
        Commit();
        await _commit;
        if (_failure is not null) throw _failure;
        if (found.TornBytes) await WipeAsync(found.End, start);
    }

    public PageSlot Find(LogPosition position) => _map.GetValueOrDefault(position);

    public void Set(LogPosition position, in PageSlot slot) => _map[position] = slot;

    public Status Admit(int bodyLength, SpaceUse use)
    {
        var kept = use switch
        {
            SpaceUse.Pages => SpaceReserve,
            SpaceUse.Trims => SpaceReserve / 2,
            _ => 0,
        };
        return AppendedUntil + RecordCodec.Align(RecordCodec.HeaderSize + bodyLength) + kept <= device.Capacity ? Status.Ok : Status.NoSpace;
    }

    public UnitHealth Health => AppendedUntil + SpaceReserve < device.Capacity ? UnitHealth.Ok : UnitHealth.ReadOnly;

    public RecordPlace Append(in LogRecord record)
    {
        lock (_gate)
        {
            if (_failure is not null) throw _failure;
            var address = _tail;
            var size = RecordCodec.Size(record);
            var span = Reserve(RecordCodec.Align(size));
            RecordCodec.Encode(record, address, _lastRecord, _durable, _incarnation, _logId, span[..size]);
            _lastRecord = address;
            return new RecordPlace(address + RecordCodec.HeaderSize, _tail);
        }
    }

    public void Commit()
    {
        lock (_gate)
        {
            _again = _pendingLength > 0;
            if (_committing || !_again) return;
            _committing = true;
        }

        _commit = CommitLoopAsync();
    }

    public ValueTask<ReadOnlyMemory<byte>> ReadAsync(long address, int length)
    {
        var buffer = new byte[length];
        var read = device.ReadAsync(address, buffer);
        return read.IsCompletedSuccessfully ? new ValueTask<ReadOnlyMemory<byte>>(buffer) : Finish(read, buffer);

        static async ValueTask<ReadOnlyMemory<byte>> Finish(ValueTask read, byte[] buffer)
        {
            await read;
            return buffer;
        }
    }

    public void Release(LogPosition below)
    {
        // The device only grows; the slots go.
        foreach (var position in _map.Keys.Where(p => p < below).ToList()) _map.Remove(position);
    }

    public async ValueTask DisposeAsync()
    {
        Commit();
        await _commit;
    }

    // Group commit: everything appended while one flush ran goes out with the next.
    private async Task CommitLoopAsync()
    {
        try
        {
            while (TryTake(out var bytes, out var from, out var until))
            {
                device.Write(from, bytes.Span);
                await device.FlushAsync();
                Volatile.Write(ref _durable, until);
                Observer?.OnDurable(until);
            }
        }
        catch (Exception error)
        {
            lock (_gate) _failure = new StoreFailedException("The log could not be written.", error);
            Observer?.OnFailed(_failure);
        }
    }

    private bool TryTake(out ReadOnlyMemory<byte> bytes, out long from, out long until)
    {
        lock (_gate)
        {
            bytes = _pending.AsMemory(0, _pendingLength);
            until = _tail;
            from = _tail - _pendingLength;
            if (!_again || _pendingLength == 0)
            {
                _committing = false;
                return false;
            }

            _again = false;
            _pending = new byte[Math.Max(4096, _pendingLength)];
            _pendingLength = 0;
            return true;
        }
    }

    private Span<byte> Reserve(int size)
    {
        if (_pending.Length - _pendingLength < size) Array.Resize(ref _pending, Math.Max(_pending.Length * 2, _pendingLength + size));
        var span = _pending.AsSpan(_pendingLength, size);
        _pendingLength += size;
        _tail += size;
        return span;
    }

    // A torn tail is erased, durably, before the log goes on behind it: a half-written page must not turn up again later as a damaged one.
    private async ValueTask WipeAsync(long from, long until)
    {
        var zeros = new byte[64 << 10];
        for (var at = from; at < until; at += zeros.Length)
            device.Write(at, zeros.AsSpan(0, (int)Math.Min(zeros.Length, until - at)));
        await device.FlushAsync();
    }
}
