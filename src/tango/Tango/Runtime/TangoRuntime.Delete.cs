using System.Collections.Immutable;
using Corfu;
using Tango.Calls;
using Tango.Formatting;
using Tango.Records;
using Tango.Runtime;

namespace Tango;

public sealed partial class TangoRuntime
{
    private static readonly LogPosition s_end = new(long.MaxValue);

    /// <summary>
    /// Deletes an object for good. Its name can be used again; handles that are open anywhere fail with
    /// <see cref="TangoObjectDeletedException"/> once their runtimes have played the deletion. An update that another
    /// runtime sends before that may be acknowledged and have no effect. A member of a group leaves it, and the group
    /// goes on: its checkpoints need no program any more that knows the member's type.
    /// </summary>
    /// <remarks>The place of a member among the 256 of its group is not free again. A program that opens the group and
    /// names the member adds it again, empty.</remarks>
    /// <exception cref="TangoObjectNotFoundException">There is no such object.</exception>
    /// <exception cref="TangoDirectoryException">The object is the first member of a group, which is deleted as a
    /// whole; or another call deleted it meanwhile.</exception>
    public async ValueTask DeleteAsync(string name, CancellationToken cancellationToken = default)
    {
        RequireName(name);
        await OpenDirectoryAsync(cancellationToken);
        var entry = await RequireObjectAsync(name, cancellationToken);
        if (entry.Group is null)
        {
            await SendDeletionAsync(entry, [entry], cancellationToken);
            return;
        }

        var first = (await FindCohortAsync(entry, cancellationToken))[0];
        if (first.Id == entry.Id)
            throw new TangoDirectoryException(
                $"'{name}' is the first member of the group '{entry.Group}', and goes with the group as a whole only");
        await SendDeletionAsync(entry, [first, entry], cancellationToken);
    }

    /// <summary>Deletes a group with all its members, as <see cref="DeleteAsync"/>.</summary>
    /// <exception cref="TangoObjectNotFoundException">There is no such group.</exception>
    public async ValueTask DeleteGroupAsync(string group, CancellationToken cancellationToken = default)
    {
        RequireName(group);
        await OpenDirectoryAsync(cancellationToken);
        var members = await _directory.FindGroupAsync(group, cancellationToken);
        if (members.IsEmpty) throw NoGroup(group);
        await SendDeletionAsync(members[0], members, cancellationToken);
    }

    private static TangoObjectNotFoundException NoGroup(string group) => new(group, $"There is no group '{group}'");

    internal bool IsDeleted(ObjectId id) => IsDeletedBefore(id, s_end);

    private bool IsDeletedBefore(ObjectId id, LogPosition position) =>
        _directoryCohort is { } cohort
        && Player.Published.Of(cohort.Objects[0]).View is TangoDirectory directory
        && directory.IsDeletedBefore(id, position);

    /// <summary>The directory's record stands in an entry of the members' streams too: all are told at one
    /// place.</summary>
    private async ValueTask SendDeletionAsync(
        DirectoryEntry deleted, ImmutableArray<DirectoryEntry> told, CancellationToken cancellationToken)
    {
        var buffer = new ArgumentBuffer();
        var writer = new MessagePackWriter(buffer);
        RecordFormat.WriteUpdate(
            ref writer, ObjectId.Directory, TangoDirectory.Mutators.Delete, ObjectKey.None,
            ClaimFormat.Delete(deleted.Id).WrittenSpan);
        writer.Flush();
        ImmutableArray<StreamId> streams =
            [ObjectId.Directory.Stream, .. told.Select(static member => member.Id.Stream)];
        var call = new UpdateCall<ValueTuple>(buffer.WrittenMemory, streams, Player, null);
        Calls.Send(call);
        try
        {
            await CallWaiter.WaitAsync(call, call.Task, cancellationToken);
        }
        catch (TangoRejectedException)
        {
            throw new TangoDirectoryException($"'{deleted.Name}' was deleted already");
        }
    }
}
