using Corfu;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using Tango.Runtime;

namespace Tango;

/// <summary>
/// A process' place in Tango: hosts views of objects, keeps them in the order that all runtimes have, and runs
/// transactions over them (Tango 3, 4). Runtimes talk only through the log. Safe for concurrent use.
/// </summary>
/// <remarks>Objects' names are at <see cref="Directory"/>, past states and feeds at <see cref="History"/>, checkpoints
/// at <see cref="Checkpoints"/>, trim and the log itself at <see cref="Log"/>.</remarks>
public sealed class TangoRuntime : IAsyncDisposable
{
    /// <summary>A runtime over a log, with the system's clock and randomness.</summary>
    /// <exception cref="ArgumentException">An option is out of its range; all of them are named.</exception>
    public TangoRuntime(ICorfuLog log, TangoOptions? options = null, ILogger? logger = null)
        : this(log, () => new StreamCursor(log), TimeProvider.System, SystemEntropy.Instance, options, logger)
    {
    }

    /// <summary>A runtime whose every source of variation is given: for tests and the simulator.</summary>
    /// <param name="loops">Context in which playback and sending run, for all callers. Null: the thread pool.</param>
    /// <param name="openCursor">Makes a cursor over the same log, at its beginning; the runtime owns it.</param>
    public TangoRuntime(
        ICorfuLog log, Func<IStreamCursor> openCursor, TimeProvider time, IEntropy entropy,
        TangoOptions? options = null, ILogger? logger = null, LoopContext? loops = null)
    {
        options ??= new TangoOptions();
        if (options.Faults() is { Count: > 0 } faults)
            throw new ArgumentException(string.Join(" ", faults), nameof(options));
        Services = new RuntimeServices(new RuntimeEnvironment(
            log, openCursor, options, time, entropy, loops ?? LoopContext.Pool, logger ?? NullLogger.Instance));
    }

    /// <summary>The names of the log's objects.</summary>
    public RuntimeDirectory Directory => Services.Directory;

    /// <summary>Past states of the objects, and their changes.</summary>
    public RuntimeHistory History => Services.History;

    /// <summary>Checkpoints of objects.</summary>
    public RuntimeCheckpoints Checkpoints => Services.Checkpoints;

    /// <summary>The log that the objects are in.</summary>
    public RuntimeLog Log => Services.Log;

    internal RuntimeServices Services { get; }

    /// <summary>
    /// Opens the object of that name and plays its history up to now. If it belongs to a group, all of the group is
    /// opened.
    /// </summary>
    /// <exception cref="TangoObjectNotFoundException">There is none, and <paramref name="mode"/> does not say to create
    /// it.</exception>
    /// <exception cref="TangoDirectoryException">The name belongs to an object of another type, or one whose values
    /// another serializer wrote.</exception>
    /// <exception cref="TangoFormatException">A type the object uses has no formatter.</exception>
    public async ValueTask<T> OpenAsync<T>(
        string name, OpenMode mode = OpenMode.Existing, CancellationToken cancellationToken = default)
        where T : TangoObject, ITangoObject<T>
    {
        var handle = (T)T.ObjectType.Create();
        await Services.Opener.OpenAsync(handle, name, mode, cancellationToken);
        return handle;
    }

    /// <summary>Opens the object for writing only: no view, no playback; updates and write-only transactions (Tango
    /// 4.1, A).</summary>
    /// <exception cref="TangoObjectNotFoundException">As <see cref="OpenAsync{T}"/>.</exception>
    public async ValueTask<T> OpenWriteOnlyAsync<T>(
        string name, OpenMode mode = OpenMode.Existing, CancellationToken cancellationToken = default)
        where T : TangoObject, ITangoObject<T>
    {
        var handle = (T)T.ObjectType.Create();
        await Services.Opener.OpenWriteOnlyAsync(handle, name, mode, cancellationToken);
        return handle;
    }

    /// <summary>
    /// Opens the object for being read now and then. It is hosted when it is first read, alone or in a transaction,
    /// from its newest checkpoint, and for <see cref="TangoOptions.RemoteStay"/> after the last use. Reads are as fresh
    /// and transactions as strict as with <see cref="OpenAsync{T}"/>; the first one takes as long as opening. Updates
    /// that return nothing do not need it hosted.
    /// </summary>
    /// <exception cref="TangoDirectoryException">As <see cref="OpenAsync{T}"/>.</exception>
    /// <exception cref="TangoObjectNotFoundException">As <see cref="OpenAsync{T}"/>.</exception>
    public async ValueTask<T> OpenRemoteAsync<T>(
        string name, OpenMode mode = OpenMode.Existing, CancellationToken cancellationToken = default)
        where T : TangoObject, ITangoObject<T>
    {
        var handle = (T)T.ObjectType.Create();
        await Services.Opener.OpenRemoteAsync(handle, name, mode, cancellationToken);
        return handle;
    }

    /// <summary>
    /// Opens a group of objects that are always hosted together, creating it with these members if there is none.
    /// Transactions over objects of one group need no decision records. The handles that
    /// <see cref="TangoGroupBuilder.Add{T}"/> returned can be used afterwards.
    /// </summary>
    /// <remarks>Members are matched by name. One that the group does not have is added, empty; others that it has stay,
    /// and are played too.</remarks>
    /// <exception cref="TangoDirectoryException">A member is of another type, or a name is taken by an object that is
    /// not in the group.</exception>
    /// <exception cref="ArgumentException">There is no such group, and no member was named.</exception>
    public async ValueTask OpenGroupAsync(
        string group, Action<TangoGroupBuilder> define, CancellationToken cancellationToken = default)
    {
        ObjectNames.Require(group);
        Services.Flow.RequireNone();
        var builder = new TangoGroupBuilder(Services.Options);
        define(builder);
        await Services.Groups.OpenAsync(group, builder, cancellationToken);
    }

    /// <summary>
    /// Opens a second, read-only view over an object's history: a class with the same mutators that makes another state
    /// of them (Tango 3.1). Reads are linearizable. The object need not be open here; its own view stays as it is.
    /// </summary>
    /// <remarks>
    /// The view applies the object's changes as <see cref="RuntimeHistory.ChangesAsync{T}(string, ChangePlace?,
    /// FeedOptions?, CancellationToken)"/> tells them: what took effect, and not what the object refused. Without
    /// <see cref="ITangoViewOf{TObject}"/> it is played from the object's first record, which is impossible once
    /// history was trimmed; with it, it starts from the object's newest checkpoint. It cannot be read in a transaction.
    /// Each type of view of an object has a copy of the object's state beside its own, for as long as the runtime
    /// lives.
    /// </remarks>
    /// <typeparam name="TObject">The object's type, as it was opened under the name.</typeparam>
    /// <typeparam name="TView">Has a mutator for each number of <typeparamref name="TObject"/>, with the same
    /// parameters.</typeparam>
    /// <exception cref="TangoObjectNotFoundException">There is no such object.</exception>
    /// <exception cref="TangoDirectoryException">The object is of another type, or the view lacks mutators, or it keeps
    /// values in the log (<see cref="ITangoIndex"/>) and the object does not.</exception>
    /// <exception cref="TangoTrimmedException">The history that the view needs is trimmed.</exception>
    public ValueTask<TView> OpenViewAsync<TObject, TView>(
        string name, CancellationToken cancellationToken = default)
        where TObject : TangoObject, ITangoObject<TObject>
        where TView : TangoObject, ITangoObject<TView> =>
        Services.SecondViews.OpenAsync<TObject, TView>(name, cancellationToken);

    /// <summary>Registers an observer of objects: from one position on it hears what each of their calls did, as this
    /// runtime plays them. The objects stay hosted meanwhile.</summary>
    /// <param name="handles">Each object once.</param>
    /// <returns>Ends the observation. A method of the observer that has begun by then may still run.</returns>
    /// <exception cref="TangoNotHostedException">An object was opened for writing only.</exception>
    /// <exception cref="TangoReadOnlyException">A handle is of a past state or a second view.</exception>
    /// <exception cref="TangoObjectStoppedException">An object has stopped.</exception>
    public ValueTask<IDisposable> ObserveAsync(
        IEnumerable<TangoObject> handles, IApplyObserver observer, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(handles);
        ArgumentNullException.ThrowIfNull(observer);
        return Services.Observers.OpenAsync(handles, observer, cancellationToken);
    }

    /// <summary>Brings all views up to the log's tail: everything acknowledged before the call is seen by transactions
    /// that begin after it.</summary>
    public async ValueTask SyncAsync(CancellationToken cancellationToken = default)
    {
        await Services.Access.AttachAsync(cancellationToken);
        await Services.Playback.Player.SyncAsync(cancellationToken);
    }

    /// <summary>
    /// Starts a transaction; the calls of object handles that flow from here belong to it until it ends. Call it in the
    /// method that uses the transaction: it does not flow out of an async method to its caller.
    /// </summary>
    /// <remarks>
    /// An active transaction is joined: <see cref="TangoTransaction.EndTxAsync"/> says <see cref="TxOutcome.Joined"/>,
    /// and the outer one decides. A joined transaction that is disposed without that drops the outer one too.
    /// </remarks>
    public TangoTransaction BeginTx(TransactionOptions? options = null) => Services.Transactions.Begin(options);

    /// <summary>
    /// Runs the body in a transaction and tries again, after a growing pause, while it aborts. Never repeats one that
    /// is in doubt. The body may run several times and should have no effects besides the objects. An exception of the
    /// body drops the transaction and is passed on if what the body had read is still true; if not, it counts as an
    /// abort.
    /// </summary>
    /// <remarks>Within an active transaction the body runs once and joins it: the outer one decides, and tries again.
    /// An exception of the body drops the outer one.</remarks>
    /// <returns>Committed, InDoubt or Joined.</returns>
    /// <exception cref="TangoAbortedException">The transaction aborted <see cref="TransactionOptions.MaxAttempts"/>
    /// times, or twice as <see cref="AbortReason.SpilledTooEarly"/>.</exception>
    public ValueTask<TxOutcome> RunTransactionAsync(
        Func<TangoTransaction, ValueTask> body, TransactionOptions? options = null,
        CancellationToken cancellationToken = default) =>
        Services.Transactions.RunAsync(body, options, cancellationToken);

    /// <summary>As the other overload, with the value that the committed attempt computed, or the one that
    /// joined.</summary>
    public ValueTask<TxResult<T>> RunTransactionAsync<T>(
        Func<TangoTransaction, ValueTask<T>> body, TransactionOptions? options = null,
        CancellationToken cancellationToken = default) =>
        Services.Transactions.RunAsync(body, options, cancellationToken);

    /// <summary>
    /// Finds out what became of a transaction that ended in doubt. It never writes the transaction again. May be
    /// repeated: where the answer is in doubt again, a unit or the log could not be reached. For a call whose position
    /// never became known here the answer stays in doubt.
    /// </summary>
    /// <param name="inDoubt">From a transaction of this runtime, or from <see cref="TangoInDoubtException.Outcome"/>.
    /// </param>
    /// <returns>Committed, Aborted (with <see cref="AbortReason.NotWritten"/> if nothing came into the log), or InDoubt
    /// again. A commit does not say how many writes were rejected.</returns>
    /// <exception cref="ArgumentException">The outcome is of another log, from another process, or made by
    /// hand.</exception>
    /// <exception cref="TangoTrimmedException">The history that decides is trimmed.</exception>
    public async ValueTask<TxOutcome> ResolveAsync(
        TxOutcome.InDoubt inDoubt, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(inDoubt);
        Services.Flow.RequireNone();
        return await Services.Resolver.ResolveAsync(inDoubt, cancellationToken);
    }

    /// <summary>Finds out whether an update that ended in doubt, outside a transaction, is in the log, and where. It
    /// never writes the update again. May be repeated while the fate is unknown.</summary>
    /// <param name="inDoubt">From an update of this runtime.</param>
    /// <exception cref="ArgumentException">The exception is of a transaction, of another log, or made by
    /// hand.</exception>
    public ValueTask<TangoUpdateFate> ResolveUpdateAsync(
        TangoInDoubtException inDoubt, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(inDoubt);
        return Services.Resolver.ResolveUpdateAsync(inDoubt, cancellationToken);
    }

    /// <summary>
    /// Makes the calling method, and what it calls from here on, independent of the transaction that flowed into it,
    /// active or ended. For tasks started in a transaction that are not part of it; the transaction itself goes on.
    /// </summary>
    public void LeaveTransaction() => Services.Flow.Leave();

    /// <summary>Stops playback and sending. Calls in flight are told that they are in doubt; those that wait to be sent
    /// fail.</summary>
    public ValueTask DisposeAsync()
    {
        Services.Lifetime.End();
        return ValueTask.CompletedTask;
    }
}
