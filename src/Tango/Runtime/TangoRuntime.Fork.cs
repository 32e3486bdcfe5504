using Corfu.Protocol;
using Tango.Checkpoints;
using Tango.History;

namespace Tango;

public sealed partial class TangoRuntime
{
    // Each time, the log was trimmed of what was written for the fork before the directory knew it.
    private const int MaxForkAttempts = 8;

    /// <summary>
    /// Makes a new object that begins with the state that another one had at a position of the log (Tango 3.1). From
    /// then on both live apart. A member of a group is forked alone, into an object without a group. The source may
    /// have been deleted since.
    /// </summary>
    /// <remarks>
    /// (1) Plays the source up to the position, beside what is open. (2) Has an id reserved: its record's position is
    /// the fork's base. (3) Writes a checkpoint of that end under the id, and reads it back. (4) Creates the object;
    /// if what was written was trimmed meanwhile, it goes on with 2. A call that fails or is cancelled before the last
    /// step leaves an id that no object gets, and entries that the next trims take. The encoded state is held in memory
    /// until it is written.
    /// </remarks>
    /// <param name="name">The name that the source had at the position. Its type must be known to this program: see
    /// <see cref="TangoOptions.Types"/>.</param>
    /// <param name="at">Everything below is in the fork's first state, nothing at or above.</param>
    /// <param name="newName">Of two calls with one name, one wins.</param>
    /// <returns>The new object, which is not open yet.</returns>
    /// <exception cref="TangoObjectNotFoundException">There was no such object.</exception>
    /// <exception cref="TangoDirectoryException">Its type is not known here or is an <see cref="ITangoIndex"/>, or the
    /// new name is taken.</exception>
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
        // It is looked for again in the end. This saves the work.
        if (await _directory.FindAsync(newName, cancellationToken) is not null)
            throw new TangoDirectoryException($"'{newName}' exists");
        var history = await OpenHistoryAsync(at, cancellationToken);
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, _lifetime.Token);
        try
        {
            var (source, type) = history.FindForFork(name, _options.Types);
            // Its places name calls of the source.
            if (type.IsIndex)
                throw new TangoDirectoryException(
                    $"'{name}' keeps values in the log and cannot be forked: write its values into a new object");
            var state = MemberSnapshot.Take(await history.PlayAsync(source, type, stop.Token));
            return await CreateForkAsync(state, new UnitMember(source, type), at, newName, stop.Token);
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
        MemberSnapshot state, UnitMember source, LogPosition at, string newName, CancellationToken cancellationToken)
    {
        for (var attempt = 0; attempt < MaxForkAttempts; attempt++)
        {
            try
            {
                var (id, start) = await _directory.ReserveIdAsync(cancellationToken);
                var entry = source.Entry with
                {
                    Id = id,
                    Name = newName,
                    Group = null,
                    Birth = null,
                    Origin = new ForkOrigin(source.Entry.Name, at, start),
                };
                // The position was final before the id was given.
                if (at > start) throw new InvalidOperationException($"A fork of {at} from {start} on");
                var first = new MemberSnapshot(entry, state.View, VersionTableState.WrittenAt(start));
                await WriteBaseAsync(new UnitSnapshot(start, [first], []), source.Type!, cancellationToken);
                if (await _directory.CreateForkAsync(entry, start, cancellationToken)) return entry;
            }
            catch (TangoRejectedException e)
            {
                throw new TangoDirectoryException(e.Reason);
            }
        }

        throw new TangoException(
            $"'{newName}' was not created: {MaxForkAttempts} times the log was trimmed faster than the fork's first "
            + "state was written. Try again when less is trimmed, or let a reader hold the log meanwhile");
    }

    /// <summary>It may be trimmed before it is read back: then the directory refuses it.</summary>
    private async ValueTask WriteBaseAsync(
        UnitSnapshot first, TangoObjectType type, CancellationToken cancellationToken)
    {
        var position = await _checkpointWriter.WriteAsync(first, cancellationToken);
        try
        {
            var member = new UnitMember(first.Members[0].Entry, type);
            await _checkpointReader.LoadAsync(position, [member], cancellationToken);
        }
        catch (TangoException)
        {
            var (_, claims) = await _directory.ReadClaimsAsync(cancellationToken);
            if (claims.Released <= first.End) throw;
        }
    }
}
