using Corfu.Protocol;
using FASTER.core;

namespace Corfu.Unit;

/// <summary>
/// Position to slot, as a FasterKV: hash index and newest entries in memory, the rest in a scratch file. A shortcut only, rebuilt from
/// the log at every start (R3). One caller at a time.
/// </summary>
internal sealed class FasterPageMap : IDisposable
{
    private readonly ScratchDevice _device;
    private readonly FasterKV<long, Entry> _kv;
    private readonly ClientSession<long, Entry, Entry, Entry, Empty, SimpleFunctions<long, Entry>> _session;

    public FasterPageMap(string scratchDirectory, long indexSize, long memory)
    {
        _device = new ScratchDevice(scratchDirectory);
        _kv = new FasterKV<long, Entry>(new FasterKVSettings<long, Entry>
        {
            IndexSize = indexSize,
            MemorySize = memory,
            PageSize = Math.Min(1 << 20, memory / 16),
            LogDevice = _device,
            CheckpointManager = null,
            CheckpointDir = scratchDirectory,
            ConcurrencyControlMode = ConcurrencyControlMode.None,
        });
        _session = _kv.For(new SimpleFunctions<long, Entry>()).NewSession<SimpleFunctions<long, Entry>>();
    }

    public PageSlot Find(LogPosition position)
    {
        var key = position.Offset;
        var (status, entry) = _session.Read(key);
        if (status.IsPending)
        {
            _session.CompletePendingWithOutputs(out var outputs, wait: true);
            using (outputs)
            {
                if (!outputs.Next()) throw new StoreFailedException("The address map lost a read.");
                status = outputs.Current.Status;
                entry = outputs.Current.Output;
            }
        }

        if (status.Found) return entry.ToSlot();
        return status.NotFound ? default : throw new StoreFailedException($"The address map failed: {status}.");
    }

    public void Set(LogPosition position, in PageSlot slot)
    {
        var entry = new Entry(slot);
        var key = position.Offset;
        var status = _session.Upsert(ref key, ref entry);
        if (status.IsPending) _session.CompletePending(wait: true);
        else if (status.IsFaulted) throw new StoreFailedException($"The address map failed: {status}.");
    }

    public void Dispose()
    {
        _session.Dispose();
        _kv.Dispose();
        _device.Dispose();
    }

    private readonly struct Entry(in PageSlot slot)
    {
        private readonly long _address = slot.Address;
        private readonly long _lsn = slot.Lsn;
        private readonly long _sequence = slot.Origin.Sequence;
        private readonly Guid _writer = slot.Origin.Writer.Value;
        private readonly int _length = slot.Length;
        private readonly int _headerAndState = (slot.HeaderLength << 3) | (int)slot.State;

        public PageSlot ToSlot() => new(
            (PageState)(_headerAndState & 7),
            _address,
            _length,
            _headerAndState >> 3,
            new EntryOrigin(new WriterId(_writer), _sequence),
            _lsn);
    }
}
