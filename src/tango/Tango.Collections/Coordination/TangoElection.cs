using System.Runtime.CompilerServices;

namespace Tango.Collections;

/// <summary>
/// Elects one of several processes: the one that has a lock leads. Others find its value, an address for example, by
/// <see cref="LeaderAsync"/>.
/// </summary>
/// <remarks>A leader that is stopped may go on for a moment after another was elected: as with
/// <see cref="TangoLock"/>, what it writes is guarded by its <see cref="HeldLock.FencingToken"/>.</remarks>
/// <param name="mutex">Used for nothing else.</param>
public sealed class TangoElection(TangoLock mutex)
{
    /// <summary>The lock, for <see cref="TangoLock.RequireHeldAsync"/> in the leader's transactions.</summary>
    public TangoLock Lock => mutex;

    /// <summary>Waits until this process leads; it does until it disposes what is returned, or dies.</summary>
    /// <param name="value">Value of the leader, which every other process can read.</param>
    /// <inheritdoc cref="TangoLock.AcquireAsync"/>
    public ValueTask<HeldLock> CampaignAsync(
        string value, TimeSpan timeToLive, CancellationToken cancellationToken = default) =>
        mutex.AcquireAsync(timeToLive, value, cancellationToken);

    /// <summary>Linearizable: the leader now, if there is one. Its <see cref="LockHolder.Owner"/> is the value that it
    /// campaigned with.</summary>
    public ValueTask<Lookup<LockHolder>> LeaderAsync(CancellationToken cancellationToken = default) =>
        mutex.HolderAsync(cancellationToken);

    /// <summary>The leader now, and each that this process sees in its place; none while there is none. A leader that
    /// leads very briefly may be passed over.</summary>
    public async IAsyncEnumerable<Lookup<LockHolder>> LeadersAsync(
        [EnumeratorCancellation] CancellationToken cancellationToken = default)
    {
        var leader = await LeaderAsync(cancellationToken);
        while (true)
        {
            yield return leader;
            leader = await mutex.NextHolderAsync(leader, cancellationToken);
        }
    }
}
