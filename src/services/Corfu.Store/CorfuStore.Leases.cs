using Corfu.Store.Index;
using Corfu.Store.Records;
using Corfu.Store.State;

namespace Corfu.Store;

public sealed partial class CorfuStore
{
    private static readonly TimeSpan s_shortestLease = TimeSpan.FromMilliseconds(10);
    private static readonly TimeSpan s_longestLease = TimeSpan.FromSeconds(9_000_000_000);

    /// <summary>Grants a lease that this process keeps until it is disposed. When it ends, its keys are deleted, at one
    /// revision.</summary>
    /// <param name="timeToLive">Between 10 milliseconds and a day.</param>
    public async ValueTask<TangoLease> KeepLeaseAsync(
        TimeSpan timeToLive, CancellationToken cancellationToken = default)
    {
        RequireUsable();
        try
        {
            return await _index.KeepLeaseAsync(timeToLive, _options.Time, cancellationToken);
        }
        catch (TangoInDoubtException e)
        {
            throw new StoreInDoubtException(e, changesKeys: false);
        }
    }

    /// <summary>Grants a lease that its owner renews by its number, through any process.</summary>
    /// <param name="timeToLive">Between 10 milliseconds and 9,000,000,000 seconds. The lease ends when a process with
    /// the store open has seen no renewal for so long, on its own clock.</param>
    /// <param name="id">Above 0; null: the store chooses one.</param>
    /// <returns>The number.</returns>
    /// <exception cref="StoreLeaseExistsException">The number is another lease's.</exception>
    public async ValueTask<long> GrantLeaseAsync(
        TimeSpan timeToLive, long? id = null, CancellationToken cancellationToken = default)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(timeToLive, s_shortestLease);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(timeToLive, s_longestLease);
        if (id is { } given) ArgumentOutOfRangeException.ThrowIfNegativeOrZero(given, nameof(id));
        var outcome = await UpdateAsync(
            Mutators.Grant, new GrantRecord(id, (long)timeToLive.TotalMilliseconds, Now), cancellationToken);
        Require(outcome);
        return outcome.Number;
    }

    /// <summary>Renews a lease, for its time to live, which is returned.</summary>
    /// <exception cref="StoreLeaseNotFoundException">The lease has ended.</exception>
    public async ValueTask<TimeSpan> RenewLeaseAsync(long id, CancellationToken cancellationToken = default)
    {
        var outcome = await UpdateAsync(Mutators.Renew, new RenewRecord(id, Now), cancellationToken);
        Require(outcome);
        return TimeSpan.FromMilliseconds(outcome.Number);
    }

    /// <summary>Ends a lease, and deletes its keys at one revision.</summary>
    /// <returns>The store's revision, a new one if the lease had keys.</returns>
    /// <exception cref="StoreLeaseNotFoundException">The lease has ended.</exception>
    public async ValueTask<long> EndLeaseAsync(long id, CancellationToken cancellationToken = default)
    {
        var outcome = await UpdateAsync(Mutators.EndLease, new EndLeaseRecord(id, null), cancellationToken);
        Require(outcome);
        return outcome.After.Revision;
    }

    /// <returns>Null: it was not granted, or has ended.</returns>
    public async ValueTask<StoreLease?> FindLeaseAsync(
        long id, ReadAs at = default, CancellationToken cancellationToken = default)
    {
        var state = await StateAsync(at, cancellationToken);
        return state.Leases.TryGetValue(id, out var row) ? ToLease(id, row) : null;
    }

    /// <summary>In the order of numbers.</summary>
    public async ValueTask<ImmutableArray<StoreLease>> ListLeasesAsync(
        ReadAs at = default, CancellationToken cancellationToken = default)
    {
        var state = await StateAsync(at, cancellationToken);
        return [.. state.Leases.Select(lease => ToLease(lease.Key, lease.Value))];
    }

    private long Now => _options.Time.GetUtcNow().ToUnixTimeMilliseconds();

    private StoreLease ToLease(long id, LeaseRow row)
    {
        var remaining = Math.Clamp(row.Milliseconds - (Now - row.RenewedAt), 0, row.Milliseconds);
        return new StoreLease(id, TimeSpan.FromMilliseconds(row.Milliseconds),
            TimeSpan.FromMilliseconds(remaining), [.. row.Keys]);
    }
}
