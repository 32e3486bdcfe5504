using Corfu;
using Tango.Checkpoints;
using Tango.Model;

namespace Tango.Playback;

/// <summary>Finds the newest state from which playback of a cohort can start.</summary>
internal sealed class CohortLoader(CheckpointReader checkpoints)
{
    /// <param name="cohort">The cohort to be played. An object whose <see cref="HostedObject.Type"/> is null needs
    /// versions only.</param>
    /// <param name="notAbove">The latest end that serves; null: any.</param>
    /// <param name="directory">A checkpoint may have members that were added since the cohort was looked up.</param>
    /// <returns>Null: there is none, and playback starts at the beginning of the log.</returns>
    public async ValueTask<LoadedCohort?> LoadAsync(
        Cohort cohort, LogPosition? notAbove, IPlaybackDirectory directory, CancellationToken cancellationToken)
    {
        var first = cohort.Objects[0].Id;
        var loaded = await checkpoints.LoadNewestAsync(first, FindMembersAsync, notAbove, cancellationToken);
        return loaded is null ? null : LoadedCohort.From(loaded);

        // Another host may have added members, and made a checkpoint, since the cohort was looked up. The directory has
        // no group, and is not asked before it is loaded.
        async ValueTask<IReadOnlyList<CohortMember>> FindMembersAsync(LogPosition end, int count)
        {
            if (cohort.MembersAt(end).Count < count && first != ObjectId.Directory)
                cohort.Know(await directory.FindGroupAsync(first, cancellationToken));
            return cohort.MembersAt(end);
        }
    }
}
