using System.Runtime.CompilerServices;
using Corfu;
using Tango.Model;
using Tango.Playback;
using Tango.Runtime;
using Tango.Transactions;

namespace Tango.Feeds;

/// <summary>Opens feeds of objects' changes, for programs and for second views.</summary>
internal sealed class FeedOpener(
    DirectoryAccess access, TransactionFlow flow, PlayedDirectory directory, PlaybackContext beside, FeedPoll poll,
    RuntimeLifetime lifetime)
{
    /// <summary>Each enumeration is a feed of its own.</summary>
    public async IAsyncEnumerable<TangoChange<T>> ReadAsync<T>(
        string name, ChangePlace? after, FeedOptions options,
        [EnumeratorCancellation] CancellationToken cancellationToken)
        where T : TangoObject, ITangoObject<T>
    {
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, lifetime.Token);
        ChangeFeed<T> feed = null!;
        await RunAsync(async () => feed = await StartAsync<T>(name, after, options, stop.Token));
        while (true)
        {
            while (feed.TryTake(out var change)) yield return change;
            await RunAsync(feed.AdvanceAsync);
        }
    }

    /// <param name="claim">Null: the feed is not registered.</param>
    public ChangeFeed<T> Create<T>(DirectoryEntry entry, IReadOnlyList<DirectoryEntry> members, FeedClaim? claim,
        FeedOptions options, CancellationToken stop)
        where T : TangoObject, ITangoObject<T>
    {
        return new ChangeFeed<T>(entry, NewCohort, claim, options, poll, beside, stop);

        // Versions of the other members of its group are enough to decide transactions.
        Cohort NewCohort() => new(members, member => member.Id == entry.Id ? T.ObjectType : null);
    }

    private async ValueTask<ChangeFeed<T>> StartAsync<T>(
        string name, ChangePlace? after, FeedOptions options, CancellationToken stop)
        where T : TangoObject, ITangoObject<T>
    {
        RuntimeLifetime.ThrowIfEnded(lifetime.Token);
        T.ObjectType.VerifyFormatters();
        var handle = await access.OpenAsync(stop);
        var entry = await DirectoryAccess.RequireAsync(handle, name, T.ObjectType, stop);
        var members = await DirectoryAccess.FindCohortAsync(handle, entry, stop);
        var claim = options.Name is null
            ? null
            : new FeedClaim(handle, beside.Time, options.Name, options.Lease, members[0].Id, directory);
        var feed = Create<T>(entry, members, claim, options, stop);
        await feed.StartAsync(after);
        return feed;
    }

    /// <summary>A transaction that flows into the enumerator is its reader's, not the feed's.</summary>
    private async ValueTask RunAsync(Func<ValueTask> step)
    {
        flow.Leave();
        try
        {
            await step();
        }
        catch (OperationCanceledException) when (lifetime.HasEnded)
        {
            throw RuntimeLifetime.Ended();
        }
    }
}
