namespace Corfu.Unit;

/// <summary>Fetches and checks the page bytes of a read plan, outside the core's lock.</summary>
internal static class PageReader
{
    private const int MaxMoves = 8;

    public static async ValueTask<ReadResponse> ReadAsync(IPageStore store, ReadPlan plan, IPageStates states)
    {
        var results = ImmutableArray.CreateBuilder<PageResult>(plan.Pages.Length);
        long used = 0;
        foreach (var page in plan.Pages)
        {
            var want = Wanted(page.Slot, plan.Detail);
            // At least one page is answered, or a reader of large pages would make no progress.
            if (results.Count > 0 && used + want > MessageLimits.ReadBudget) break;
            used += want;
            if (await OneAsync(store, page, plan.Detail, states) is { } result)
            {
                results.Add(result);
                continue;
            }

            // R4: the page's new state is not durable yet. The answer ends before it; the reader asks again.
            if (results.Count == 0) return new ReadResponse(Status.Overloaded, plan.Epoch, []);
            break;
        }

        return new ReadResponse(Status.Ok, plan.Epoch, results.DrainToImmutable());
    }

    /// <summary>The most that carrying out the plan holds in memory.</summary>
    public static long BytesOf(ReadPlan plan)
    {
        long bytes = 0;
        foreach (var page in plan.Pages)
        {
            var want = Wanted(page.Slot, plan.Detail);
            if (bytes > 0 && bytes + want > MessageLimits.ReadBudget) break;
            bytes += want;
        }

        return bytes;
    }

    private static async ValueTask<PageResult?> OneAsync(IPageStore store, PlannedPage page, ReadDetail detail,
        IPageStates states)
    {
        var suspected = false;
        for (var moves = 0; moves < MaxMoves; moves++)
        {
            var want = Wanted(page.Slot, detail);
            if (want == 0) return Bare(page);
            var marked = page.Slot.State == PageState.Corrupt;
            try
            {
                var bytes = await store.ReadAsync(page.Slot.Address, want);
                if (bytes.IsEmpty
                    || (marked && IsWhole(page, bytes) && states.MarkSound(page.Position, page.Slot.Address, bytes)))
                {
                    suspected = false;
                    (page, var lsn) = states.Plan(page.Position);
                    if (lsn > store.DurableUntil) return null;
                    continue;
                }

                if (TryTake(page, detail, bytes, out var result, out var damage)) return result;
                // A single bad transfer is no damage: the page is read twice.
                if (!suspected)
                {
                    suspected = true;
                    continue;
                }

                if (Planted.Is("damaged-is-unwritten"))
                    return new PageResult(page.Position, PageState.Unwritten, false, default, default);
                if (!marked) states.MarkCorrupt(page.Position, page.Slot.Address, damage);
                return result;
            }
            catch (IOException)
            {
                // An unreadable sector damages this page only; a repair writes it elsewhere on the disk.
                if (!marked) states.MarkCorrupt(page.Position, page.Slot.Address, new CorruptPage(false, 0, null));
                return new PageResult(page.Position, PageState.Corrupt, false, page.Slot.Origin, default);
            }
        }

        return null;
    }

    internal static ReadResponse WithoutBytes(ReadPlan plan) =>
        new(Status.Ok, plan.Epoch, [.. plan.Pages.Select(page => Bare(page))]);

    private static PageResult Bare(in PlannedPage page) =>
        new(page.Position, page.Slot.State, page.BelowMark, page.Slot.Origin, default);

    // A tombstone is its headers.
    private static int Wanted(in PageSlot slot, ReadDetail detail) => slot.State switch
    {
        PageState.Unwritten => 0,
        PageState.Trimmed => slot.HeaderLength,
        _ => detail == ReadDetail.Headers ? slot.HeaderLength : slot.Length,
    };

    // False if the page is damaged; the damage then says what identifies it.
    private static bool TryTake(in PlannedPage page, ReadDetail detail, ReadOnlyMemory<byte> bytes,
        out PageResult result, out CorruptPage damage)
    {
        var slot = page.Slot;
        var headers = bytes[..slot.HeaderLength];
        damage = default;
        if (!HeadersIntact(page.Position, bytes))
        {
            // A tombstone without its headers is bare: walks take it for junk (R5).
            result = new PageResult(page.Position, slot.State == PageState.Trimmed ? slot.State : PageState.Corrupt,
                false, slot.Origin, default);
            damage = new CorruptPage(false, 0, null);
            return slot.State == PageState.Trimmed;
        }

        if (slot.State == PageState.Corrupt)
        {
            result = new PageResult(page.Position, slot.State, false, slot.Origin,
                detail == ReadDetail.Full ? default : headers);
            return bytes.Length < slot.Length;
        }

        var whole = bytes.Length == slot.Length && slot.State is PageState.Data or PageState.Junk;
        if (!whole || EntryCodec.PayloadIntact(bytes.Span))
        {
            result = new PageResult(page.Position, slot.State, false, slot.Origin,
                detail == ReadDetail.Verify ? headers : bytes);
            return true;
        }

        damage = CorruptPage.Of(headers.Span);
        result = new PageResult(page.Position, PageState.Corrupt, false, slot.Origin,
            detail == ReadDetail.Verify ? headers : default);
        return false;
    }

    private static bool IsWhole(in PlannedPage page, ReadOnlyMemory<byte> bytes) =>
        bytes.Length == page.Slot.Length && HeadersIntact(page.Position, bytes) && EntryCodec.PayloadIntact(bytes.Span);

    private static bool HeadersIntact(LogPosition position, ReadOnlyMemory<byte> bytes)
    {
        try
        {
            return EntryCodec.DecodeHeaders(bytes).Position == position;
        }
        catch (MalformedDataException)
        {
            return false;
        }
    }
}

/// <summary>The page states as a reader of pages uses them: the core itself, or the handler, which calls it under its
/// lock.</summary>
internal interface IPageStates
{
    /// <summary>The answer to a read of the page, and what must be durable before it is given.</summary>
    (PlannedPage Page, long Lsn) Plan(LogPosition position);

    /// <summary>Two reads in a row found the page damaged: its state is Corrupt from now on (R4), never unwritten, so
    /// it is never filled.</summary>
    /// <param name="address">The address it was read at: a page that was repaired or moved meanwhile is not
    /// marked.</param>
    void MarkCorrupt(LogPosition position, long address, CorruptPage page);

    /// <summary>A page marked as damaged was read again and is whole, so only the transfers were bad. It may be the
    /// only copy of its chain (R4, R11), so it counts again.</summary>
    /// <returns>False if these are not the bytes of the entry that was written there: the mark stays. True: the page is
    /// to be planned again.</returns>
    bool MarkSound(LogPosition position, long address, ReadOnlyMemory<byte> entry);
}

/// <summary>A read whose states are decided and whose bytes are still to be fetched.</summary>
internal sealed record ReadPlan(Epoch Epoch, ReadDetail Detail, PlannedPage[] Pages);

/// <summary>A page of a planned read.</summary>
/// <param name="BelowMark">Trimmed by prefix: there is nothing to fetch.</param>
internal readonly record struct PlannedPage(LogPosition Position, PageSlot Slot, bool BelowMark);
