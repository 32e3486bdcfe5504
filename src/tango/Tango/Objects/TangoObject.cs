using System.Collections.Immutable;

namespace Tango;

/// <summary>
/// Base of every replicated object (Tango 3.1). The handle that users hold and the view that playback changes are two
/// instances of the same class: the handle's methods forward to the runtime, only the view's fields carry state. Every
/// instance field must hold an immutable value, so that a shallow copy of the view is a snapshot of it.
/// </summary>
public abstract class TangoObject
{
    // Set once when a handle is made; null on views, so that a view can never reach the log.
    private IObjectHost? _host;

    /// <summary>The name the object was opened under.</summary>
    /// <exception cref="InvalidOperationException">This instance is not an opened handle.</exception>
    public string ObjectName => Host.Name;

    /// <summary>The same for all handles of the object, for ever, and of no other object.</summary>
    /// <exception cref="InvalidOperationException">This instance is not an opened handle.</exception>
    /// <exception cref="TangoReadOnlyException">The handle is of a past state or a second view.</exception>
    public ObjectId ObjectId => Host.Id;

    internal IObjectHost Host => _host ?? throw new InvalidOperationException(
        $"This {GetType().Name} is not open: get one from TangoRuntime.OpenAsync, and never call its public methods "
        + "from Apply or Read methods.");

    /// <summary>Whether calls of this handle, made here, belong to a transaction.</summary>
    protected bool IsInTransaction => Host.IsInTransaction;

    /// <summary>For what this process is to do once calls of this handle have taken effect. At once outside a
    /// transaction; in one, when its <see cref="TangoTransaction.EndTxAsync"/> knows that it committed. Where it aborts
    /// or ends in doubt: never.</summary>
    /// <param name="action">Must not fail.</param>
    /// <exception cref="TangoTransactionException">The transaction has ended.</exception>
    protected void OnCommit(Action action) => Host.OnCommit(action);

    internal void Attach(IObjectHost host) => _host = host;

    internal TangoObject CloneView() => (TangoObject)MemberwiseClone();

    /// <summary>
    /// Makes the declared rejection of a mutator: <c>throw Reject("...")</c>, before any change. It is recorded
    /// alike everywhere and told to the caller; it does not undo a transaction's other writes.
    /// </summary>
    // A refused call has changed nothing, so that the transaction's other writes can stand (R23).
    protected static TangoRejectedException Reject(string reason) => new(reason);

    /// <summary>
    /// update_helper of Tango 3.1, for generated code. Completes when the update is durable in the log; when
    /// <see cref="MutatorInfo.Reads"/>, once it has been applied. In a transaction it buffers the update instead.
    /// </summary>
    /// <exception cref="TangoRejectedException">The object rejected the update (only with
    /// <see cref="MutatorInfo.Reads"/>).</exception>
    /// <exception cref="TangoInDoubtException">The update may or may not be in the log.</exception>
    protected ValueTask UpdateHelperAsync(
        MutatorInfo mutator, ObjectKey key, ArgumentBuffer arguments, CancellationToken cancellationToken) =>
        Host.UpdateAsync(mutator, key, arguments, cancellationToken);

    /// <summary>As the other overload, for a mutator that returns what its Apply computed.</summary>
    protected ValueTask<TResult> UpdateHelperAsync<TResult>(
        MutatorInfo mutator, ObjectKey key, ArgumentBuffer arguments, CancellationToken cancellationToken) =>
        Host.UpdateAsync<TResult>(mutator, key, arguments, cancellationToken);

    /// <summary>
    /// Sends an update as <see cref="UpdateHelperAsync(MutatorInfo, ObjectKey, ArgumentBuffer, CancellationToken)"/>
    /// does, without a task: for programs that have many updates under way and must know the fate of each before later
    /// ones are sent. With <see cref="TangoOptions.MaxAppendsInFlight"/> 1 posts of a handle stand in the log in the
    /// order of the calls. The runtime plays up to the update if it hosts the object and the mutator
    /// <see cref="MutatorInfo.Reads"/>.
    /// </summary>
    /// <exception cref="TangoTransactionException">The calling code is in a transaction.</exception>
    /// <exception cref="TangoBusyException">Too many calls are waiting, or too many bytes.</exception>
    /// <exception cref="TangoTooLargeException">The update does not fit into an entry.</exception>
    /// <exception cref="TangoObjectStoppedException">The object has stopped.</exception>
    protected TangoPost PostHelper(
        MutatorInfo mutator, ObjectKey key, ArgumentBuffer arguments, IPostSink sink) =>
        Host.Post(mutator, key, arguments, sink);

    /// <summary>
    /// query_helper of Tango 3.1, for generated code: brings the view up to the log's tail, then reads it. In a
    /// transaction it reads the transaction's snapshot and adds the key, or the whole object, to the read set.
    /// </summary>
    /// <param name="read">Called with the view; must not keep it. A static lambda with all inputs in
    /// <paramref name="state"/>.</param>
    protected ValueTask<TResult> QueryHelperAsync<TView, TState, TResult>(
        ObjectKey key, TState state, Func<TView, TState, TResult> read, CancellationToken cancellationToken)
        where TView : TangoObject =>
        Host.QueryAsync(key, state, read, cancellationToken);

    /// <summary>
    /// Reads a call of this object from the log, for a class that keeps places in place of values
    /// (<see cref="ITangoIndex"/>): one read of the log. In a transaction, the calls that it has buffered are read
    /// too.
    /// </summary>
    /// <param name="place">From the object's state.</param>
    /// <exception cref="TangoPlaceException">No call of this object stands there.</exception>
    /// <exception cref="TangoTrimmedException">The call is trimmed: the object's newest state does not hold the place.
    /// Read the state again.</exception>
    /// <exception cref="TangoFormatException">The entry is damaged or newer than this code.</exception>
    protected ValueTask<TangoCall> ReadCallAsync(LogPlace place, CancellationToken cancellationToken = default) =>
        Host.ReadCallAsync(place, cancellationToken);

    /// <summary>Reads several calls of this object, in their order, with one read of the log for 4,096 of them. Outside
    /// transactions.</summary>
    /// <param name="places">From one state of the object; a place may come twice.</param>
    /// <exception cref="TangoPlaceException">As <see cref="ReadCallAsync"/>, as the others.</exception>
    /// <exception cref="TangoTrimmedException">A call is trimmed.</exception>
    /// <exception cref="TangoFormatException">An entry is damaged or newer than this code.</exception>
    protected ValueTask<ImmutableArray<TangoCall>> ReadCallsAsync(
        ImmutableArray<LogPlace> places, CancellationToken cancellationToken = default) =>
        Host.ReadCallsAsync(places, cancellationToken);

    /// <summary>
    /// For an operation that is made of several calls of this object, each with a version key of its own: they take
    /// effect together or not at all, and read one position. Within a transaction they belong to it; else they run in
    /// one of their own, again while it aborts.
    /// </summary>
    /// <param name="body">May run several times, and should have no effects besides the calls.</param>
    /// <exception cref="TangoInDoubtException">Whether the calls took effect is not known.</exception>
    protected ValueTask<TResult> AsOneAsync<TResult>(
        Func<ValueTask<TResult>> body, CancellationToken cancellationToken = default) =>
        Host.AsOneAsync(body, cancellationToken);

    /// <summary>
    /// Waits until the state that this process has played is one that is waited for, and does not ask the log whether
    /// it is the newest: for what stays true once it is, such as a place in a line. Many callers may wait at once, and
    /// changes that do not concern them cost them nothing but <paramref name="read"/>.
    /// </summary>
    /// <param name="read">Reads the view, and must not keep it. Called each time that playback has changed the object,
    /// while other callers wait for playback: it must be short, and without effects.</param>
    /// <param name="until">Called likewise. True: the answer is returned.</param>
    /// <exception cref="TangoTransactionException">A transaction reads one state, which never changes.</exception>
    protected ValueTask<TResult> WaitForViewAsync<TView, TResult>(
        Func<TView, TResult> read, Func<TResult, bool> until, CancellationToken cancellationToken)
        where TView : TangoObject =>
        Host.WaitForViewAsync(read, until, cancellationToken);

    /// <summary>Grants a lease of this object, an <see cref="ITangoLeased"/>, and keeps it renewed.</summary>
    /// <param name="timeToLive">Between 10 milliseconds and a day. The owner counts whole milliseconds only.</param>
    /// <param name="grant">Calls the mutator that adds the lease, and returns its id; null: it was not granted. Where
    /// the caller is cancelled meanwhile, it goes on, and the lease is ended.</param>
    /// <param name="renew">Calls the mutator that gives the lease another version; false: there is no such
    /// lease.</param>
    /// <param name="end">Calls the mutator that removes the lease.</param>
    /// <returns>Null: it was not granted.</returns>
    /// <exception cref="TangoTransactionException">In a transaction nothing is known to be granted.</exception>
    /// <exception cref="TangoInDoubtException">A lease that was granted, if any, ends after its time to
    /// live.</exception>
    protected ValueTask<TangoLease?> GrantLeaseAsync(
        TimeSpan timeToLive, Func<CancellationToken, ValueTask<long?>> grant,
        Func<long, CancellationToken, ValueTask<bool>> renew, Func<long, CancellationToken, ValueTask> end,
        CancellationToken cancellationToken)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(timeToLive, TimeSpan.FromMilliseconds(10));
        ArgumentOutOfRangeException.ThrowIfGreaterThan(timeToLive, TimeSpan.FromDays(1));
        if (Host.IsInTransaction)
            throw new TangoTransactionException($"'{ObjectName}' grants no lease within a transaction");
        // Records have whole milliseconds: the owner must not count longer than those who expire its lease.
        timeToLive = TimeSpan.FromMilliseconds((long)timeToLive.TotalMilliseconds);
        return TangoLease.GrantAsync(Host, timeToLive, grant, renew, end, cancellationToken);
    }
}
