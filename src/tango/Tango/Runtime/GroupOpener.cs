using System.Collections.Immutable;
using Corfu;
using Tango.Calls;
using Tango.Playback;
using Tango.Records;

namespace Tango.Runtime;

/// <summary>Opens groups, creates them, and adds members to those that lack them (R20).</summary>
internal sealed class GroupOpener(DirectoryAccess access, ObjectOpener opener, CallBatcher calls, Player player)
{
    /// <summary>Opens the group with the members that were named.</summary>
    public async ValueTask OpenAsync(string group, TangoGroupBuilder builder, CancellationToken cancellationToken)
    {
        var directory = await access.OpenAsync(cancellationToken);
        var entries = await FindOrCreateAsync(directory, group, builder, cancellationToken);
        await opener.AttachAsync(builder.Match(entries), entries, cancellationToken);
    }

    private async ValueTask<ImmutableArray<DirectoryEntry>> FindOrCreateAsync(
        TangoDirectory directory, string group, TangoGroupBuilder builder, CancellationToken cancellationToken)
    {
        var entries = await directory.FindGroupAsync(group, cancellationToken);
        if (entries.IsEmpty)
        {
            if (builder.Members.IsEmpty)
                throw new ArgumentException($"There is no group '{group}', and none is created without members");
            try
            {
                entries = await opener.CreateAsync(directory, group, builder.Members, cancellationToken);
            }
            catch (TangoDirectoryException)
            {
                // Another program may have created it meanwhile, with other members.
                entries = await directory.FindGroupAsync(group, cancellationToken);
                if (entries.IsEmpty) throw;
            }
        }

        var missing = builder.MissingOf(entries);
        if (missing.Count == 0) return entries;
        foreach (var member in missing)
            await AddMemberAsync(directory, group, entries[0].Id, member, cancellationToken);
        entries = await directory.FindGroupAsync(group, cancellationToken);
        return entries.IsEmpty || builder.MissingOf(entries).Count > 0
            ? throw new TangoDirectoryException($"The group '{group}' was changed by another program meanwhile")
            : entries;
    }

    /// <summary>(1) Reserves the name and an id, which the directory alone decides. (2) Adds the member by a record in
    /// the cohort's stream too, which is accepted wherever it is played. A call that fails between leaves a reserved
    /// member, which the next one adds.</summary>
    private async ValueTask AddMemberAsync(
        TangoDirectory directory, string group, ObjectId cohort, TangoDirectory.NewObject member,
        CancellationToken cancellationToken)
    {
        try
        {
            var reserved = await directory.ReserveMemberAsync(group, member, cancellationToken);
            // Another member may have got the name meanwhile; the first one's stream would be named twice below.
            if (reserved.Birth is not null || reserved.Id == cohort) return;
            var buffer = new ArgumentBuffer();
            var writer = new MessagePackWriter(buffer);
            RecordFormat.WriteUpdate(
                ref writer, ObjectId.Directory, TangoDirectory.Mutators.AddMember, ObjectKey.None,
                DirectoryFormat.AddMember(cohort, reserved).WrittenSpan);
            writer.Flush();
            ImmutableArray<StreamId> streams = [ObjectId.Directory.Stream, cohort.Stream, reserved.Id.Stream];
            var call = new UpdateCall<DirectoryEntry>(
                buffer.WrittenMemory, streams, player, new ApplyResult<DirectoryEntry>())
            {
                Writes = CallScopes.Addition(cohort, reserved.Id),
            };
            calls.Send(call);
            await call.WaitAsync(call.Task, cancellationToken);
        }
        catch (TangoRejectedException e)
        {
            throw new TangoDirectoryException(e.Reason);
        }
    }
}
