using System.Runtime.CompilerServices;
using Corfu;
using Tango.Feeds;
using Tango.Playback;

namespace Tango;

public sealed partial class TangoRuntime
{
    private readonly FeedPoll _feedPoll;

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
        RequireName(name);
        options ??= new FeedOptions();
        options.Require();
        return ReadChangesAsync<T>(name, after, options, cancellationToken);
    }

    /// <summary>As the other overload, with all changes at or above a position.</summary>
    public IAsyncEnumerable<TangoChange<T>> ChangesAsync<T>(
        string name, LogPosition from, FeedOptions? options = null, CancellationToken cancellationToken = default)
        where T : TangoObject, ITangoObject<T> =>
        ChangesAsync<T>(name, ChangePlace.Before(from), options, cancellationToken);

    /// <summary>Ends the claim of a registered feed whose reader does not come back, without waiting for its
    /// lease.</summary>
    public async ValueTask EndFeedAsync(string name, CancellationToken cancellationToken = default)
    {
        RequireName(name);
        await OpenDirectoryAsync(cancellationToken);
        var claims = await _directory.ReadClaimsAsync(cancellationToken);
        if (claims.Holds.TryGetValue(name, out var hold))
            await _directory.ExpireAsync(name, hold.Version, cancellationToken);
    }

    private async IAsyncEnumerable<TangoChange<T>> ReadChangesAsync<T>(
        string name, ChangePlace? after, FeedOptions options,
        [EnumeratorCancellation] CancellationToken cancellationToken)
        where T : TangoObject, ITangoObject<T>
    {
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, _lifetime.Token);
        var feed = await StartFeedAsync<T>(name, after, options, stop.Token);
        while (true)
        {
            while (feed.TryTake(out var change)) yield return change;
            await AdvanceFeedAsync(feed);
        }
    }

    // Whatever transaction flows into the enumerator is its reader's, not the feed's.
    private async ValueTask<ChangeFeed<T>> StartFeedAsync<T>(
        string name, ChangePlace? after, FeedOptions options, CancellationToken stop)
        where T : TangoObject, ITangoObject<T>
    {
        LeaveTransaction();
        ObjectDisposedException.ThrowIf(_lifetime.IsCancellationRequested, this);
        T.ObjectType.VerifyFormatters();
        try
        {
            var feed = await NewFeedAsync<T>(name, options, stop);
            await feed.StartAsync(after);
            return feed;
        }
        catch (OperationCanceledException) when (_lifetime.IsCancellationRequested)
        {
            throw new ObjectDisposedException(nameof(TangoRuntime));
        }
    }

    private async ValueTask<ChangeFeed<T>> NewFeedAsync<T>(string name, FeedOptions options, CancellationToken stop)
        where T : TangoObject, ITangoObject<T>
    {
        await AttachDirectoryAsync(stop);
        var entry = await FindAsync(name, T.ObjectType, stop);
        var members = await FindCohortAsync(entry, stop);
        var claim = options.Name is null
            ? null
            : new FeedClaim(_directory, _time, options.Name, options.Lease, members[0].Id, FindMaxSpan);
        return NewFeed<T>(entry, members, claim, options, stop);
    }

    private ChangeFeed<T> NewFeed<T>(DirectoryEntry entry, IReadOnlyList<DirectoryEntry> members, FeedClaim? claim,
        FeedOptions options, CancellationToken stop)
        where T : TangoObject, ITangoObject<T>
    {
        return new ChangeFeed<T>(entry, NewCohort, claim, options, _feedPoll, _beside, stop);

        // Versions of the group's other members are enough, to decide transactions.
        Cohort NewCohort() => new(members, member => member.Id == entry.Id ? T.ObjectType : null);
    }

    private async ValueTask<DirectoryEntry> FindAsync(
        string name, TangoObjectType type, CancellationToken cancellationToken)
    {
        var entry = await RequireObjectAsync(name, cancellationToken);
        type.RequireIs(entry);
        return entry;
    }

    private async ValueTask AdvanceFeedAsync<T>(ChangeFeed<T> feed)
        where T : TangoObject, ITangoObject<T>
    {
        LeaveTransaction();
        try
        {
            await feed.AdvanceAsync();
        }
        catch (OperationCanceledException) when (_lifetime.IsCancellationRequested)
        {
            throw new ObjectDisposedException(nameof(TangoRuntime));
        }
    }
}
