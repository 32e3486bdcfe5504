using System.Collections.Immutable;
using Corfu;
using Tango.Checkpoints;
using Tango.History;
using Tango.Playback;

namespace Tango;

public sealed partial class TangoRuntime
{
    // For playback that runs beside the player.
    private readonly PlaybackContext _beside;

    /// <summary>Shows all objects as they were when everything below a position of the log was applied.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The position is above the log's tail.</exception>
    /// <exception cref="TangoTrimmedException">The log is trimmed further. It names the oldest position that can be
    /// opened.</exception>
    /// <exception cref="TangoLevelException">Newer code raised the log's level below the position.</exception>
    public async ValueTask<TangoHistory> OpenHistoryAsync(
        LogPosition position, CancellationToken cancellationToken = default)
    {
        RequireNoTransaction();
        var entry = TangoDirectory.OwnEntry;
        var cohort = await ReplayAsync([entry], entry, _directoryType, position, cancellationToken);
        // R23: what was named behind a record that this code cannot read is not known here.
        if (cohort.Objects[0].Stopped is { } stopped) throw stopped.Told;
        return new TangoHistory(this, position, cohort.Objects[0]);
    }

    /// <summary>
    /// Shows all objects as they were at a time: everything is included up to an entry that was written at the time or
    /// earlier and whose successor was written later, by their writers' clocks. Without a later entry it is all of the
    /// log.
    /// </summary>
    /// <remarks>Several positions meet this where writers' clocks disagree. Entries that lie closer together than the
    /// clocks disagree may be missing or included. All objects are of one position in any case.</remarks>
    /// <exception cref="TangoTrimmedException">The log is trimmed further. It names the oldest position that can be
    /// opened.</exception>
    public async ValueTask<TangoHistory> OpenHistoryAsync(
        DateTimeOffset time, CancellationToken cancellationToken = default)
    {
        RequireNoTransaction();
        var position = await new LogSearch(_log).FindAsync(time, cancellationToken);
        return await OpenHistoryAsync(position, cancellationToken);
    }

    /// <summary>Replays one object up to a past position, with what its group needs to be played.</summary>
    /// <param name="members">The object's cohort.</param>
    /// <param name="type">The object's; other members have views only if their types are known.</param>
    internal async ValueTask<Cohort> ReplayAsync(
        IReadOnlyList<DirectoryEntry> members, DirectoryEntry entry, TangoObjectType type, LogPosition position,
        CancellationToken cancellationToken)
    {
        RequireNoTransaction();
        type.VerifyFormatters();
        var cohort = new Cohort(members, member => member.Id == entry.Id ? type : TypeOf(member));
        if (Planted.Is("past-one-entry-early") && position > LogPosition.Zero) position = new(position.Offset - 1);
        try
        {
            await ReplayAsync([cohort], position, cancellationToken);
            return cohort;
        }
        catch (TangoTrimmedException e)
        {
            throw await WithOldestAsync(e, members, position, cancellationToken);
        }
    }

    /// <summary>As <see cref="CohortReplay.PlayAsync"/>; ends with the runtime.</summary>
    internal async ValueTask<ImmutableArray<AwaitedDecision>> ReplayAsync(
        IReadOnlyList<Cohort> cohorts, LogPosition end, CancellationToken cancellationToken)
    {
        await AttachDirectoryAsync(cancellationToken);
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, _lifetime.Token);
        try
        {
            return await CohortReplay.PlayAsync(cohorts, end, _beside, stop.Token);
        }
        catch (OperationCanceledException) when (_lifetime.IsCancellationRequested)
        {
            throw new ObjectDisposedException(nameof(TangoRuntime));
        }
    }

    private async ValueTask<TangoTrimmedException> WithOldestAsync(
        TangoTrimmedException reason, IReadOnlyList<DirectoryEntry> members, LogPosition position,
        CancellationToken cancellationToken)
    {
        var kept = await new LogSearch(_log).FindKeptAsync(cancellationToken);
        var oldest = await _checkpointReader.FindOldestAsync(members[0].Id, kept, cancellationToken);
        var name = members[0].Id == ObjectId.Directory ? "The directory" : $"'{members[0].Name}'";
        var possible = oldest is { } end
            ? $"its oldest checkpoint above that is of {end.Offset}"
            : "it has no checkpoint above that";
        return new TangoTrimmedException(
            $"{name} cannot be opened as of {position.Offset}: the log is trimmed below {kept.Offset}, and {possible}",
            oldest, reason);
    }
}
