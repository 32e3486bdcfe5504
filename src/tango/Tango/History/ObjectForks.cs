using Corfu;
using Tango.Model;
using Tango.Runtime;
using Tango.Upkeep;

namespace Tango.History;

/// <summary>Makes new objects that begin with a past state of others.</summary>
internal sealed class ObjectForks(
    DirectoryAccess access, HistoryOpener histories, CountedCheckpoints checkpoints, TangoTypeRegistry types,
    RuntimeLifetime lifetime)
{
    // The log is kept for a pending fork for so long, if its caller is gone.
    private static readonly TimeSpan s_lease = TimeSpan.FromHours(1);

    /// <inheritdoc cref="RuntimeHistory.ForkAsync(string, LogPosition, string, CancellationToken)"/>
    public async ValueTask<DirectoryEntry> ForkAsync(
        string name, LogPosition at, string newName, CancellationToken cancellationToken)
    {
        var directory = await access.OpenAsync(cancellationToken);
        // The record that creates it looks again. This saves the work.
        if (await directory.FindAsync(newName, cancellationToken) is not null)
            throw new TangoDirectoryException($"'{newName}' exists");
        var history = await histories.OpenAsync(at, cancellationToken);
        return await lifetime.RunAsync(
            async stop =>
            {
                var (source, type) = history.FindForFork(name, types);
                // Places in an index name calls of the source.
                if (type.IsIndex)
                    throw new TangoDirectoryException(
                        $"'{name}' keeps values in the log and cannot be forked: write its values into a new object");
                var state = MemberSnapshot.Take(await history.PlayAsync(source, type, stop));
                return await CreateAsync(directory, state, new CohortMember(source, type), at, newName, stop);
            }, cancellationToken);
    }

    private async ValueTask<DirectoryEntry> CreateAsync(
        TangoDirectory directory, MemberSnapshot state, CohortMember source, LogPosition at, string newName,
        CancellationToken cancellationToken)
    {
        var entry = source.Entry;
        try
        {
            var made = await directory.CreateForkAsync(
                new TangoDirectory.NewObject(newName, entry.TypeName, entry.VersionCapacity),
                new ForkOrigin(entry.Name, at), s_lease, cancellationToken);
            var start = made.Created;
            var first = new MemberSnapshot(made, state.View, VersionTableState.WrittenAt(start));
            await checkpoints.WriteAsync(
                new CohortSnapshot(start, [first], []), [source with { Entry = made }], cancellationToken);
            await directory.CheckpointedAsync(made.Id, start, start, null, cancellationToken);
            return made;
        }
        catch (TangoRejectedException e)
        {
            throw new TangoDirectoryException(
                $"'{newName}' was not created: {e.Reason}. Another call may have forked to the name, or the log was "
                + $"trimmed before its first state was written, which it is not for {s_lease}");
        }
    }
}
