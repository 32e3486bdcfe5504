using System.Collections.Immutable;
using System.Diagnostics;
using Corfu;
using Tango.Model;
using Tango.Playback;
using Tango.Records;
using Tango.Runtime;
using Tango.Transactions;

namespace Tango;

/// <summary>
/// A transaction over the objects of one runtime (Tango 3.2): between <see cref="TangoRuntime.BeginTx"/> and
/// <see cref="EndTxAsync"/> the calls of the objects' handles that flow with the code belong to it. Accessors may run
/// concurrently; any other concurrent use throws. All its reads come from one position.
/// </summary>
/// <remarks>
/// The transaction flows into the methods and tasks that are called or started after
/// <see cref="TangoRuntime.BeginTx"/>, never out of an async method to its caller: begin it in the method that uses it.
/// A task that outlives the transaction keeps it, and its calls fail with <see cref="TangoTransactionException"/>
/// instead of becoming plain updates; <see cref="TangoRuntime.LeaveTransaction"/> makes such a task independent. One
/// begun with <see cref="TransactionOptions.Explicit"/> flows nowhere and has the calls of <see cref="Use{T}"/>'s
/// handles only.
/// </remarks>
// A single snapshot serves all reads, also of a transaction that aborts later (R17).
public sealed partial class TangoTransaction : IAsyncDisposable
{
    // Up to here a list is searched as fast as a table.
    private const int FewObjects = 16;

    private readonly RuntimeEnvironment _given;
    private readonly PlaybackParts _playback;
    private readonly TransactionFlow _flow;
    private readonly bool _isExplicit;
    private readonly Lock _gate = new();

    // Guarded by _gate until the end; the end excludes every other use, so that deciding needs no lock.
    private readonly List<TxObject> _objects = [];
    private Dictionary<ObjectId, TxObject>? _index;
    private readonly List<TxWrite> _writes = [];
    private PublishedViews? _snapshot;
    private List<Action>? _onCommit;

    // Guarded by _gate. Invariant: _readers == 0 while _isExclusive, so that no view changes under a reader.
    private int _readers;
    private bool _isExclusive;
    private volatile bool _isEnded;

    internal TangoTransaction(
        RuntimeEnvironment given, PlaybackParts playback, TransactionFlow flow, TransactionOptions options)
    {
        (_given, _playback, _flow, _isExplicit) = (given, playback, flow, options.Explicit);
        (_isStale, _startsFresh) = (options.StaleSnapshot, options.StartFresh);
        _awaitsApplied = options.AwaitApplied;
    }

    public bool IsActive => !_isEnded;

    /// <summary>The first position that the transaction's reads do not see; null before the first read.</summary>
    public LogPosition? SnapshotEnd => (_outer ?? this)._snapshot?.End;

    /// <summary>Known after <see cref="EndTxAsync"/> has completed.</summary>
    public TxOutcome? Outcome { get; private set; }

    /// <summary>
    /// The object as this transaction sees it: all calls of the handle that is returned belong to it, whatever
    /// transaction flows with the caller. With <see cref="TransactionOptions.Explicit"/> there is no other way.
    /// </summary>
    /// <param name="handle">Handle of an object that is open in the transaction's runtime.</param>
    /// <exception cref="TangoReadOnlyException">The handle is of a past state or a second view.</exception>
    /// <exception cref="TangoTransactionException">The handle belongs to another runtime, or the transaction has
    /// ended.</exception>
    public T Use<T>(T handle)
        where T : TangoObject
    {
        ArgumentNullException.ThrowIfNull(handle);
        if (_outer is not null) return _outer.Use(handle);
        var host = handle.Host as ObjectHost ?? throw new TangoReadOnlyException(handle.ObjectName);
        host.RequireSame(_flow);
        lock (_gate) RequireUsable(isBusy: false);
        var enlisted = (T)handle.CloneView();
        enlisted.Attach(host.Enlist(this));
        return enlisted;
    }

    /// <summary>
    /// Decides the transaction. With reads and writes: appends a commit record, plays up to it, and reports what
    /// playback decided; or asks the sequencer, as <see cref="TangoOptions.Decisions"/> says. Without writes: checks
    /// the log and validates. Without reads: commits with the append.
    /// </summary>
    /// <returns><see cref="TxOutcome.InDoubt"/> if the token is cancelled once the record has been sent.</returns>
    /// <exception cref="TangoTooLargeException">A write, or what was read, does not fit into an entry; or more than
    /// 1,024 objects are concerned. Nothing took effect.</exception>
    /// <exception cref="TangoLevelException">The writes do not fit into one entry, and the log's feature level is
    /// 1.</exception>
    /// <exception cref="TangoSpillException">The spills could not be written. Nothing took effect.</exception>
    /// <exception cref="TangoObjectStoppedException">An object that it read or wrote has stopped here since; nothing
    /// took effect.</exception>
    /// <exception cref="OperationCanceledException">Cancelled before anything was sent: nothing took effect, and the
    /// transaction is over.</exception>
    /// <exception cref="TangoTransactionException">
    /// The transaction is in use or has ended; or it does not flow here, because the async method that began it has
    /// returned: then the calls made here were plain ones, and the transaction is dropped.
    /// </exception>
    // Writes above one entry are spilled ahead of their commit record (R19).
    public ValueTask<TxOutcome> EndTxAsync(CancellationToken cancellationToken = default)
    {
        if (_outer is not null) return EndNestedAsync(cancellationToken);
        EnterExclusive();
        var flowsHere = _isExplicit || ReferenceEquals(_flow.Current, this);
        _isEnded = true;
        // Here and not in the asynchronous part: what that does to the flow of the context would be lost to the caller.
        _flow.Leave(this);
        ExitExclusive();
        if (!flowsHere || cancellationToken.IsCancellationRequested) LetGo();
        if (!flowsHere)
            throw new TangoTransactionException(
                "The transaction does not flow here and is dropped: an async method began it and returned. Calls made "
                + "here did not belong to it; begin a transaction in the method that uses it");
        return cancellationToken.IsCancellationRequested
            ? ValueTask.FromCanceled<TxOutcome>(cancellationToken)
            : DecideAsync(cancellationToken);
    }

    /// <summary>Without <see cref="EndTxAsync"/> before it: drops the transaction; nothing of it takes
    /// effect.</summary>
    public ValueTask DisposeAsync()
    {
        if (_outer is not null)
        {
            EndNested(isDropped: true);
            return ValueTask.CompletedTask;
        }

        var isDropped = !_isEnded;
        _isEnded = true;
        if (isDropped) LetGo();
        _flow.Leave(this);
        return ValueTask.CompletedTask;
    }

    internal async ValueTask<TResult> QueryAsync<TView, TState, TResult>(
        ObjectHost host, ObjectKey key, TState state, Func<TView, TState, TResult> read,
        CancellationToken cancellationToken)
        where TView : TangoObject
    {
        EnterRead();
        try
        {
            var hosted = await PrepareSnapshotAsync(host, cancellationToken);
            TView view;
            lock (_gate)
            {
                var snapshot = SnapshotFor(hosted);
                var target = Touch(host);
                if (!Planted.Is("scan-reads-no-range") || !key.IsNone) target.AddRead(key);
                view = (TView)target.View(snapshot);
            }

            return ResultCopy<TResult>.Of(read(view, state), hosted);
        }
        finally
        {
            ExitRead();
        }
    }

    /// <returns>The object, if its views were needed.</returns>
    internal async ValueTask<HostedObject?> UpdateAsync(
        ObjectHost host, MutatorInfo mutator, ObjectKey key, ReadOnlyMemory<byte> arguments, ApplyResult? result,
        CancellationToken cancellationToken)
    {
        EnterExclusive();
        try
        {
            var hosted = mutator.Reads ? await PrepareSnapshotAsync(host, cancellationToken) : null;
            lock (_gate)
                Write(host, new TxWrite(host.Entry, mutator, key, arguments, _writes.Count), hosted, result);
            return hosted;
        }
        finally
        {
            ExitExclusive();
        }
    }

    /// <summary>Runs it once the end of the transaction knows that it committed.</summary>
    internal void OnCommit(Action action)
    {
        lock (_gate)
        {
            RequireUsable(isBusy: false);
            (_onCommit ??= []).Add(action);
        }
    }

    /// <summary>Whether the call is one that this transaction has buffered and not ended with.</summary>
    internal bool IsPending(TxWrite write)
    {
        lock (_gate) return !_isEnded && write.Index < _writes.Count && ReferenceEquals(_writes[write.Index], write);
    }

    /// <summary>Null: what was read is still true now. The retry helper asks before it believes an exception of the
    /// body.</summary>
    internal async ValueTask<TxOutcome.Aborted?> FindConflictNowAsync(CancellationToken cancellationToken)
    {
        lock (_gate)
        {
            if (!_objects.Exists(static o => o.HasReads)) return null;
        }

        await _playback.Player.SyncAsync(cancellationToken);
        await RestartStoppedAsync(cancellationToken);
        lock (_gate) return FindConflict();
    }

    /// <summary>R22: a trim may have overtaken the runtime since the reads. Objects that start anew have the versions
    /// that the reads are compared with.</summary>
    private async ValueTask RestartStoppedAsync(CancellationToken cancellationToken)
    {
        TxObject[] objects;
        lock (_gate) objects = [.. _objects];
        foreach (var used in objects)
        {
            if (used.Hosted is { } hosted) await _playback.Cohorts.RebuildIfStoppedAsync(hosted, cancellationToken);
        }
    }

    private void Write(ObjectHost host, TxWrite write, HostedObject? hosted, ApplyResult? result)
    {
        if (hosted is not null)
        {
            var snapshot = SnapshotFor(hosted);
            var target = Touch(host);
            if (!Planted.Is("returning-mutator-reads-nothing")) target.AddRead(write.Key);
            target.ApplyNow(snapshot, write, result);
        }
        else
        {
            Touch(host).Defer(write);
        }

        _writes.Add(write);
    }

    private TxObject Touch(ObjectHost host)
    {
        host.RequireSame(_flow);
        var id = host.Entry.Id;
        var known = _index is null ? _objects.Find(used => used.Host.Entry.Id == id) : _index.GetValueOrDefault(id);
        if (known is not null)
        {
            known.Join(host);
            return known;
        }

        var added = new TxObject(host);
        _objects.Add(added);
        if (_index is not null) _index.Add(id, added);
        else if (_objects.Count > FewObjects) _index = _objects.ToDictionary(static used => used.Host.Entry.Id);
        return added;
    }

    /// <summary>Brings the views to where the snapshot may be taken.</summary>
    private async ValueTask<HostedObject> PrepareSnapshotAsync(ObjectHost host, CancellationToken cancellationToken)
    {
        var hosted = host.Hosted ?? await KeepAsync(host, cancellationToken);
        await _playback.Cohorts.RebuildIfStoppedAsync(hosted, cancellationToken);
        lock (_gate)
        {
            if (_snapshot is not null) return hosted;
        }

        // A session sees what it was told is done: without this, a transaction after a plain update would read the past
        // and abort. A stale one asks the log for nothing.
        if (_startsFresh) await _playback.Player.SyncAsync(cancellationToken);
        else if (!_isStale) await _playback.Player.CatchUpAsync(_playback.Calls.AcknowledgedEnd, cancellationToken);
        // R22: that may have met a trim.
        await _playback.Cohorts.RebuildIfStoppedAsync(hosted, cancellationToken);
        return hosted;
    }

    /// <summary>Tango 4.1, D: the object is hosted until the transaction ends.</summary>
    private async ValueTask<HostedObject> KeepAsync(ObjectHost host, CancellationToken cancellationToken)
    {
        host.RequireSame(_flow);
        var use = await host.UseAsync(cancellationToken);
        lock (_gate)
        {
            if (!_isEnded)
            {
                Touch(host).Keep(use);
                return use.Hosted;
            }
        }

        use.Dispose();
        throw new TangoTransactionException("The transaction has ended meanwhile");
    }

    private void LetGo()
    {
        lock (_gate) _objects.ForEach(static used => used.LetGo());
    }

    /// <summary>
    /// R17: the first read decides, also for those that run beside it. An object that was hosted after it, or had
    /// stopped or had no view then, is in newer views only: the transaction moves there if all that it has read is
    /// still true.
    /// </summary>
    /// <exception cref="TangoConflictException">The reads are not all true any more.</exception>
    private PublishedViews SnapshotFor(HostedObject hosted)
    {
        var newest = _playback.Player.Published;
        _snapshot ??= newest;
        if (Planted.Is("reads-without-a-snapshot")) return newest;
        var seen = _snapshot.Of(hosted);
        var isStarted = seen.Stopped is { MayRebuild: true } && newest.Of(hosted).Stopped is null;
        // R20: a member of a group whose type was not known here then had no view.
        var isViewless = seen is { View: null, Stopped: null };
        if (seen.Owner is not null && !isStarted && !isViewless) return _snapshot;
        var conflict = FindConflict();
        if (Planted.Is("snapshot-moves-unchecked")) conflict = null;
        if (conflict is not null) throw new TangoConflictException(conflict);
        var writes = _writes.ToLookup(static write => write.Object.Id);
        foreach (var used in _objects) used.MoveTo(writes[used.Host.Entry.Id]);
        return _snapshot = newest;
    }

    private void EnterRead()
    {
        lock (_gate)
        {
            RequireUsable(_isExclusive);
            _readers++;
        }
    }

    private void ExitRead()
    {
        lock (_gate) _readers--;
    }

    private void EnterExclusive()
    {
        lock (_gate)
        {
            RequireUsable(_isExclusive || _readers > 0);
            _isExclusive = true;
        }
    }

    private void ExitExclusive()
    {
        lock (_gate) _isExclusive = false;
    }

    private void RequireUsable(bool isBusy)
    {
        if (_isEnded)
            throw new TangoTransactionException(
                "The transaction has ended: end or dispose it in the method that began it. A task that outlives it "
                + "calls TangoRuntime.LeaveTransaction first");
        if (isBusy)
            throw new TangoTransactionException("The transaction is used concurrently: only accessors may overlap");
    }
}
