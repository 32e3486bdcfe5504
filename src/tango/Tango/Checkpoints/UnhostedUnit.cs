using Corfu.Client;
using Corfu.Protocol;
using Tango.Playback;

namespace Tango.Checkpoints;

/// <summary>What a checkpoint holds of a unit that the runtime does not have open.</summary>
internal static class UnhostedUnit
{
    /// <summary>
    /// Loads the unit and plays it beside the player, up to everything acknowledged before the call. No reader sees it.
    /// </summary>
    /// <param name="unit">Of which nothing is played yet.</param>
    /// <param name="played">Where the player stood before the call. An entry below was read, so that it is final, and
    /// the check here finds all of the unit's entries below (R10).</param>
    /// <exception cref="TangoObjectStoppedException">A member cannot be played here (R23), or was deleted.</exception>
    /// <exception cref="TangoTrimmedException">Its history is trimmed, and no checkpoint can be loaded.</exception>
    public static async ValueTask<UnitSnapshot> PlayAsync(
        HostedUnit unit, LogPosition played, PlaybackContext context, CancellationToken cancellationToken)
    {
        var replay = new UnitReplay(context, null, null, cancellationToken);
        await replay.LoadAsync(unit, null);
        var playback = replay.Playback;
        playback.Hosted.AdvanceTo(unit.Start);
        playback.Add(unit);
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
        return UnitSnapshot.Take(unit, playback);
    }
}
