using System.Threading.RateLimiting;

namespace Corfu.Client;

/// <summary>Settles what became of an append (R9): completes it, or makes it impossible.</summary>
internal sealed class Resolver(Retry retry, ChainReplication chains, GrantedTail granted, HoleCloser closer,
    EntryOrigins origins, ProjectionHolder projections, ClientClock clock)
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

        // The first survivors hold no entry of an older epoch there, and have taken none since (R13). A position
        // without its epoch may be of the current one.
        if (IsOlder(position, view) && position >= view.Projection.Start) return AppendOutcome.NotAppended;
        var chain = view.Projection.ChainOf(position);
        var look = await chains.FindAsync(view, chain, position, cancellationToken);
        if (!look.IsDone) return look.Status;
        var (page, holder) = look.Value;
        switch (page.State)
        {
            case PageState.Unwritten:
                return await CloseAsync(view, chain, position, origin, cancellationToken);
            case PageState.Data when Planted.Is("writer-without-sequence") && page.Origin.Writer == origin.Writer:
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

    private static bool IsOlder(LogPosition position, EpochView view)
    {
        if (Planted.Is("no-epoch-is-older")) return position.Epoch < view.Epoch;
        return position.Epoch > Epoch.None && position.Epoch < view.Epoch;
    }

    /// <summary>The head holds nothing: the outcome follows from the epoch of the append's token.</summary>
    /// <remarks>
    /// 1. Below the epoch's start it is an older one. R9: what the first full replica does not hold then was not
    /// appended, for its writer never sends it again, and copies are taken from that replica alone.
    /// 2. Not granted in this epoch, which is the newest: a token that the caller has is older, and has died with its
    /// epoch (R7, R13). Nothing is written there, or the next epoch would begin above it (R10).
    /// 3. Granted in this epoch: the append may still arrive, so its position is closed as any hole.
    /// </remarks>
    private async ValueTask<Attempt<AppendOutcome>> CloseAsync(
        EpochView view, Chain chain, LogPosition position, EntryOrigin origin, CancellationToken cancellationToken)
    {
        // 1.
        if (position < view.Projection.Start)
        {
            // The outcome is final already, so the caller does not wait for the fill.
            clock.Loops.Start(() => FillLaterAsync(view, chain, origins.NewJunk(view, position, [])));
            return AppendOutcome.NotAppended;
        }

        if (Planted.Is("resolve-fills-ungranted"))
        {
            var filled = await chains.FillAsync(view, chain, origins.NewJunk(view, position, []), cancellationToken);
            return filled == Status.Ok ? AppendOutcome.NotAppended : filled;
        }

        // 2.
        var covers = await granted.CoversAsync(view, position.Next, cancellationToken);
        if (!covers.IsDone) return covers.Status;
        if (!covers.Value)
            return position.Epoch == Epoch.None
                ? AppendOutcome.NotAppended
                : throw new PositionNotGrantedException(
                    "Only appends at granted positions are resolved, and this one is not.");

        // 3. This client's own append of this epoch has given up; any other writer gets its time.
        var patient = position.Epoch == Epoch.None || !origins.IsOwn(origin);
        var closed = await closer.CloseAsync(view, [position], patient, cancellationToken);
        if (!closed.IsDone) return closed.Status;
        return await TryAsync(view, position, origin, cancellationToken);
    }

    private async Task FillLaterAsync(EpochView view, Chain chain, LogEntry junk)
    {
        using var place = await _fills.AcquireAsync(1, clock.Closed);

        // A fill that finds no place is left to the first reader that meets the hole.
        if (place.IsAcquired && projections.Current == view) await chains.FillAsync(view, chain, junk, clock.Closed);
    }
}
