using Corfu;
using Tango.Checkpoints;
using Tango.Playback;
using Tango.Runtime;

namespace Tango;

public sealed partial class TangoRuntime
{
    private readonly CheckpointWriter _checkpointWriter;
    private readonly CheckpointReader _checkpointReader;
    private readonly Checkpointer _checkpointer;
    private readonly ClaimHolders _claimHolders;

    /// <summary>
    /// Writes a checkpoint of the object into the log, from which it can be opened without its history below: state and
    /// versions, as of everything acknowledged before the call. A checkpoint of a group's member has all of the group.
    /// Reads and updates go on meanwhile. The encoded state is held in memory until it is written.
    /// </summary>
    /// <remarks>A call that fails or is cancelled may be repeated; what it wrote has no effect. Several runtimes may
    /// write checkpoints of one object at once.</remarks>
    /// <param name="handle">From <see cref="OpenAsync{T}"/> or <see cref="OpenGroupAsync"/> of this runtime.</param>
    /// <returns>The checkpoint's end: it holds everything of the object below this log position. It is durable, and was
    /// read back from the log and loaded.</returns>
    /// <exception cref="TangoNotHostedException">The handle is write-only.</exception>
    /// <exception cref="TangoReadOnlyException">The handle is of a past state or a second view.</exception>
    /// <exception cref="TangoObjectStoppedException">The object, or one of its group, has stopped.</exception>
    /// <exception cref="TangoDirectoryException">The object was deleted meanwhile.</exception>
    /// <exception cref="CorfuException">The log is full, or cannot be reached. The checkpoint was not
    /// written.</exception>
    /// <exception cref="TangoException">The checkpoint cannot be read back.</exception>
    // The view of a stopped object may be half changed, so that it is not checkpointed (R23).
    public async ValueTask<LogPosition> CheckpointAsync(
        TangoObject handle, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(handle);
        var host = handle.Host as ObjectHost ?? throw new TangoReadOnlyException(handle.ObjectName);
        host.RequireRuntime(this);
        RequireNoTransaction();
        using var use = await host.UseAsync(cancellationToken);
        await OpenDirectoryAsync(cancellationToken);
        await RebuildIfStoppedAsync(use.Hosted.Cohort, cancellationToken);
        return await CheckpointCohortAsync(use.Hosted.Cohort, cancellationToken);
    }

    /// <summary>The directory is a cohort like others: a log whose prefix is trimmed opens from its
    /// checkpoint.</summary>
    internal async ValueTask<LogPosition> CheckpointDirectoryAsync(CancellationToken cancellationToken = default)
    {
        await OpenDirectoryAsync(cancellationToken);
        return await CheckpointCohortAsync(_directoryCohort!, cancellationToken);
    }

    // A directory that has stopped tells nothing any more, and callers of cohorts that were opened must hear of them.
    private (TrimClaims Claims, long MaxSpan)? FindClaims() =>
        _directoryCohort is { } directory
        && Player.Published.Of(directory.Objects[0]) is { Stopped: null, View: TangoDirectory view }
            ? (view.Claims, view.MaxSpan)
            : null;

    private ValueTask<LogPosition> CheckpointByItselfAsync(Cohort cohort, CancellationToken cancellationToken)
    {
        // Playback, which runs for any caller, has started this checkpoint.
        LeaveTransaction();
        return CheckpointCohortAsync(cohort, cancellationToken);
    }

    private async ValueTask TrimByItselfAsync(CancellationToken cancellationToken)
    {
        LeaveTransaction();
        await Trimmer.TrimAsync(cancellationToken);
    }

    private async ValueTask<LogPosition> CheckpointCohortAsync(Cohort cohort, CancellationToken cancellationToken)
    {
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, _lifetime.Token);
        try
        {
            var snapshot = await Player.CaptureAsync(cohort, stop.Token);
            if (Planted.Is("group-checkpointed-at-two-positions"))
            {
                var later = await Player.CaptureAsync(cohort, stop.Token);
                snapshot = later with { Members = later.Members.SetItem(0, snapshot.Members[0]) };
            }

            // As if the writer had stopped before it wrote anything.
            if (Planted.Is("incomplete-checkpoint-counts") && snapshot.End.Offset % 2 == 1)
            {
                await ClaimAsync(cohort, snapshot, stop.Token);
                return snapshot.End;
            }
            await WriteCheckpointAsync(cohort, snapshot, stop.Token);
            if (snapshot.Awaited.Any(static one => !one.IsDecided))
                _claimHolders.Start(
                    cohort.Objects[0].Id, async token => (await Player.CaptureAsync(cohort, token)).Awaited
                    .Where(static one => !one.IsDecided));
            return snapshot.End;
        }
        catch (OperationCanceledException) when (_lifetime.IsCancellationRequested)
        {
            throw new ObjectDisposedException(nameof(TangoRuntime));
        }
    }

    private async ValueTask WriteCheckpointAsync(
        Cohort cohort, CohortSnapshot snapshot, CancellationToken cancellationToken)
    {
        var position = await _checkpointWriter.WriteAsync(snapshot, cancellationToken);
        // The checkpoint counts only if it can be loaded: history may be released on the strength of it.
        var members = snapshot.Members
            .Select(member => new CohortMember(member.Entry, cohort.Find(member.Entry.Id)!.Type)).ToList();
        var loaded = await _checkpointReader.LoadAsync(position, members, cancellationToken);
        cohort.Traffic.CheckpointSize = loaded.Size;
        await ClaimAsync(cohort, snapshot, cancellationToken);
    }

    /// <summary>
    /// Tells the directory, so that the cohort's claim on history rises (R19). R20: a commit record that reads the
    /// cohort may have to be decided from a checkpoint that is not above it. The directory keeps the last one but this.
    /// </summary>
    private async ValueTask ClaimAsync(Cohort cohort, CohortSnapshot checkpoint, CancellationToken cancellationToken)
    {
        var first = cohort.Objects[0].Id;
        var lowest = checkpoint.FindLowestPlace();
        for (var mayRepeat = true; ; mayRepeat = false)
        {
            var claims = await _directory.ReadClaimsAsync(cancellationToken);
            if (!claims.Cohorts.TryGetValue(first, out var claim))
                throw new TangoDirectoryException($"'{cohort.Objects[0].Name}' was deleted");
            try
            {
                var forget = NeedlessBelow(checkpoint, claim);
                await _directory.CheckpointedAsync(first, checkpoint.End, forget, lowest, cancellationToken);
                return;
            }
            catch (TangoRejectedException) when (mayRepeat)
            {
                // Other hosts have raised the claim since it was read, or the cohort was deleted.
            }
            catch (TangoRejectedException e)
            {
                throw new TangoException($"The checkpoint does not count: {e.Reason}", e);
            }
        }
    }

    /// <summary>R20: the claim stays while the last checkpoint that is known here is above an undecided record. If it
    /// is not, that checkpoint stays: another host's may come between, above the record.</summary>
    private LogPosition NeedlessBelow(CohortSnapshot checkpoint, CohortClaim claim)
    {
        if (Planted.Is("forget-ignores-undecided-records")) return checkpoint.End;
        if (checkpoint.Awaited.IsEmpty) return checkpoint.End;
        if (claim.Checkpoint is not { } last || last > checkpoint.Awaited[0].Commit.Position) return claim.Forget;
        return new LogPosition(Math.Max(claim.Forget.Offset, last.Offset - MaxSpan));
    }

    /// <summary>Finds where playback of a cohort starts: at the newest checkpoint not above a position.</summary>
    private async ValueTask<LoadedCohort?> LoadCohortAsync(
        Cohort cohort, LogPosition? notAbove, GroupLookup findGroup, CancellationToken cancellationToken)
    {
        var first = cohort.Objects[0].Id;
        var loaded = await _checkpointReader.LoadNewestAsync(first, FindMembersAsync, notAbove, cancellationToken);
        return loaded is null ? null : LoadedCohort.From(loaded);

        // Another host may have added members, and made a checkpoint, since the cohort was looked up. The directory has
        // no group, and is not asked before it is loaded.
        async ValueTask<IReadOnlyList<CohortMember>> FindMembersAsync(LogPosition end, int count)
        {
            if (cohort.MembersAt(end).Count < count && first != ObjectId.Directory)
                cohort.Know(await findGroup(first, cancellationToken));
            return cohort.MembersAt(end);
        }
    }
}
