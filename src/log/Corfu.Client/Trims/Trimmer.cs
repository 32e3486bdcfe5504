namespace Corfu.Client;

/// <summary>Trims (TOCS 2.6), of granted positions only: the caller's tail may be of an ended epoch (R10).</summary>
internal sealed class Trimmer(GrantedTail granted, ChainReplication chains, TrimMarks marks, Retry retry)
{
    public ValueTask TrimAsync(LogPosition position, CancellationToken cancellationToken) =>
        retry.RunAsync(
            $"Trimming {position}", view => TryTrimAsync(view, position, cancellationToken), cancellationToken);

    public ValueTask TrimPrefixAsync(LogPosition below, CancellationToken cancellationToken) =>
        retry.RunAsync(
            $"Trimming below {below}", view => TryTrimPrefixAsync(view, below, cancellationToken), cancellationToken);

    private async ValueTask<Status> TryTrimAsync(
        EpochView view, LogPosition position, CancellationToken cancellationToken)
    {
        // No entry of an ended epoch stands there; the caller does not mean an entry of a later one (R10).
        if (TailCap.IsOlder(view, position) && position >= view.Projection.Start) return Status.Ok;
        var status = await granted.RequireAsync(view, position.Next, position, cancellationToken);
        if (status != Status.Ok) return status;
        var chain = view.Projection.ChainOf(position);
        var look = await chains.LookAsync(view, chain, 0, position, ReadDetail.Headers, cancellationToken);
        if (!look.IsDone) return look.Status;
        var page = look.Value;
        if (page.State == PageState.Trimmed || IsLater(page, position)) return Status.Ok;

        // The headers go along: replicas that have not got the page keep its place in the streams too.
        var tombstone = page.State is PageState.Data or PageState.Junk ? page.Bytes : default;
        page = page with { State = PageState.Trimmed, BelowMark = false, Bytes = tombstone };
        return await chains.PropagateTrimAsync(view, chain, page, cancellationToken);
    }

    private async ValueTask<Status> TryTrimPrefixAsync(
        EpochView view, LogPosition below, CancellationToken cancellationToken)
    {
        var capped = await granted.CapAsync(view, below, cancellationToken);
        return capped.IsDone ? await marks.PropagateAsync(view, capped.Value, cancellationToken) : capped.Status;
    }

    /// <summary>Whether the position was granted and written anew after the caller's epoch.</summary>
    private static bool IsLater(PageResult page, LogPosition position) =>
        position.Epoch > Epoch.None && PageDecoder.Decode(page, ReadDetail.Headers).Entry is { IsJunk: false } entry
            && entry.Position.Epoch > position.Epoch;
}
