using Corfu.Conformance;
using Corfu.Protocol;

namespace Corfu.Unit.Tests;

/// <summary>A memory store whose disk is small, or reads badly for a while.</summary>
internal sealed class FaultyStore : IPageStore
{
    private readonly MemoryPageStore _inner = new();

    /// <summary>For so many pages.</summary>
    public int Room { get; set; } = int.MaxValue;

    /// <summary>Number of the next reads that return a flipped bit.</summary>
    public int BadReads { get; set; }

    public IStoreObserver? Observer { get; set; }

    public UnitHealth Health => UnitHealth.Ok;

    public long AppendedUntil => _inner.AppendedUntil;

    public long DurableUntil => _inner.DurableUntil;

    public (long Pages, long Bytes) Size => _inner.Size;

    public Status Admit(int bodyLength, SpaceUse use) =>
        use is not (SpaceUse.Pages or SpaceUse.Fills) || Room-- > 0 ? Status.Ok : Status.NoSpace;

    public ValueTask RecoverAsync(RecordVisitor visit, Action<ReadOnlyMemory<byte>>? restore = null) =>
        _inner.RecoverAsync(visit, restore);

    public PageSlot Find(LogPosition position) => _inner.Find(position);

    public void Set(LogPosition position, in PageSlot slot) => _inner.Set(position, slot);

    public RecordPlace Append(in LogRecord record) => _inner.Append(record);

    public void Commit() => _inner.Commit();

    public async ValueTask<ReadOnlyMemory<byte>> ReadAsync(long address, int length)
    {
        var bytes = (await _inner.ReadAsync(address, length)).ToArray();
        if (BadReads > 0)
        {
            BadReads--;
            bytes[^1] ^= 1;
        }

        return bytes;
    }

    public void Release(LogPosition below) => _inner.Release(below);

    public ValueTask DisposeAsync() => _inner.DisposeAsync();
}
