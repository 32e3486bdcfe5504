using System.Threading.RateLimiting;

namespace Corfu.Client;

/// <summary>Settles what became of an append (R9): completes it, or makes it impossible.</summary>
internal sealed class Resolver(
    Retry retry, ChainReplication chains, EntryOrigins origins, ProjectionHolder projections, ClientClock clock)
{
    private const int FillsAtOnce = 4;
    private const int MaxFillsWaiting = 65536;

    // A failure leaves many, and no caller waits for them: appends go first.
    private readonly ConcurrencyLimiter _fills = new(
        new ConcurrencyLimiterOptions { PermitLimit = FillsAtOnce, QueueLimit = MaxFillsWaiting });

    public ValueTask<AppendOutcome> ResolveAsync(
        LogPosition position, EntryOrigin origin, CancellationToken cancellationToken) =>
        retry.RunAsync(
            $"Resolving {position}", view => TryAsync(view, position, origin, cancellationToken), cancellationToken);

    private async ValueTask<Attempt<AppendOutcome>> TryAsync(
        EpochView view, LogPosition position, EntryOrigin origin, CancellationToken cancellationToken)
    {
        if (position.Epoch > view.Epoch) return AppendOutcome.Unknown;

        // R13: the first survivors hold nothing of an older epoch there, and have taken nothing of one since.
        if (position.Epoch < view.Epoch && position >= view.Projection.Start) return AppendOutcome.NotAppended;
        var chain = view.Projection.ChainOf(position);
        var look = await chains.FindAsync(view, chain, position, cancellationToken);
        if (!look.IsDone) return look.Status;
        var (page, holder) = look.Value;
        switch (page.State)
        {
            case PageState.Unwritten:
                return await CloseAsync(view, chain, position, origin, cancellationToken);
#if PLANTED
            case PageState.Data when Planted.Is("writer-without-sequence") && page.Origin.Writer == origin.Writer:
#endif
            case PageState.Data when page.Origin == origin:
                return await chains.CompleteAsync(view, chain, holder, page.Bytes, cancellationToken) switch
                {
                    Status.Ok => AppendOutcome.Appended,
                    Status.Trimmed => AppendOutcome.Unknown,
                    var status => status,
                };
            case PageState.Data or PageState.Junk:
                return AppendOutcome.NotAppended;
            case PageState.Trimmed when page.Origin.Writer != default:
                // A tombstone still says whose entry it was.
                return page.Origin == origin ? AppendOutcome.Appended : AppendOutcome.NotAppended;
            case PageState.Corrupt when page.Origin != default && page.Origin != origin:
                return AppendOutcome.NotAppended;
            default:
                return AppendOutcome.Unknown;
        }
    }

    // R9: what the first full replica does not hold in a later epoch was not appended: its writer never sends it
    // again, and copies are taken from that replica alone.
    private async ValueTask<Attempt<AppendOutcome>> CloseAsync(
        EpochView view, Chain chain, LogPosition position, EntryOrigin origin, CancellationToken cancellationToken)
    {
        var junk = origins.NewJunk(view, position, []);
        if (view.Epoch > position.Epoch)
        {
            // The outcome is final already, so the caller does not wait for the fill.
            FillLaterAsync(view, chain, junk).Abandon();
            return AppendOutcome.NotAppended;
        }

        return await chains.FillAsync(view, chain, junk, cancellationToken) switch
        {
            Status.Ok => AppendOutcome.NotAppended,
            Status.AlreadyWritten => await TryAsync(view, position, origin, cancellationToken),
            Status.Trimmed => AppendOutcome.Unknown,
            var status => status,
        };
    }

    private async Task FillLaterAsync(EpochView view, Chain chain, LogEntry junk)
    {
        using var place = await _fills.AcquireAsync(1, clock.Closed);

        // A fill that finds no place is left to the first reader that meets the hole.
        if (place.IsAcquired && projections.Current == view) await chains.FillAsync(view, chain, junk, clock.Closed);
    }
}
