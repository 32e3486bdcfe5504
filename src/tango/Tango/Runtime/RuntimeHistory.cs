using Corfu;
using Tango.Feeds;
using Tango.History;
using Tango.Runtime;

namespace Tango;

/// <summary>Past states of a log's objects, and their changes in order: <see cref="TangoRuntime.History"/>.</summary>
public sealed class RuntimeHistory
{
    private readonly HistoryOpener _opener;
    private readonly ObjectForks _forks;
    private readonly FeedOpener _feeds;

    internal RuntimeHistory(HistoryOpener opener, ObjectForks forks, FeedOpener feeds) =>
        (_opener, _forks, _feeds) = (opener, forks, feeds);

    /// <summary>Shows all objects as they were when everything below a position of the log was applied.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The position is above the log's tail.</exception>
    /// <exception cref="TangoTrimmedException">The log is trimmed further. It names the oldest position that can be
    /// opened.</exception>
    /// <exception cref="TangoLevelException">Newer code raised the log's level below the position.</exception>
    public ValueTask<TangoHistory> OpenAsync(LogPosition position, CancellationToken cancellationToken = default) =>
        _opener.OpenAsync(position, cancellationToken);

    /// <summary>
    /// Shows all objects as they were at a time: everything is included up to an entry that was written at the time or
    /// earlier and whose successor was written later, by their writers' clocks. Without a later entry it is all of the
    /// log.
    /// </summary>
    /// <remarks>Several positions meet this where writers' clocks disagree. Entries that lie closer together than the
    /// clocks disagree may be missing or included. All objects are of one position in any case.</remarks>
    /// <exception cref="TangoTrimmedException">The log is trimmed further. It names the oldest position that can be
    /// opened.</exception>
    public async ValueTask<TangoHistory> OpenAsync(
        DateTimeOffset time, CancellationToken cancellationToken = default) =>
        await _opener.OpenAsync(await _opener.FindAsync(time, cancellationToken), cancellationToken);

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
        ObjectNames.Require(name);
        ObjectNames.Require(newName);
        return await _forks.ForkAsync(name, at, newName, cancellationToken);
    }

    /// <summary>As the other overload, with the position that <see cref="OpenAsync(DateTimeOffset,
    /// CancellationToken)"/> takes for a time.</summary>
    public async ValueTask<DirectoryEntry> ForkAsync(
        string name, DateTimeOffset time, string newName, CancellationToken cancellationToken = default) =>
        await ForkAsync(name, await _opener.FindAsync(time, cancellationToken), newName, cancellationToken);

    /// <summary>
    /// Reads what changes an object, in the order of the log: every mutator call that took effect, none twice and none
    /// left out. Calls that the object refused and transactions that aborted have no effect and are not told. The
    /// object need not be open; it is played beside those that are, as fast as its reader takes the changes. Each feed
    /// has a copy of the object's state of its own, and of the group's other members versions only.
    /// </summary>
    /// <remarks>
    /// To go on after a failure, call it again with the place of the last change that was dealt with. A reader that is
    /// overtaken by a trim gets one <see cref="TangoChangeKind.Reset"/> with the newest checkpoint's state, and goes on
    /// from there. Enumerate it once at a time; each enumeration starts anew.
    /// </remarks>
    /// <param name="after">The change before the first one that is wanted; null: what is acknowledged from now
    /// on.</param>
    /// <exception cref="TangoObjectNotFoundException">There is no such object.</exception>
    /// <exception cref="TangoDirectoryException">The object is of another type.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The place is above the log's tail.</exception>
    /// <exception cref="TangoObjectDeletedException">The object was deleted. All its changes were read.</exception>
    /// <exception cref="TangoObjectStoppedException">Apply failed, or a record cannot be read here.</exception>
    /// <exception cref="TangoTrimmedException">History is trimmed, and no newer checkpoint can be
    /// loaded.</exception>
    public IAsyncEnumerable<TangoChange<T>> ChangesAsync<T>(
        string name, ChangePlace? after = null, FeedOptions? options = null,
        CancellationToken cancellationToken = default)
        where T : TangoObject, ITangoObject<T>
    {
        ObjectNames.Require(name);
        options ??= new FeedOptions();
        options.Require();
        return _feeds.ReadAsync<T>(name, after, options, cancellationToken);
    }

    /// <summary>As the other overload, with all changes at or above a position.</summary>
    public IAsyncEnumerable<TangoChange<T>> ChangesAsync<T>(
        string name, LogPosition from, FeedOptions? options = null, CancellationToken cancellationToken = default)
        where T : TangoObject, ITangoObject<T> =>
        ChangesAsync<T>(name, ChangePlace.Before(from), options, cancellationToken);
}
