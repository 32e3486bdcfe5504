using Corfu;
using Tango.Checkpoints;
using Tango.Playback;

namespace Tango;

public sealed partial class TangoRuntime
{
    /// <summary>
    /// As the other overload, by name; the object need not be open. One that is not is loaded beside the others and
    /// played up to now, and its memory is released afterwards.
    /// </summary>
    /// <exception cref="TangoObjectNotFoundException">There is no such object.</exception>
    /// <exception cref="TangoDirectoryException">This program does not know its type or that of a member of its
    /// group: see <see cref="TangoOptions.Types"/>.</exception>
    /// <exception cref="TangoTrimmedException">The object's history is trimmed, and no checkpoint can be
    /// loaded.</exception>
    public async ValueTask<LogPosition> CheckpointAsync(string name, CancellationToken cancellationToken = default)
    {
        RequireName(name);
        await OpenDirectoryAsync(cancellationToken);
        var entry = await RequireObjectAsync(name, cancellationToken);
        var members = await FindCohortAsync(entry, cancellationToken);
        if (!_openings.IsOpen(members[0].Id)) return await CheckpointUnhostedAsync(members, cancellationToken);
        var cohort = await _openings.UseAsync(members, cancellationToken);
        try
        {
            return await CheckpointCohortAsync(cohort, cancellationToken);
        }
        finally
        {
            _openings.EndUse(cohort);
        }
    }

    private async ValueTask<LogPosition> CheckpointUnhostedAsync(
        IReadOnlyList<DirectoryEntry> members, CancellationToken cancellationToken)
    {
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, _lifetime.Token);
        try
        {
            // By id: the record that added a member does not say that it was removed since.
            var removed = members.Where(static member => member.Removed is not null)
                .Select(static member => member.Id).ToHashSet();
            var cohort = new Cohort(
                members, member => removed.Contains(member.Id) ? null : _options.Types.Get(member));
            await Player.SyncAsync(stop.Token);
            var snapshot = await UnhostedCohort.PlayAsync(cohort, PlayedTo, _beside, stop.Token);
            await WriteCheckpointAsync(cohort, snapshot, stop.Token);
            if (!snapshot.Awaited.IsEmpty) _claimHolders.Start(members[0].Id, _ => new(snapshot.Awaited));
            return snapshot.End;
        }
        catch (OperationCanceledException) when (_lifetime.IsCancellationRequested)
        {
            throw new ObjectDisposedException(nameof(TangoRuntime));
        }
    }

    /// <summary>A cohort that is not open here, if this program can play all of it.</summary>
    private IReadOnlyList<DirectoryEntry>? FindUnhosted(ObjectId first)
    {
        if (_openings.IsOpen(first)) return null;
        var members = LastDirectoryView.GroupOf(first);
        return members.Count > 0 && members.All(
            member => member.Removed is not null || _options.Types.TryGet(member.TypeName, out _))
            ? members
            : null;
    }

    private async ValueTask CheckpointUnhostedByItselfAsync(
        IReadOnlyList<DirectoryEntry> members, CancellationToken cancellationToken)
    {
        LeaveTransaction();
        await CheckpointUnhostedAsync(members, cancellationToken);
    }
}
