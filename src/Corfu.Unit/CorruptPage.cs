using Corfu.Protocol;

namespace Corfu.Unit;

/// <summary>
/// What is still known about a damaged page, enough to recognise the entry that was there: its length, and a check over
/// its headers, which in turn cover the payload's check (R4: only the identical entry repairs).
/// </summary>
/// <param name="HeadersIntact">The page's streams are known; only the payload is gone.</param>
/// <param name="Seed">What the check starts from.</param>
/// <param name="Check">CRC-32C of the seed and the headers; null when only the origin and the lengths are left to
/// compare.</param>
internal readonly record struct CorruptPage(bool HeadersIntact, uint Seed, uint? Check)
{
    /// <summary>A page whose headers were just read and are good.</summary>
    public static CorruptPage Of(ReadOnlySpan<byte> headers) => new(true, 0, Crc32C.Compute(0, headers));

    internal bool IsOf(in PageSlot slot, LogEntry entry, ReadOnlySpan<byte> bytes) =>
        bytes.Length == slot.Length
        && bytes.Length - entry.Payload.Length == slot.HeaderLength
        && (slot.Origin == default || slot.Origin == entry.Origin)
        && (Check is null || Crc32C.Compute(Seed, bytes[..slot.HeaderLength]) == Check);
}

/// <summary>
/// The pages in state Corrupt, neither repaired nor trimmed. Rare, so a dictionary will do; found again by the replay,
/// or by the next read.
/// </summary>
internal sealed class CorruptPages
{
    private readonly Dictionary<LogPosition, CorruptPage> _pages = [];

    // Found by the replay, with damaged headers: the streams that they belong to are unknown.
    private readonly HashSet<LogPosition> _withoutStreams = [];

    public int Count => _pages.Count;

    /// <summary>R4: what this unit says of stream tails is not all.</summary>
    public bool HideStreams => _withoutStreams.Count > 0;

    public CorruptPage this[LogPosition position] => _pages.GetValueOrDefault(position);

    public void Add(LogPosition position, CorruptPage page, bool hidesStreams = false)
    {
        _pages[position] = page;
        if (hidesStreams) _withoutStreams.Add(position);
    }

    /// <summary>The position holds something else now.</summary>
    public void Remove(LogPosition position)
    {
        if (_pages.Count > 0) _pages.Remove(position);
    }

    public void StreamsKnown(LogPosition position)
    {
        if (_withoutStreams.Count > 0) _withoutStreams.Remove(position);
    }

    public void RemoveBelow(LogPosition mark)
    {
        foreach (var position in _pages.Keys)
        {
            if (position < mark) _pages.Remove(position);
        }

        _withoutStreams.RemoveWhere(p => p < mark);
    }

    /// <summary>A checkpoint is not taken at one moment: its list may name pages that its slots have as
    /// sound.</summary>
    public void RemoveSound(Func<LogPosition, PageState> stateOf)
    {
        foreach (var position in _pages.Keys.Where(p => stateOf(p) != PageState.Corrupt)) _pages.Remove(position);
        _withoutStreams.RemoveWhere(p => stateOf(p) != PageState.Corrupt);
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
            var position = r.Position();
            var headersIntact = r.Bool();
            var hidesStreams = r.Bool();
            var seed = r.UInt32();
            var hasCheck = r.Bool();
            var check = r.UInt32();
            Add(position, new CorruptPage(headersIntact, seed, hasCheck ? check : null), hidesStreams);
        }
    }
}
