using System.Collections.Immutable;
using Corfu;
using Tango.Model;
using Tango.Records;

namespace Tango.Playback;

/// <summary>
/// Plays cohorts beside the player, each from its newest checkpoint that serves. Cohorts that are replayed together may
/// start at different positions: below its start a cohort counts as not hosted, so that decisions about what it read
/// come from its checkpoint or from decision records (R20).
/// </summary>
/// <param name="sync">As for <see cref="Playback"/>.</param>
/// <param name="probe">As for <see cref="Playback"/>.</param>
internal sealed class CohortReplay(
    PlaybackContext context, Func<CancellationToken, Task>? sync, DecisionProbe? probe, CancellationToken lifetime)
{
    public Playback Playback { get; } = new(context, sync, null, probe, lifetime);

    /// <summary>
    /// Everything of the cohorts' streams below <paramref name="end"/> is applied to them and nothing else, whole
    /// entries only (R17). Commit records whose decision records stand above it are decided: where the cohorts' own
    /// streams do not tell, the decision record is awaited. Nothing that is decided here is published.
    /// </summary>
    /// <param name="cohorts">Cohorts of which nothing is played yet; they belong to the caller afterwards.</param>
    /// <returns>Commit records below the end that concern the cohorts, with decision records above it.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The end is above the log's tail.</exception>
    /// <exception cref="TangoTrimmedException">History up to there is trimmed, and no checkpoint below it can be
    /// loaded.</exception>
    public static async ValueTask<ImmutableArray<AwaitedDecision>> PlayAsync(
        IReadOnlyList<Cohort> cohorts, LogPosition end, PlaybackContext context, CancellationToken cancellationToken)
    {
        if (!await IsSettledAsync(context.Log, end, cancellationToken))
            throw new ArgumentOutOfRangeException(nameof(end), end.Offset, "The log ends below this position.");
        var replay = new CohortReplay(context, null, null, cancellationToken);
        foreach (var cohort in cohorts)
        {
            await replay.LoadAsync(cohort, end);
            // Else it is complete, and its entries above the end may be trimmed.
            if (cohort.Start < end) replay.Playback.Add(cohort);
        }

        try
        {
            if (!replay.Playback.Hosted.IsEmpty) await replay.Playback.PlayToAsync(end);
        }
        catch (LogTrimmedException e)
        {
            throw new TangoTrimmedException(e);
        }

        return replay.Playback.Commits.HandOver();
    }

    /// <summary>Starts the cohort from its newest checkpoint, if there is one. <see cref="Playback.Add"/> it
    /// then.</summary>
    /// <remarks>All playback of a cohort begins here. R22: one that was forked has no beginning below its base, which
    /// is the end of its oldest checkpoint.</remarks>
    /// <param name="notAbove">The latest end that serves; null: any.</param>
    /// <exception cref="TangoTrimmedException">The cohort was forked, and no checkpoint serves.</exception>
    public async ValueTask LoadAsync(Cohort cohort, LogPosition? notAbove)
    {
        var forked = cohort.Objects[0].Entry;
        if (Planted.Is("fork-played-from-nothing") && forked.Origin is not null) return;
        if (await context.Loader.LoadAsync(cohort, notAbove, context.Directory, lifetime) is not { } loaded)
        {
            if (forked.Origin is not null) throw TangoTrimmedException.OfFork(forked, notAbove);
            return;
        }

        cohort.StartFrom(loaded);
        Playback.TakeOver(loaded.Awaited);
    }

    /// <summary>R10: a later epoch may grant positions anew that were never written. Below one that is final it
    /// grants none, so that what is played up to there stays so.</summary>
    /// <returns>False: the log ends below.</returns>
    public static async ValueTask<bool> IsSettledAsync(
        ICorfuLog log, LogPosition end, CancellationToken cancellationToken)
    {
        if (end == LogPosition.Zero) return true;
        var before = new LogPosition(end.Offset - 1);
        var page = (await log.ReadManyAsync([before], ReadDetail.State, cancellationToken: cancellationToken))[0];
        return page.State != PageState.Unwritten;
    }
}
