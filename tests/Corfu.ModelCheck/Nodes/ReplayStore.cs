using Corfu.Protocol;
using Corfu.Unit;

namespace Corfu.ModelCheck.Nodes;

/// <summary>
/// A unit's disk as a list of records. Everything is durable at once: what a crash may take away was never answered
/// (R4), so it is the same as a request that was lost on its way.
/// </summary>
internal sealed class ReplayStore(IReadOnlyList<LogRecord> log) : IPageStore
{
    private const int Stride = 1 << 12;

    private readonly Dictionary<LogPosition, PageSlot> _slots = [];

    public List<LogRecord> Log { get; } = [.. log];

    public IStoreObserver? Observer { get; set; }

    public long AppendedUntil => (long)Log.Count * Stride;

    public long DurableUntil => long.MaxValue;

    public (long Pages, long Bytes) Size => (_slots.Count, Log.Count);

    public ValueTask RecoverAsync(RecordVisitor visit, Action<ReadOnlyMemory<byte>>? restore = null)
    {
        for (var i = 0; i < Log.Count; i++) visit(Log[i], Place(i));
        return ValueTask.CompletedTask;
    }

    public PageSlot Find(LogPosition position) => _slots.GetValueOrDefault(position);

    public void Set(LogPosition position, in PageSlot slot) => _slots[position] = slot;

    public Status Admit(int bodyLength, SpaceUse use) => Status.Ok;

    public UnitHealth Health => UnitHealth.Ok;

    public RecordPlace Append(in LogRecord record)
    {
        Log.Add(record with { Body = record.Body.ToArray() });
        return Place(Log.Count - 1);
    }

    public void Commit()
    {
    }

    public ValueTask<ReadOnlyMemory<byte>> ReadAsync(long address, int length) =>
        new(Log[(int)(address / Stride)].Body[..length]);

    public void Release(LogPosition below)
    {
    }

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;

    private static RecordPlace Place(int index) => new((long)index * Stride, ((long)index + 1) * Stride);
}
