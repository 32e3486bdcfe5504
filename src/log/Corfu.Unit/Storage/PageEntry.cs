namespace Corfu.Unit;

/// <summary>A page's slot as the address map keeps it.</summary>
internal readonly record struct PageEntry
{
    private readonly long _address;
    private readonly long _lsn;
    private readonly long _sequence;
    private readonly Guid _writer;
    private readonly int _length;
    private readonly int _headerAndState;

    public PageEntry(in PageSlot slot)
    {
        _address = slot.Address;
        _lsn = slot.Lsn;
        _sequence = slot.Origin.Sequence;
        _writer = slot.Origin.Writer.Value;
        _length = slot.Length;
        _headerAndState = (slot.HeaderLength << 3) | (int)slot.State;
    }

    public PageSlot ToSlot() => new((PageState)(_headerAndState & 7), _address, _length, _headerAndState >> 3,
        new EntryOrigin(new WriterId(_writer), _sequence), _lsn);
}

/// <summary>The address maps of a page store: offset of a position to page.</summary>
internal static class PageMaps
{
    public static IAddressMaps<long, PageEntry> OnFaster(string folder, PageStoreOptions options,
        WriteBytes? write = null) =>
        new FasterAddressMaps<long, PageEntry>(folder, options.Map, hash: null, write);
}
