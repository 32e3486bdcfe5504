using System.Globalization;
using System.Runtime.CompilerServices;
using System.Text;
using Corfu.Etcd.Translation;
using Google.Protobuf;

namespace Corfu.Etcd.Serving;

/// <summary>Turns of a lock or an election: keys of leases under one name, of which the first made has the turn. The
/// keys are those that etcd's clients make by themselves, so that both wait for each other.</summary>
internal sealed class Turns(ServedStore served, ByteString name)
{
    // Etcd's for a caller that names no lease. It is never renewed: the turn ends with it.
    private static readonly TimeSpan s_timeToLive = TimeSpan.FromSeconds(60);

    private readonly StoreKey _prefix = new([.. name.Span, (byte)'/']);

    /// <returns>The lease that the caller names, or a new one: 0 names none.</returns>
    public async ValueTask<long> LeaseAsync(long named, CancellationToken cancellationToken) => named != 0
        ? named
        : await served.GrantLeaseAsync(s_timeToLive, 0, cancellationToken).ConfigureAwait(false);

    /// <summary>Makes the key of a lease, unless it is there.</summary>
    /// <param name="value">Null: the value does not count.</param>
    public async ValueTask<Turn> TakeAsync(long lease, ByteString? value, CancellationToken cancellationToken)
    {
        var hex = lease.ToString("x", CultureInfo.InvariantCulture);
        var key = new StoreKey([.. _prefix.Bytes, .. Encoding.ASCII.GetBytes(hex)]);
        var result = await served.TransactAsync(
            StoreTransaction.Empty.If(StoreCondition.Created(key, Relation.Equal, 0))
                .Then(new StorePut(key, (value ?? ByteString.Empty).Memory, lease))
                .Else(new StoreGet(key)), cancellationToken).ConfigureAwait(false);
        if (result.Succeeded) return new Turn(key, result.Revision, result.Revision);
        var there = ((GetAnswer)result.Answers[0]).Found.Entries[0];
        var turn = new Turn(key, there.Created, result.Revision);
        if (value is null || there.Value.Span.SequenceEqual(value.Span)) return turn;
        var replaced = await ReplaceAsync(key, there.Created, lease, value, cancellationToken).ConfigureAwait(false);
        return replaced is { } revision ? turn with { Revision = revision } : throw EtcdErrors.LeaseNotFound;
    }

    /// <summary>Completes when no key is older. A caller that goes away, or whose wait fails, leaves the row: else
    /// those behind it wait for its lease.</summary>
    /// <exception cref="Grpc.Core.RpcException">The key is gone: its lease has ended.</exception>
    public async ValueTask WaitOrLeaveAsync(Turn turn, CancellationToken cancellationToken)
    {
        try
        {
            await WaitAsync(turn, cancellationToken).ConfigureAwait(false);
        }
        catch (Exception)
        {
            try
            {
                await LeaveAsync(turn.Key, turn.Created, CancellationToken.None).ConfigureAwait(false);
            }
            catch (Exception)
            {
                // The caller hears why it waited in vain; the row is left with its lease.
            }

            throw;
        }
    }

    /// <summary>Gives a key another value, if it is still the one that was made then.</summary>
    /// <returns>The revision; null: it is not.</returns>
    public async ValueTask<long?> ReplaceAsync(
        StoreKey key, long created, long lease, ByteString value, CancellationToken cancellationToken)
    {
        var result = await served.TransactAsync(
            StoreTransaction.Empty.If(StoreCondition.Created(key, Relation.Equal, created))
                .Then(new StorePut(key, value.Memory, lease)), cancellationToken).ConfigureAwait(false);
        return result.Succeeded ? result.Revision : null;
    }

    /// <summary>Deletes a key, if it is still the one that was made then.</summary>
    public async ValueTask<long> LeaveAsync(StoreKey key, long created, CancellationToken cancellationToken) =>
        (await served.TransactAsync(
            StoreTransaction.Empty.If(StoreCondition.Created(key, Relation.Equal, created))
                .Then(new StoreDelete(key)), cancellationToken).ConfigureAwait(false)).Revision;

    /// <summary>The key that has the turn, and the store's revision; null: there is none.</summary>
    public async ValueTask<(StoreEntry? First, long Revision)> FindFirstAsync(CancellationToken cancellationToken)
    {
        var found = await served.Store.RangeAsync(
            StoreRange.Prefix(_prefix), cancellationToken: cancellationToken).ConfigureAwait(false);
        return (found.Entries.MinBy(static entry => entry.Created), found.Revision);
    }

    /// <summary>Completes with the next change of a key, from a revision on.</summary>
    public async ValueTask WaitForChangeAsync(long from, CancellationToken cancellationToken)
    {
        await foreach (var _ in served.Store.WatchAsync(
            StoreRange.Prefix(_prefix), from, cancellationToken: cancellationToken).ConfigureAwait(false))
            return;
    }

    /// <summary>The values that a key gets, from a revision on; ends when it is deleted.</summary>
    public async IAsyncEnumerable<StoreEntry> FollowAsync(
        StoreEntry first, long from, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        var told = served.Store.WatchAsync(first.Key, from, cancellationToken: cancellationToken);
        await foreach (var changes in told.ConfigureAwait(false))
        {
            foreach (var change in changes.Changes)
            {
                if (change.IsDeletion) yield break;
                yield return change.Entry;
            }
        }
    }

    private async ValueTask WaitAsync(Turn turn, CancellationToken cancellationToken)
    {
        while (true)
        {
            var found = await served.Store.RangeAsync(
                StoreRange.Prefix(_prefix), new RangeOptions { KeysOnly = true }, cancellationToken: cancellationToken)
                .ConfigureAwait(false);
            if (!found.Entries.Any(entry => entry.Key == turn.Key && entry.Created == turn.Created))
                throw EtcdErrors.LeaseNotFound;
            // The newest of the older ones: each waits for the one before it.
            var before = found.Entries.Where(entry => entry.Created < turn.Created)
                .MaxBy(static entry => entry.Created);
            if (before is null) return;
            await WaitForEndAsync(before.Key, found.Revision + 1, cancellationToken).ConfigureAwait(false);
        }
    }

    private async ValueTask WaitForEndAsync(StoreKey key, long from, CancellationToken cancellationToken)
    {
        var told = served.Store.WatchAsync(key, from, cancellationToken: cancellationToken);
        await foreach (var changes in told.ConfigureAwait(false))
        {
            if (changes.Changes.Any(static change => change.IsDeletion)) return;
        }
    }
}

/// <summary>A key in a row of turns.</summary>
/// <param name="Created">Revision at which it was made, which says its turn.</param>
/// <param name="Revision">The store's after the newest write of it.</param>
internal readonly record struct Turn(StoreKey Key, long Created, long Revision);
