using System.Collections.Immutable;
using Corfu;
using Tango.Checkpoints;
using Tango.Model;
using Tango.Playback;
using Tango.Records;
using Tango.Runtime;

namespace Tango.History;

/// <summary>Plays cohorts beside the player, up to a past position.</summary>
internal sealed class PastPlayback(
    ICorfuLog log, DirectoryAccess access, PlayedTypes types, CheckpointReader checkpoints, PlaybackContext beside,
    RuntimeLifetime lifetime)
{
    /// <summary>Replays one object up to a past position, with what its group needs to be played.</summary>
    /// <param name="members">The object's cohort.</param>
    /// <param name="type">The object's; other members have views only if their types are known.</param>
    public async ValueTask<Cohort> PlayAsync(
        IReadOnlyList<DirectoryEntry> members, DirectoryEntry entry, TangoObjectType type, LogPosition position,
        CancellationToken cancellationToken)
    {
        type.VerifyFormatters();
        var cohort = new Cohort(members, member => member.Id == entry.Id ? type : types.Find(member));
        if (Planted.Is("past-one-entry-early") && position > LogPosition.Zero) position = new(position.Offset - 1);
        try
        {
            await PlayAsync([cohort], position, cancellationToken);
            return cohort;
        }
        catch (TangoTrimmedException e)
        {
            throw await WithOldestAsync(e, members, position, cancellationToken);
        }
    }

    /// <summary>As <see cref="CohortReplay.PlayAsync"/>; ends with the runtime.</summary>
    /// <exception cref="TangoTransactionException">A transaction flows with the caller.</exception>
    public async ValueTask<ImmutableArray<AwaitedDecision>> PlayAsync(
        IReadOnlyList<Cohort> cohorts, LogPosition end, CancellationToken cancellationToken)
    {
        await access.OpenAsync(cancellationToken);
        return await lifetime.RunAsync(
            stop => CohortReplay.PlayAsync(cohorts, end, beside, stop), cancellationToken);
    }

    private async ValueTask<TangoTrimmedException> WithOldestAsync(
        TangoTrimmedException reason, IReadOnlyList<DirectoryEntry> members, LogPosition position,
        CancellationToken cancellationToken)
    {
        var kept = await new LogSearch(log).FindKeptAsync(cancellationToken);
        var oldest = await checkpoints.FindOldestAsync(members[0].Id, kept, cancellationToken);
        var name = members[0].Id == ObjectId.Directory ? "The directory" : $"'{members[0].Name}'";
        var possible = oldest is { } end
            ? $"its oldest checkpoint above that is of {end.Offset}"
            : "it has no checkpoint above that";
        return new TangoTrimmedException(
            $"{name} cannot be opened as of {position.Offset}: the log is trimmed below {kept.Offset}, and {possible}",
            oldest, reason);
    }
}
