using Corfu;
using Tango.Model;
using Tango.Playback;

namespace Tango.Upkeep;

/// <summary>Checkpoints of cohorts that the runtime does not have open.</summary>
internal static class UnhostedCohort
{
    /// <summary>
    /// Loads the cohort and plays it beside the player, up to everything acknowledged before the call. No reader sees
    /// it.
    /// </summary>
    /// <param name="cohort">A cohort of which nothing is played yet.</param>
    /// <param name="played">Position of the player before the call. An entry below was read, and is final. The check
    /// here therefore finds all of the cohort's entries below (R10).</param>
    /// <exception cref="TangoObjectStoppedException">A member cannot be played here (R23), or was deleted.</exception>
    /// <exception cref="TangoTrimmedException">The cohort's history is trimmed, and no checkpoint can be
    /// loaded.</exception>
    public static async ValueTask<CohortSnapshot> PlayAsync(
        Cohort cohort, LogPosition played, PlaybackContext context, CancellationToken cancellationToken)
    {
        var replay = new CohortReplay(context, null, null, cancellationToken);
        await replay.LoadAsync(cohort, null);
        var playback = replay.Playback;
        playback.Hosted.AdvanceTo(cohort.Start);
        playback.Add(cohort);
        try
        {
            await playback.SyncAsync(ReadConsistency.Linearizable);
            while (await playback.PlayNextAsync())
            {
            }
        }
        catch (LogTrimmedException e)
        {
            throw new TangoTrimmedException(e);
        }

        playback.Hosted.AdvanceTo(played);
        return CohortSnapshot.Take(cohort, playback.Hosted, playback.Commits);
    }
}
