namespace Corfu.Unit;

/// <summary>Identifies the entry of a damaged page by a check over its headers, which cover the payload's check. Only
/// the identical entry repairs the page (R4).</summary>
/// <param name="HeadersIntact">Only the payload is damaged: the page's streams are known.</param>
/// <param name="Check">CRC-32C of the seed and the headers; null when only the origin and the lengths can be
/// compared.</param>
internal readonly record struct CorruptPage(bool HeadersIntact, uint Seed, uint? Check)
{
    public static CorruptPage Of(ReadOnlySpan<byte> headers) => new(true, 0, Crc32C.Compute(0, headers));

    internal bool IsOf(in PageSlot slot, LogEntry entry, ReadOnlySpan<byte> bytes) =>
        bytes.Length == slot.Length && bytes.Length - entry.Payload.Length == slot.HeaderLength
        && (slot.Origin == default || slot.Origin == entry.Origin)
        && (Check is null || Crc32C.Compute(Seed, bytes[..slot.HeaderLength]) == Check);
}

/// <summary>The pages in state Corrupt, neither repaired nor trimmed; found again by the replay, or by the next
/// read.</summary>
internal sealed class CorruptPages
{
    private readonly Dictionary<LogPosition, CorruptPage> _pages = [];

    // Found by the replay, with damaged headers: their streams are unknown.
    private readonly HashSet<LogPosition> _withoutStreams = [];

    public int Count => _pages.Count;

    /// <summary>R4: the unit's stream tails may be incomplete.</summary>
    public bool HideStreams => _withoutStreams.Count > 0;

    public CorruptPage this[LogPosition position] => _pages.GetValueOrDefault(position);

    public void Add(LogPosition position, CorruptPage page, bool hidesStreams = false)
    {
        _pages[position] = page;
        if (hidesStreams) _withoutStreams.Add(position);
    }

    /// <summary>The position holds something else now.</summary>
    public void Remove(LogPosition position) => _pages.Remove(position);

    public void StreamsKnown(LogPosition position) => _withoutStreams.Remove(position);

    public void RemoveBelow(LogPosition mark) => RemoveWhere(p => p < mark);

    /// <summary>A checkpoint is not taken at one moment: its list may name pages that its slots have as
    /// sound.</summary>
    public void RemoveSound(Func<LogPosition, PageState> stateOf) => RemoveWhere(p => stateOf(p) != PageState.Corrupt);

    private void RemoveWhere(Predicate<LogPosition> match)
    {
        foreach (var position in _pages.Keys.Where(p => match(p))) _pages.Remove(position);
        _withoutStreams.RemoveWhere(match);
    }

    public void Write(ref WireWriter w)
    {
        w.Int32(_pages.Count);
        foreach (var (position, page) in _pages)
        {
            w.Position(position);
            w.Bool(page.HeadersIntact);
            w.Bool(_withoutStreams.Contains(position));
            w.UInt32(page.Seed);
            w.Bool(page.Check is not null);
            w.UInt32(page.Check ?? 0);
        }
    }

    public void Read(ref WireReader r)
    {
        for (var pages = r.Count(8); pages > 0; pages--)
        {
            var (position, headersIntact, hidesStreams) = (r.Position(), r.Bool(), r.Bool());
            var (seed, hasCheck, check) = (r.UInt32(), r.Bool(), r.UInt32());
            Add(position, new CorruptPage(headersIntact, seed, hasCheck ? check : null), hidesStreams);
        }
    }
}
