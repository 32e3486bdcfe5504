using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Unit;

/// <summary>Carries out a read plan: fetches and checks page bytes, without the core and its lock.</summary>
public static class PageReader
{
    /// <param name="onCorrupt">Called for each page whose payload turns out damaged.</param>
    public static async ValueTask<ReadResponse> ReadAsync(IPageStore store, ReadPlan plan, Action<LogPosition> onCorrupt)
    {
        var results = ImmutableArray.CreateBuilder<PageResult>(plan.Pages.Length);
        long used = 0;
        foreach (var page in plan.Pages)
        {
            var want = Wanted(page.Slot, plan.Detail);
            // Never before one page: a reader of large pages must get on.
            if (results.Count > 0 && used + want > MessageLimits.ReadBudget) break;
            used += want;
            if (want == 0)
            {
                results.Add(Bare(page));
                continue;
            }

            try
            {
                var bytes = await store.ReadAsync(page.Slot.Address, want);
                results.Add(Checked(page, bytes, onCorrupt));
            }
            catch (IOException)
            {
                // A sector that cannot be read costs this page, here and now; its replicas have it.
                results.Add(new PageResult(page.Position, PageState.Corrupt, false, page.Slot.Origin, default));
            }
        }

        return new ReadResponse(Status.Ok, plan.Epoch, results.DrainToImmutable());
    }

    internal static ReadResponse WithoutBytes(ReadPlan plan)
    {
        var results = ImmutableArray.CreateBuilder<PageResult>(plan.Pages.Length);
        foreach (var page in plan.Pages) results.Add(Bare(page));
        return new ReadResponse(Status.Ok, plan.Epoch, results.MoveToImmutable());
    }

    private static PageResult Bare(in PlannedPage page) =>
        new(page.Position, page.Slot.State, page.BelowMark, page.Slot.Origin, default);

    // A tombstone is its headers; a corrupt page's payload is worth nothing, but its headers still carry stream walks.
    private static int Wanted(in PageSlot slot, ReadDetail detail) => slot.State switch
    {
        PageState.Unwritten => 0,
        PageState.Trimmed => slot.HeaderLength,
        PageState.Corrupt => detail == ReadDetail.Headers ? slot.HeaderLength : 0,
        _ => detail == ReadDetail.Headers ? slot.HeaderLength : slot.Length,
    };

    private static PageResult Checked(in PlannedPage page, ReadOnlyMemory<byte> bytes, Action<LogPosition> onCorrupt)
    {
        if (bytes.IsEmpty)
        {
            // A prefix trim deleted that part of the log after the plan was made.
            return new PageResult(page.Position, PageState.Trimmed, true, default, default);
        }

        try
        {
            var entry = EntryCodec.DecodeHeaders(bytes);
            var whole = bytes.Length == page.Slot.Length && page.Slot.State is PageState.Data or PageState.Junk;
            if (entry.Position == page.Position && (!whole || EntryCodec.PayloadIntact(bytes.Span)))
                return new PageResult(page.Position, page.Slot.State, false, page.Slot.Origin, bytes);
        }
        catch (MalformedDataException)
        {
            // Damaged headers: the same outcome as a damaged payload.
        }

        onCorrupt(page.Position);
        return new PageResult(page.Position, PageState.Corrupt, false, page.Slot.Origin, default);
    }
}
