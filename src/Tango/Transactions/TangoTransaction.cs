using System.Collections.Immutable;
using System.Diagnostics;
using Corfu.Protocol;
using Tango.Calls;
using Tango.Playback;
using Tango.Records;
using Tango.Runtime;
using Tango.Transactions;

namespace Tango;

/// <summary>
/// A transaction over the objects of one runtime (Tango 3.2): between <see cref="TangoRuntime.BeginTx"/> and
/// <see cref="EndTxAsync"/> the calls of the objects' handles that flow with the code belong to it. Not for concurrent
/// use. All its reads come from one position (R17).
/// </summary>
public sealed partial class TangoTransaction : IAsyncDisposable
{
    private readonly TangoRuntime _runtime;
    private readonly TransactionOptions _options;
    private readonly List<TxObject> _objects = [];
    private readonly List<TxWrite> _writes = [];
    private PublishedViews? _snapshot;
    private bool _isEnded;
    private int _inUse;

    internal TangoTransaction(TangoRuntime runtime, TransactionOptions options)
    {
        _runtime = runtime;
        _options = options;
    }

    public bool IsActive => !_isEnded;

    /// <summary>The first position that the transaction's reads do not see; null before the first read.</summary>
    public LogPosition? SnapshotEnd => _snapshot?.End;

    /// <summary>Known after <see cref="EndTxAsync"/> has completed.</summary>
    public TxOutcome? Outcome { get; private set; }

    /// <summary>
    /// Decides the transaction. With reads and writes: appends a commit record, plays up to it, and reports what
    /// playback decided. Without writes: checks the log and validates. Without reads: commits with the append.
    /// </summary>
    /// <exception cref="TangoTooLargeException">Its writes do not fit into an entry.</exception>
    /// <exception cref="OperationCanceledException">Cancelled before anything was sent: nothing took
    /// effect.</exception>
    public ValueTask<TxOutcome> EndTxAsync(CancellationToken cancellationToken = default)
    {
        Enter();
        _isEnded = true;
        // Here and not in the asynchronous part: what that does to the flow of the context would be lost to the caller.
        _runtime.Leave(this);
        Exit();
        return DecideAsync(cancellationToken);
    }

    /// <summary>Without <see cref="EndTxAsync"/> before it: drops the transaction; nothing of it takes
    /// effect.</summary>
    public ValueTask DisposeAsync()
    {
        _isEnded = true;
        _runtime.Leave(this);
        return ValueTask.CompletedTask;
    }

    internal async ValueTask<TResult> QueryAsync<TView, TState, TResult>(
        ObjectHost host, ObjectKey key, TState state, Func<TView, TState, TResult> read,
        CancellationToken cancellationToken)
        where TView : TangoObject
    {
        Enter();
        try
        {
            var snapshot = await SnapshotForAsync(host, cancellationToken);
            var target = Touch(host);
            target.AddRead(key);
            return read((TView)target.View(snapshot), state);
        }
        finally
        {
            Exit();
        }
    }

    internal async ValueTask UpdateAsync(
        ObjectHost host, MutatorInfo mutator, ObjectKey key, ReadOnlyMemory<byte> arguments, ApplyResult? result,
        CancellationToken cancellationToken)
    {
        Enter();
        try
        {
            var write = new TxWrite(host, mutator, key, arguments);
            if (mutator.Reads)
            {
                var snapshot = await SnapshotForAsync(host, cancellationToken);
                var target = Touch(host);
#if PLANTED
                if (!Planted.Is("returning-mutator-reads-nothing"))
#endif
                target.AddRead(key);
                target.ApplyNow(snapshot, write, result);
            }
            else
            {
                Touch(host).Defer(write);
            }

            _writes.Add(write);
        }
        finally
        {
            Exit();
        }
    }

    /// <summary>Whether what was read is still true now; the retry helper asks before it believes an exception of the
    /// body.</summary>
    internal async ValueTask<bool> IsCurrentAsync(CancellationToken cancellationToken)
    {
        if (!_objects.Exists(static o => o.HasReads)) return true;
        await _runtime.Player.SyncAsync(cancellationToken);
        return FindConflict() is null;
    }

    private TxObject Touch(ObjectHost host)
    {
        host.RequireRuntime(_runtime);
        foreach (var known in _objects)
        {
            if (ReferenceEquals(known.Host.Entry, host.Entry) || known.Host.Entry.Id == host.Entry.Id) return known;
        }

        var added = new TxObject(host);
        _objects.Add(added);
        return added;
    }

    private async ValueTask<PublishedViews> SnapshotForAsync(ObjectHost host, CancellationToken cancellationToken)
    {
        var hosted = host.RequireHosted();
        if (_snapshot is null)
        {
            // A session sees what it was told is done: without this, a transaction after a plain update would read the
            // past and abort.
            if (_options.StartFresh) await _runtime.Player.SyncAsync(cancellationToken);
            else await _runtime.Player.CatchUpAsync(_runtime.Calls.AcknowledgedEnd, cancellationToken);
            _snapshot = _runtime.Player.Published;
        }

#if PLANTED
        if (Planted.Is("reads-without-a-snapshot")) return _runtime.Player.Published;
#endif
        if (_snapshot.Of(hosted).View is not null) return _snapshot;
        if (_objects.Exists(static o => o.HasReads))
            throw new TangoTransactionException($"Object '{host.Name}' was opened after the transaction's first read");
        return _snapshot = _runtime.Player.Published;
    }

    private void Enter()
    {
        if (Interlocked.Exchange(ref _inUse, 1) != 0)
            throw new TangoTransactionException("The transaction is used concurrently");
        if (!_isEnded) return;
        Exit();
        throw new TangoTransactionException("The transaction has ended; end or dispose it in the method that began it");
    }

    private void Exit() => Volatile.Write(ref _inUse, 0);
}
