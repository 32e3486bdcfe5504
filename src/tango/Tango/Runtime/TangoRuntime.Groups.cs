using System.Collections.Immutable;
using Corfu;
using Tango.Calls;
using Tango.Formatting;
using Tango.Records;
using Tango.Runtime;

namespace Tango;

public sealed partial class TangoRuntime
{
    /// <summary>
    /// Opens a group of objects that are always hosted together, creating it with these members if there is none.
    /// Transactions over objects of one group need no decision records. The handles that
    /// <see cref="TangoGroupBuilder.Add{T}"/> returned can be used afterwards.
    /// </summary>
    /// <remarks>Members are matched by name. One that the group does not have is added, empty; others that it has stay,
    /// and are played too.</remarks>
    /// <exception cref="TangoDirectoryException">A member is of another type, or a name is taken by an object that is
    /// not in the group.</exception>
    /// <exception cref="ArgumentException">There is no such group, and no member was named.</exception>
    // Every host of a group has the read sets of the group's transactions (R20).
    public async ValueTask OpenGroupAsync(string group, Action<TangoGroupBuilder> define,
        CancellationToken cancellationToken = default)
    {
        RequireName(group);
        RequireNoTransaction();
        var builder = new TangoGroupBuilder(_options);
        define(builder);
        await OpenDirectoryAsync(cancellationToken);
        var entries = await FindOrCreateGroupAsync(group, builder, cancellationToken);
        var cohort = await _openings.OpenAsync(entries, cancellationToken);
        foreach (var (handle, entry) in builder.Match(entries))
            handle.Attach(new ObjectHost(this, entry, await RequireViewAsync(cohort, entry, cancellationToken)));
    }

    private async ValueTask<ImmutableArray<DirectoryEntry>> FindOrCreateGroupAsync(
        string group, TangoGroupBuilder builder, CancellationToken cancellationToken)
    {
        var entries = await _directory.FindGroupAsync(group, cancellationToken);
        if (entries.IsEmpty)
        {
            if (builder.Members.IsEmpty)
                throw new ArgumentException($"There is no group '{group}', and none is created without members");
            try
            {
                entries = await CreateAsync(group, builder.Members, cancellationToken);
            }
            catch (TangoDirectoryException)
            {
                // Another program may have created it meanwhile, with other members.
                entries = await _directory.FindGroupAsync(group, cancellationToken);
                if (entries.IsEmpty) throw;
            }
        }

        var missing = builder.MissingOf(entries);
        if (missing.Count == 0) return entries;
        foreach (var member in missing) await AddMemberAsync(group, entries[0].Id, member, cancellationToken);
        entries = await _directory.FindGroupAsync(group, cancellationToken);
        return entries.IsEmpty || builder.MissingOf(entries).Count > 0
            ? throw new TangoDirectoryException($"The group '{group}' was changed by another program meanwhile")
            : entries;
    }

    /// <summary>(1) Reserves the name and an id, which the directory alone decides. (2) Adds the member by a record in
    /// the cohort's stream too, which is accepted wherever it is played. A call that fails between leaves a reserved
    /// member, which the next one adds.</summary>
    private async ValueTask AddMemberAsync(
        string group, ObjectId cohort, TangoDirectory.NewObject member, CancellationToken cancellationToken)
    {
        try
        {
            var reserved = await _directory.ReserveMemberAsync(group, member, cancellationToken);
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
                buffer.WrittenMemory, streams, Player, new ApplyResult<DirectoryEntry>());
            Calls.Send(call);
            await CallWaiter.WaitAsync(call, call.Task, cancellationToken);
        }
        catch (TangoRejectedException e)
        {
            throw new TangoDirectoryException(e.Reason);
        }
    }
}
