namespace Corfu.Protocol;

/// <summary>
/// One page of a read answer. <see cref="Bytes"/> are the whole entry or its headers, as asked; for a page trimmed on its own they
/// are the tombstone (the headers that stream walks still need, R5), for one below the trim mark they are empty.
/// </summary>
/// <param name="BelowMark">With <see cref="PageState.Trimmed"/>: the prefix trim did it, so bring it on as such.</param>
public readonly record struct PageResult(
    LogPosition Position, PageState State, bool BelowMark, EntryOrigin Origin, ReadOnlyMemory<byte> Bytes)
{
    internal const int SmallestSize = 8 + 1 + 1 + 16 + 8 + 4;

    internal void Write(ref WireWriter w)
    {
        w.Position(Position);
        w.Byte((byte)State);
        w.Bool(BelowMark);
        w.Guid(Origin.Writer.Value);
        w.Int64(Origin.Sequence);
        w.Bytes(Bytes.Span);
    }

    internal static PageResult Read(ref WireReader r)
    {
        var position = r.Position();
        var state = (PageState)r.Byte();
        if (state > PageState.Corrupt) throw new MalformedDataException("A page state is unknown.");
        return new PageResult(position, state, r.Bool(), new EntryOrigin(new WriterId(r.Guid()), r.Int64()), r.Bytes());
    }
}
