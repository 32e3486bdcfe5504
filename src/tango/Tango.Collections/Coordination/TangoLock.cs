using System.Collections.Immutable;

namespace Tango.Collections;

/// <summary>
/// A lock that processes take in turn. Its holder has it for as long as it renews its lease, which it does by itself;
/// the lock of one that dies is free after the time to live.
/// </summary>
/// <remarks>
/// A holder that is stopped for longer than its time to live does not know that another has the lock by then. What the
/// lock guards must therefore refuse a token that is lower than one it has seen, or be written in transactions that
/// call <see cref="RequireHeldAsync"/>: those commit only while the lock is held. A lock that is deleted and created
/// again gives tokens from 1: what it guarded refuses them until it forgets the old ones.
/// </remarks>
[TangoObject("tango.lock")]
public sealed partial class TangoLock : TangoObject, ITangoLeased
{
    private const string Line = "line";

    // By ticket, in the order of arrival: the first one has the lock. Tickets grow, so that those of holders do.
    private LeaseTable<string> _tickets = new(ImmutableSortedDictionary<long, Leased<string>>.Empty, 0);

    IEnumerable<LeaseInfo> ITangoLeased.Leases => _tickets.Leases;

    ValueTask ITangoLeased.ExpireAsync(long lease, long version, CancellationToken cancellationToken) =>
        ExpireAsync(lease, version, cancellationToken);

    /// <summary>Waits for the lock, behind those that came before. Dispose what it returns to free the lock.</summary>
    /// <param name="timeToLive">After so long without a sign of life from this process, the lock goes to the next one.
    /// Between 10 milliseconds and a day.</param>
    /// <param name="owner">Who has the lock, for people and for <see cref="HolderAsync"/>.</param>
    /// <exception cref="TangoTransactionException">The method is called within a transaction.</exception>
    public async ValueTask<HeldLock> AcquireAsync(
        TimeSpan timeToLive, string owner = "", CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(owner);
        while (true)
        {
            var ticket = await EnterAsync(timeToLive, owner, onlyIfFree: false, cancellationToken);
            if (await IsMyTurnAsync(ticket!, cancellationToken)) return new HeldLock(ticket!);
        }
    }

    /// <summary>The lock if it is free; else null at once.</summary>
    /// <inheritdoc cref="AcquireAsync"/>
    public async ValueTask<HeldLock?> TryAcquireAsync(
        TimeSpan timeToLive, string owner = "", CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(owner);
        var ticket = await EnterAsync(timeToLive, owner, onlyIfFree: true, cancellationToken);
        return ticket is null ? null : new HeldLock(ticket);
    }

    /// <summary>Linearizable. In a transaction: it commits only if the lock is held with this token until
    /// then. Renewals of the lock, and others that wait for it, do not make it abort.</summary>
    /// <exception cref="TangoLeaseLostException">The lock is not held with this token.</exception>
    public async ValueTask RequireHeldAsync(long fencingToken, CancellationToken cancellationToken = default)
    {
        if (await HoldsAsync(fencingToken, cancellationToken)) return;
        throw new TangoLeaseLostException(
            ObjectName, fencingToken, $"'{ObjectName}' is not held with token {fencingToken} any more");
    }

    /// <summary>Renews a lock by its token, for the time to live with which it was taken: for a holder that keeps the
    /// token and not the <see cref="HeldLock"/>, which it let go or which was of another process.</summary>
    /// <returns>False: the lock is not held with this token any more.</returns>
    public async ValueTask<bool> RenewAsync(long fencingToken, CancellationToken cancellationToken = default) =>
        await RenewAsync(new LeaseRenewal(fencingToken), cancellationToken)
        && await HoldsAsync(fencingToken, cancellationToken);

    /// <summary>Frees a lock by its token.</summary>
    /// <returns>False: the lock is not held with this token any more.</returns>
    public async ValueTask<bool> ReleaseAsync(long fencingToken, CancellationToken cancellationToken = default)
    {
        if (!await HoldsAsync(fencingToken, cancellationToken)) return false;
        await LeaveAsync(fencingToken, cancellationToken);
        return true;
    }

    /// <summary>Linearizable: the holder of the lock; not found if it is free. In a transaction it conflicts with
    /// every use of the lock, renewals included.</summary>
    [Accessor]
    public partial ValueTask<Lookup<LockHolder>> HolderAsync(CancellationToken cancellationToken = default);

    /// <summary>The first holder in place of the known one that this process sees; not found while there is none.
    /// </summary>
    internal ValueTask<Lookup<LockHolder>> NextHolderAsync(
        Lookup<LockHolder> known, CancellationToken cancellationToken) =>
        WaitForViewAsync<TangoLock, Lookup<LockHolder>>(
            static view => view.ReadHolder(), holder => holder != known, cancellationToken);

    /// <summary>Linearizable: how many have the lock or wait for it.</summary>
    [Accessor]
    public partial ValueTask<int> CountAsync(CancellationToken cancellationToken = default);

    // Returns zero if it took none. One key for all arrivals: a transaction that requires the lock does not abort.
    [Mutator(1)]
    private partial ValueTask<long> TakeTicketAsync(
        [VersionKey] string line, string owner, long milliseconds, bool onlyIfFree,
        CancellationToken cancellationToken);

    [Mutator(2)]
    private partial ValueTask<bool> RenewAsync([VersionKey] LeaseRenewal ticket, CancellationToken cancellationToken);

    [Mutator(3)]
    private partial ValueTask LeaveAsync([VersionKey] long ticket, CancellationToken cancellationToken);

    [Mutator(4)]
    private partial ValueTask ExpireAsync(
        [VersionKey] long ticket, long version, CancellationToken cancellationToken);

    // Once true for a ticket, it is until the ticket ends, and never again: no lower one is ever given.
    [Accessor]
    private partial ValueTask<bool> IsHolderAsync([VersionKey] long ticket, CancellationToken cancellationToken);

    // The ticket's key tells when it ends, not when it became the first: a snapshot that is behind would refuse a
    // holder. With the whole lock read, such a transaction aborts.
    private async ValueTask<bool> HoldsAsync(long ticket, CancellationToken cancellationToken)
    {
        if (await IsHolderAsync(ticket, cancellationToken)) return true;
        if (IsInTransaction) await HolderAsync(cancellationToken);
        return false;
    }

    private ValueTask<TangoLease?> EnterAsync(
        TimeSpan timeToLive, string owner, bool onlyIfFree, CancellationToken cancellationToken) =>
        GrantLeaseAsync(
            timeToLive,
            async token => await TakeTicketAsync(
                Line, owner, (long)timeToLive.TotalMilliseconds, onlyIfFree, token) is > 0 and var ticket
                ? ticket
                : null,
            (ticket, token) => RenewAsync(new LeaseRenewal(ticket), token), LeaveAsync, cancellationToken);

    /// <returns>False: the ticket ended while it waited, because this process was stopped.</returns>
    private async ValueTask<bool> IsMyTurnAsync(TangoLease ticket, CancellationToken cancellationToken)
    {
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, ticket.Lost);
        try
        {
            // Renewals of others change the lock often: they must not make this one read the log.
            await WaitForViewAsync<TangoLock, bool>(
                view => view.IsBehind(ticket.Id), static isBehind => !isBehind, stop.Token);
            if (await IsHolderAsync(ticket.Id, stop.Token) && ticket.IsHeld) return true;
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
        }
        catch
        {
            await ticket.DisposeAsync();
            throw;
        }

        await ticket.DisposeAsync();
        return false;
    }

#pragma warning disable TANGO024 // Tickets are not taken in transactions.
    private long ApplyTakeTicket(string line, string owner, long milliseconds, bool onlyIfFree)
    {
        if (onlyIfFree && !_tickets.Items.IsEmpty) return 0;
        _tickets = _tickets.Grant(owner, milliseconds);
        return _tickets.Last;
    }
#pragma warning restore TANGO024

    private bool ApplyRenew(LeaseRenewal ticket)
    {
        if (!_tickets.Items.ContainsKey(ticket.Lease)) return false;
        _tickets = _tickets.Renew(ticket.Lease);
        return true;
    }

    private void ApplyLeave(long ticket) => _tickets = _tickets.End(ticket);

    private void ApplyExpire(long ticket, long version)
    {
        if (_tickets.IsSilent(ticket, version)) _tickets = _tickets.End(ticket);
    }

    private bool ReadIsHolder(long ticket) => First() == ticket;

    private bool IsBehind(long ticket) => _tickets.Items.ContainsKey(ticket) && First() != ticket;

    private Lookup<LockHolder> ReadHolder() =>
        First() is { } ticket
            ? Lookup.Of(new LockHolder(ticket, _tickets.Items[ticket].Value))
            : Lookup<LockHolder>.None;

    private int ReadCount() => _tickets.Items.Count;

    private long? First()
    {
        // Only the end of a ticket that has the lock changes this answer. HoldsAsync does not trust another answer.
#pragma warning disable TANGO024
        foreach ((long ticket, _) in _tickets.Items) return ticket;
#pragma warning restore TANGO024
        return null;
    }
}

/// <param name="FencingToken">Higher than that of every earlier holder of the same object.</param>
public readonly record struct LockHolder(long FencingToken, string Owner);

/// <summary>A lock that this process has, until it is disposed or <see cref="Lost"/>.</summary>
public sealed class HeldLock : IAsyncDisposable
{
    private readonly TangoLease _ticket;

    internal HeldLock(TangoLease ticket) => _ticket = ticket;

    /// <summary>Higher than that of every earlier holder: what the lock guards refuses a token that is lower than one
    /// that it has seen.</summary>
    public long FencingToken => _ticket.Id;

    /// <inheritdoc cref="TangoLease.Lost"/>
    public CancellationToken Lost => _ticket.Lost;

    /// <inheritdoc cref="TangoLease.IsHeld"/>
    public bool IsHeld => _ticket.IsHeld;

    /// <summary>Frees the lock.</summary>
    public ValueTask DisposeAsync() => _ticket.DisposeAsync();

    /// <summary>Stops the renewals. The lock is free after the time to live, unless another process renews it by its
    /// token: <see cref="TangoLock.RenewAsync(long, CancellationToken)"/>.</summary>
    public ValueTask LetGoAsync() => _ticket.LetGoAsync();
}
