using System.Collections.Immutable;

namespace Tango.Collections;

/// <summary>
/// A queue of work that many processes share. A received item is its consumer's while that lives: the delivery renews
/// itself. The item of one that dies is delivered again, and set aside as a dead letter after
/// <see cref="MaxAttemptsAsync"/> deliveries.
/// </summary>
/// <remarks>
/// An item may be worked on twice, when a consumer is stopped for longer than its time to live, but it is completed
/// once: <see cref="CompleteAsync(long, long, CancellationToken)"/> refuses an older delivery. Work that is done by
/// writes to objects is done exactly once if the writes and the completion are one transaction.
/// <para>
/// Receivers that wait stand in line, and an item calls the first of them: it costs one record of the log to deliver
/// it, however many wait. One that dies while it is called holds the item up for its time to live at most. A receiver
/// that waits renews its place in line as a consumer renews its delivery.
/// </para>
/// </remarks>
/// <typeparam name="T">Best an immutable type, as the item of <see cref="TangoQueue{T}"/>.</typeparam>
[TangoObject("tango.work-queue")]
public sealed partial class TangoWorkQueue<T> : TangoObject, ITangoLeased
{
    private const string Tail = "tail";
    private const string Head = "head";
    private const string Line = "line";
    private const long NoTicket = 0;

    // Each item is in one of these three; by number, in the order in which they were added.
    private ImmutableSortedDictionary<long, Work<T>> _ready = ImmutableSortedDictionary<long, Work<T>>.Empty;
    private LeaseTable<Work<T>> _delivered = new(ImmutableSortedDictionary<long, Leased<Work<T>>>.Empty, 0);
    private ImmutableSortedDictionary<long, Work<T>> _dead = ImmutableSortedDictionary<long, Work<T>>.Empty;

    // By ticket, in the order of arrival: the receivers that wait. As many are called as there are ready items, the
    // first ones.
    private LeaseTable<Receiver> _line = new(ImmutableSortedDictionary<long, Leased<Receiver>>.Empty, 0);

    private long _lastItem;
    private int _maxAttempts = 5;

    // Tickets and items may have one number: as leases, tickets are below zero.
    IEnumerable<LeaseInfo> ITangoLeased.Leases =>
        _delivered.Leases.Concat(_line.Leases.Select(static ticket => ticket with { Id = -ticket.Id }));

    ValueTask ITangoLeased.ExpireAsync(long lease, long version, CancellationToken cancellationToken) =>
        lease < 0
            ? ExpireTicketAsync(Line, -lease, version, cancellationToken)
            : ExpireAsync(lease, version, cancellationToken);

    /// <summary>Adds an item behind all others. Does not read: transactions that only add never conflict.</summary>
    public ValueTask EnqueueAsync(T item, CancellationToken cancellationToken = default) =>
        AddAsync(Tail, item, cancellationToken);

    /// <summary>Waits for an item, behind the receivers that came before. Dispose what it returns: an item that is not
    /// completed by then is delivered again.</summary>
    /// <param name="timeToLive">After so long without a sign of life from this process, the item is delivered again,
    /// or goes to the next receiver if this one still waited. Between 10 milliseconds and a day.</param>
    /// <exception cref="TangoTransactionException">The method is called within a transaction.</exception>
    public async ValueTask<Delivery<T>> ReceiveAsync(
        TimeSpan timeToLive, CancellationToken cancellationToken = default)
    {
        Delivery<T>? delivery = await TryReceiveAsync(timeToLive, cancellationToken);
        while (delivery is null)
        {
            TangoLease ticket = await StandInLineAsync(timeToLive, cancellationToken);
            try
            {
                if (await IsCalledAsync(ticket, cancellationToken))
                    delivery = await DeliverAsync(ticket.Id, timeToLive, cancellationToken);
                // Taking the item ended the ticket. Without an item it had ended: this process was stopped.
                if (delivery is not null) ticket.Settle();
            }
            finally
            {
                // A receiver that leaves passes its call on.
                await ticket.DisposeAsync();
            }
        }

        return delivery;
    }

    /// <summary>The first item that is ready and not for a receiver that waits; null at once if there is none.
    /// </summary>
    /// <inheritdoc cref="ReceiveAsync"/>
    public ValueTask<Delivery<T>?> TryReceiveAsync(
        TimeSpan timeToLive, CancellationToken cancellationToken = default) =>
        DeliverAsync(NoTicket, timeToLive, cancellationToken);

    /// <summary>
    /// The item is done and leaves the queue. In a transaction it is done if the transaction commits, which aborts if
    /// the item is delivered again before that.
    /// </summary>
    /// <exception cref="TangoRejectedException">The delivery is over: the item was completed or abandoned, or may have
    /// gone to another consumer.</exception>
    public async ValueTask CompleteAsync(Delivery<T> delivery, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(delivery);
        await CompleteAsync(delivery.Item, delivery.Token, cancellationToken);
        OnCommit(delivery.Finish);
    }

    /// <summary>As the other overload, for a consumer that keeps a delivery's numbers.</summary>
    public ValueTask CompleteAsync(long item, long token, CancellationToken cancellationToken = default) =>
        JudgeAsync(FinishAsync(item, token, cancellationToken), cancellationToken);

    /// <summary>The item is delivered again at once, to whichever consumer is next, or becomes a dead letter.
    /// Disposing the delivery does the same.</summary>
    /// <exception cref="TangoRejectedException">As of <see cref="CompleteAsync(Delivery{T}, CancellationToken)"/>.
    /// </exception>
    public async ValueTask AbandonAsync(Delivery<T> delivery, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(delivery);
        await AbandonAsync(delivery.Item, delivery.Token, cancellationToken);
        OnCommit(delivery.Finish);
    }

    /// <summary>As the other overload, for a consumer that keeps a delivery's numbers.</summary>
    public ValueTask AbandonAsync(long item, long token, CancellationToken cancellationToken = default) =>
        JudgeAsync(GiveBackAsync(item, token, cancellationToken), cancellationToken);

    /// <summary>Renews a delivery by its numbers, for the time to live with which it was received: for a consumer that
    /// keeps them and not the <see cref="Delivery{T}"/>, which it let go or which was of another process.</summary>
    /// <returns>False: the delivery is over.</returns>
    public async ValueTask<bool> RenewAsync(long item, long token, CancellationToken cancellationToken = default)
    {
        if (await RenewAsync(new LeaseRenewal(item), token, cancellationToken)) return true;
        await DoubtAsync(cancellationToken);
        return false;
    }

    [Mutator(1, MayReject = true)]
    private partial ValueTask FinishAsync([VersionKey] long item, long token, CancellationToken cancellationToken);

    /// <summary>How often an item is delivered before it becomes a dead letter: 5 unless it was set.</summary>
    [Accessor]
    public partial ValueTask<int> MaxAttemptsAsync(CancellationToken cancellationToken = default);

    /// <summary>From now on. A record in the log: the same for all processes.</summary>
    /// <exception cref="TangoRejectedException">The number is below one.</exception>
    [Mutator(2, MayReject = true)]
    public partial ValueTask SetMaxAttemptsAsync(int attempts, CancellationToken cancellationToken = default);

    /// <summary>Linearizable: how many items are ready to be received, those for receivers that wait included.
    /// </summary>
    [Accessor]
    public partial ValueTask<int> CountAsync(CancellationToken cancellationToken = default);

    /// <summary>Linearizable: how many receivers wait in line.</summary>
    [Accessor]
    public partial ValueTask<int> WaitingAsync(CancellationToken cancellationToken = default);

    /// <summary>Linearizable: how many items consumers have.</summary>
    [Accessor]
    public partial ValueTask<int> DeliveredAsync(CancellationToken cancellationToken = default);

    /// <summary>Linearizable: the items that were delivered in vain, by their numbers.</summary>
    public async ValueTask<ImmutableSortedDictionary<long, T>> DeadLettersAsync(
        CancellationToken cancellationToken = default) =>
        (await DeadAsync(cancellationToken)).ToImmutableSortedDictionary(static p => p.Key, static p => p.Value.Value);

    /// <summary>Makes a dead letter an item again, with all its attempts before it; false if there is no such dead
    /// letter.</summary>
    [Mutator(3)]
    public partial ValueTask<bool> ReviveAsync([VersionKey] long item, CancellationToken cancellationToken = default);

    /// <summary>Drops a dead letter for good; false if there is no such one.</summary>
    [Mutator(4)]
    public partial ValueTask<bool> DropAsync([VersionKey] long item, CancellationToken cancellationToken = default);

    // All additions have the same key: completions in transactions do not conflict with it.
    [Mutator(5)]
    private partial ValueTask AddAsync([VersionKey] string tail, T item, CancellationToken cancellationToken);

    // A receiver that did not stand in line has no ticket, and gets items that call no receiver in line.
    [Mutator(6)]
    private partial ValueTask<Lookup<Taken<T>>> TakeAsync(
        [VersionKey] string head, long ticket, long milliseconds, CancellationToken cancellationToken);

    [Mutator(7)]
    private partial ValueTask<bool> RenewAsync(
        [VersionKey] LeaseRenewal item, long token, CancellationToken cancellationToken);

    [Mutator(8, MayReject = true)]
    private partial ValueTask GiveBackAsync([VersionKey] long item, long token, CancellationToken cancellationToken);

    // As abandoning, for a caller that does not wait for the answer.
    [Mutator(9)]
    private partial ValueTask ReturnAsync([VersionKey] long item, long token, CancellationToken cancellationToken);

    [Mutator(10)]
    private partial ValueTask ExpireAsync(
        [VersionKey] long item, long version, CancellationToken cancellationToken);

    // All tickets have one key, which no transaction reads: completions do not conflict with receivers that wait.
    [Mutator(11)]
    private partial ValueTask<long> EnterAsync(
        [VersionKey] string line, long milliseconds, CancellationToken cancellationToken);

    [Mutator(12)]
    private partial ValueTask<bool> RenewTicketAsync(
        [VersionKey] string line, long ticket, CancellationToken cancellationToken);

    [Mutator(13)]
    private partial ValueTask LeaveAsync([VersionKey] string line, long ticket, CancellationToken cancellationToken);

    [Mutator(14)]
    private partial ValueTask ExpireTicketAsync(
        [VersionKey] string line, long ticket, long version, CancellationToken cancellationToken);

    [Accessor]
    private partial ValueTask<ImmutableSortedDictionary<long, Work<T>>> DeadAsync(CancellationToken cancellationToken);

    [Accessor]
    private partial ValueTask<bool> HasSpareAsync(CancellationToken cancellationToken);

    private async ValueTask<TangoLease> StandInLineAsync(TimeSpan timeToLive, CancellationToken cancellationToken) =>
        (await GrantLeaseAsync(
            timeToLive, async token => await EnterAsync(Line, (long)timeToLive.TotalMilliseconds, token),
            (ticket, token) => RenewTicketAsync(Line, ticket, token),
            (ticket, token) => LeaveAsync(Line, ticket, token), cancellationToken))!;

    /// <summary>Waits until the ticket is called.</summary>
    /// <returns>False: the ticket ended meanwhile, because this process was stopped.</returns>
    private async ValueTask<bool> IsCalledAsync(TangoLease ticket, CancellationToken cancellationToken)
    {
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, ticket.Lost);
        try
        {
            // A view that is behind is good enough: a ticket that was called in it is called until it ends.
            var state = await WaitForViewAsync<TangoWorkQueue<T>, TicketState>(
                view => view.StateOf(ticket.Id), static state => state != TicketState.Waits, stop.Token);
            return state == TicketState.IsCalled;
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            return false;
        }
    }

    private async ValueTask<Delivery<T>?> DeliverAsync(
        long ticket, TimeSpan timeToLive, CancellationToken cancellationToken)
    {
        Delivery<T>? delivery = null;
        var lease = await GrantLeaseAsync(
            timeToLive,
            async token =>
            {
                // No record where there is nothing to take.
                if (ticket == NoTicket && !await HasSpareAsync(cancellationToken)) return null;
                Lookup<Taken<T>> next = await TakeAsync(Head, ticket, (long)timeToLive.TotalMilliseconds, token);
                if (!next.TryGet(out Taken<T> taken)) return null;
                delivery = new Delivery<T>(taken);
                return taken.Item;
            },
            (item, token) => RenewAsync(new LeaseRenewal(item), delivery!.Token, token),
            (item, token) => delivery!.IsOver ? default : ReturnAsync(item, delivery.Token, token),
            cancellationToken);
        delivery?.Keep(lease!);
        return delivery;
    }

    private async ValueTask JudgeAsync(ValueTask call, CancellationToken cancellationToken)
    {
        try
        {
            await call;
        }
        catch (TangoRejectedException)
        {
            await DoubtAsync(cancellationToken);
            throw;
        }
    }

    // The item's key does not tell that it was delivered since: a snapshot that is behind would refuse the delivery.
    // With the whole queue read, such a transaction aborts.
    private async ValueTask DoubtAsync(CancellationToken cancellationToken)
    {
        if (IsInTransaction) await CountAsync(cancellationToken);
    }

    private void ApplyAdd(string tail, T item) => _ready = _ready.Add(++_lastItem, new Work<T>(item, 0, 0));

#pragma warning disable TANGO024 // Items and tickets are not taken in transactions.
    private Lookup<Taken<T>> ApplyTake(string head, long ticket, long milliseconds)
    {
        var mayTake = ticket == NoTicket ? ReadHasSpare() : StateOf(ticket) == TicketState.IsCalled;
        if (!mayTake) return Lookup<Taken<T>>.None;
        (long item, Work<T> work) = _ready.First();
        // No number is given twice, so that this is another token than that of any delivery before.
        Work<T> delivered = work with { Attempt = work.Attempt + 1, Token = _delivered.Last + 1 };
        _delivered = _delivered.Put(item, delivered, milliseconds);
        _ready = _ready.Remove(item);
        _line = _line.End(ticket);
        return Lookup.Of(new Taken<T>(item, delivered.Token, delivered.Attempt, delivered.Value));
    }

    private long ApplyEnter(string line, long milliseconds)
    {
        _line = _line.Grant(default, milliseconds);
        return _line.Last;
    }

    private bool ApplyRenewTicket(string line, long ticket)
    {
        if (!_line.Items.ContainsKey(ticket)) return false;
        _line = _line.Renew(ticket);
        return true;
    }

    // More items than receivers in line: the rest is for those that come by.
    private bool ReadHasSpare()
    {
        if (Planted.Is("called-receiver-is-robbed")) return !_ready.IsEmpty;
        return _ready.Count > _line.Items.Count;
    }

    // A ticket that is called is so until it ends. Items go by a ticket that is called, so that those behind it move
    // up with the items, or where there is one for each in line and another. New tickets come last.
    private TicketState StateOf(long ticket)
    {
        if (!_line.Items.ContainsKey(ticket)) return TicketState.Ended;
        return _line.IsAmong(ticket, _ready.Count) ? TicketState.IsCalled : TicketState.Waits;
    }
#pragma warning restore TANGO024

    private void ApplyLeave(string line, long ticket) => EndTicket(ticket);

    private void ApplyExpireTicket(string line, long ticket, long version)
    {
        if (_line.IsSilent(ticket, version)) EndTicket(ticket);
    }

    private void EndTicket(long ticket)
    {
        if (Planted.Is("call-goes-with-its-receiver") && StateOf(ticket) == TicketState.IsCalled) return;
        _line = _line.End(ticket);
    }

    private bool ApplyRenew(LeaseRenewal item, long token)
    {
        if (!Has(item.Lease, token)) return false;
        _delivered = _delivered.Renew(item.Lease);
        return true;
    }

    private void ApplyFinish(long item, long token)
    {
        if (!Has(item, token)) throw Reject(Over(item, token));
        _delivered = _delivered.End(item);
    }

    private void ApplyGiveBack(long item, long token)
    {
        if (!Has(item, token)) throw Reject(Over(item, token));
        TakeBack(item);
    }

    private void ApplyReturn(long item, long token)
    {
        if (Has(item, token)) TakeBack(item);
    }

    private void ApplyExpire(long item, long version)
    {
        if (_delivered.IsSilent(item, version)) TakeBack(item);
    }

    private void ApplySetMaxAttempts(int attempts)
    {
        if (attempts < 1) throw Reject("an item has at least one attempt");
        _maxAttempts = attempts;
    }

    private bool ApplyRevive(long item)
    {
        if (!_dead.TryGetValue(item, out Work<T>? work)) return false;
        _dead = _dead.Remove(item);
        _ready = _ready.Add(item, work with { Attempt = 0 });
        return true;
    }

    private bool ApplyDrop(long item)
    {
        if (!_dead.ContainsKey(item)) return false;
        _dead = _dead.Remove(item);
        return true;
    }

    private void TakeBack(long item)
    {
#pragma warning disable TANGO024 // The answer does not depend on where the item goes.
        Work<T> work = _delivered.Items[item].Value;
        _delivered = _delivered.End(item);
        if (work.Attempt < _maxAttempts) _ready = _ready.Add(item, work);
        else _dead = _dead.Add(item, work);
#pragma warning restore TANGO024
    }

    private bool Has(long item, long token)
    {
        if (Planted.Is("old-token-completes")) return _delivered.Items.ContainsKey(item);
        return _delivered.Items.TryGetValue(item, out Leased<Work<T>> lease) && lease.Value.Token == token;
    }

    private static string Over(long item, long token) => $"delivery {token} of item {item} is over";

    private int ReadMaxAttempts() => _maxAttempts;

    private int ReadCount() => _ready.Count;

    private int ReadWaiting() => _line.Items.Count;

    private int ReadDelivered() => _delivered.Items.Count;

    private ImmutableSortedDictionary<long, Work<T>> ReadDead() => _dead;
}

/// <summary>A receiver that waits: its ticket says all.</summary>
[MessagePackObject]
internal readonly record struct Receiver;

internal enum TicketState
{
    /// <summary>Took an item, left or expired.</summary>
    Ended,

    /// <summary>There are not more ready items than tickets before it.</summary>
    Waits,

    /// <summary>The first item that is ready may be taken with it.</summary>
    IsCalled,
}

/// <param name="Attempt">How often the item was delivered.</param>
/// <param name="Token">Token of the last delivery.</param>
[MessagePackObject]
internal sealed record Work<T>(
    [property: Key(0)] T Value, [property: Key(1)] int Attempt, [property: Key(2)] long Token);

/// <summary>An item as its consumer gets it.</summary>
[MessagePackObject]
internal readonly record struct Taken<T>(
    [property: Key(0)] long Item, [property: Key(1)] long Token, [property: Key(2)] int Attempt,
    [property: Key(3)] T Value);
