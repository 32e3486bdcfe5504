using System.Collections.Immutable;
using Corfu;
using Tango.Calls;
using Tango.Playback;
using Tango.Records;

namespace Tango.Runtime;

/// <summary>Deletes objects and groups for good.</summary>
internal sealed class ObjectDeleter(DirectoryAccess access, CallBatcher calls, Player player)
{
    /// <inheritdoc cref="RuntimeDirectory.DeleteAsync"/>
    public async ValueTask DeleteAsync(string name, CancellationToken cancellationToken)
    {
        var directory = await access.OpenAsync(cancellationToken);
        var entry = await DirectoryAccess.RequireAsync(directory, name, cancellationToken);
        if (entry.Group is null)
        {
            await SendAsync(entry, [entry], cancellationToken);
            return;
        }

        var first = (await DirectoryAccess.FindCohortAsync(directory, entry, cancellationToken))[0];
        if (first.Id == entry.Id)
            throw new TangoDirectoryException(
                $"'{name}' is the first member of the group '{entry.Group}', and goes with the group as a whole only");
        await SendAsync(entry, [first, entry], cancellationToken);
    }

    /// <inheritdoc cref="RuntimeDirectory.DeleteGroupAsync"/>
    public async ValueTask DeleteGroupAsync(string group, CancellationToken cancellationToken)
    {
        var directory = await access.OpenAsync(cancellationToken);
        var members = await directory.FindGroupAsync(group, cancellationToken);
        if (members.IsEmpty) throw new TangoObjectNotFoundException(group, $"There is no group '{group}'");
        await SendAsync(members[0], members, cancellationToken);
    }

    /// <summary>The directory's record stands in an entry of the members' streams too: all are told at one
    /// place.</summary>
    private async ValueTask SendAsync(
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
        var call = new UpdateCall<ValueTuple>(buffer.WrittenMemory, streams, player, null)
        {
            Writes = CallScopes.Units(streams),
        };
        calls.Send(call);
        try
        {
            await call.WaitAsync(call.Task, cancellationToken);
        }
        catch (TangoRejectedException)
        {
            throw new TangoDirectoryException($"'{deleted.Name}' was deleted already");
        }
    }
}
