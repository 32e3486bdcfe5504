namespace Corfu.Client;

/// <summary>Turns a unit's answer into a result of a read, trusting none of its bytes.</summary>
internal static class PageDecoder
{
    /// <summary>A page whose bytes do not check out, or belong elsewhere, comes out as Corrupt.</summary>
    public static LogReadResult Decode(PageResult page, ReadDetail detail)
    {
        if (page.State is PageState.Unwritten or PageState.Corrupt || detail == ReadDetail.State)
            return new LogReadResult(page.Position, page.State, null);
        if (page.State == PageState.Trimmed && page.Bytes.IsEmpty)
            return new LogReadResult(page.Position, page.State, null);
        try
        {
            // Tombstones have no payload, whatever was asked for.
            var entry = detail == ReadDetail.Full && page.State != PageState.Trimmed
                ? EntryCodec.Decode(page.Bytes)
                : EntryCodec.DecodeHeaders(page.Bytes);
            if (
                entry.Position == page.Position
                && (page.State == PageState.Trimmed || entry.IsJunk == (page.State == PageState.Junk)))
                return new LogReadResult(entry.Position, page.State, entry);
        }
        catch (MalformedDataException)
        {
            // Damaged on the disk or on the way: not what was written.
        }

        return new LogReadResult(page.Position, PageState.Corrupt, null);
    }
}
