using Corfu;
using Tango.Checkpoints;
using Tango.History;

namespace Tango;

public sealed partial class TangoRuntime
{
    // The log is kept for a pending fork for so long, if its caller is gone.
    private static readonly TimeSpan s_forkLease = TimeSpan.FromHours(1);

    /// <summary>
    /// Makes a new object that begins with the state that another one had at a position of the log (Tango 3.1). From
    /// then on both live apart. A member of a group is forked alone, into an object without a group. The source may
    /// have been deleted since.
    /// </summary>
    /// <remarks>
    /// (1) Plays the source up to the position, beside what is open. (2) Creates the object: the record's position is
    /// its base. (3) Writes a checkpoint of that end, and reads it back. (4) Tells the directory that it counts; from
    /// then on the object is there. A call that fails or is cancelled before the last step leaves a name that is taken
    /// and cannot be opened: fork to it again. Without that the name is free, and the log trimmed, with the first trim
    /// after an hour. The encoded state is held in memory until it is written.
    /// </remarks>
    /// <param name="name">The name that the source had at the position. Its type must be known to this program: see
    /// <see cref="TangoOptions.Types"/>.</param>
    /// <param name="at">Everything below is in the fork's first state, nothing at or above.</param>
    /// <param name="newName">Name of the fork. Of two calls to one name at once the later one goes on, and the other is
    /// refused.</param>
    /// <returns>The new object, which is not open yet.</returns>
    /// <exception cref="TangoObjectNotFoundException">There was no such object.</exception>
    /// <exception cref="TangoDirectoryException">The source's type is not known here or is an
    /// <see cref="ITangoIndex"/>, or the new name is taken.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The position is above the log's tail.</exception>
    /// <exception cref="TangoTrimmedException">The log is trimmed further. It names the oldest position that can be
    /// opened.</exception>
    /// <exception cref="TangoObjectStoppedException">The source cannot be played up to there.</exception>
    public async ValueTask<DirectoryEntry> ForkAsync(
        string name, LogPosition at, string newName, CancellationToken cancellationToken = default)
    {
        RequireName(name);
        RequireName(newName);
        await OpenDirectoryAsync(cancellationToken);
        // The record that creates it looks again. This saves the work.
        if (await _directory.FindAsync(newName, cancellationToken) is not null)
            throw new TangoDirectoryException($"'{newName}' exists");
        var history = await OpenHistoryAsync(at, cancellationToken);
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, _lifetime.Token);
        try
        {
            var (source, type) = history.FindForFork(name, _options.Types);
            // Places in an index name calls of the source.
            if (type.IsIndex)
                throw new TangoDirectoryException(
                    $"'{name}' keeps values in the log and cannot be forked: write its values into a new object");
            var state = MemberSnapshot.Take(await history.PlayAsync(source, type, stop.Token));
            return await CreateForkAsync(state, new CohortMember(source, type), at, newName, stop.Token);
        }
        catch (OperationCanceledException) when (_lifetime.IsCancellationRequested)
        {
            throw new ObjectDisposedException(nameof(TangoRuntime));
        }
    }

    /// <summary>As the other overload, with the position that <see cref="OpenHistoryAsync(DateTimeOffset,
    /// CancellationToken)"/> takes for a time.</summary>
    public async ValueTask<DirectoryEntry> ForkAsync(
        string name, DateTimeOffset time, string newName, CancellationToken cancellationToken = default)
    {
        RequireNoTransaction();
        var position = await new LogSearch(_log).FindAsync(time, cancellationToken);
        return await ForkAsync(name, position, newName, cancellationToken);
    }

    private async ValueTask<DirectoryEntry> CreateForkAsync(
        MemberSnapshot state, CohortMember source, LogPosition at, string newName, CancellationToken cancellationToken)
    {
        var (entry, type) = (source.Entry, source.Type!);
        try
        {
            var made = await _directory.CreateForkAsync(
                new TangoDirectory.NewObject(newName, entry.TypeName, entry.VersionCapacity),
                new ForkOrigin(entry.Name, at), s_forkLease, cancellationToken);
            var start = made.Created;
            var first = new MemberSnapshot(made, state.View, VersionTableState.WrittenAt(start));
            var position = await _checkpointWriter.WriteAsync(
                new CohortSnapshot(start, [first], []), cancellationToken);
            // The checkpoint counts only if it can be loaded.
            await _checkpointReader.LoadAsync(position, [new CohortMember(made, type)], cancellationToken);
            await _directory.CheckpointedAsync(made.Id, start, start, null, cancellationToken);
            return made;
        }
        catch (TangoRejectedException e)
        {
            throw new TangoDirectoryException(
                $"'{newName}' was not created: {e.Reason}. Another call may have forked to the name, or the log was "
                + $"trimmed before its first state was written, which it is not for {s_forkLease}");
        }
    }
}
