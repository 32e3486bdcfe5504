using Corfu.Store.Index;
using Corfu.Store.Records;
using Corfu.Store.State;
using Corfu.Store.Values;
using Corfu.Store.Watching;

namespace Corfu.Store;

/// <summary>
/// An ordered key-value store on the shared log (CORFU-Store, TOCS'13 3): each change has a revision, a transaction is
/// one step, past revisions are readable until they are compacted, and watches tell each change once. Processes with
/// the store open have its keys and the places of its values; the values stay in the log. Safe for concurrent use.
/// </summary>
/// <remarks>The log is kept from the oldest value on: compact, and move old values with <see cref="MoveValuesAsync"/>.
/// Calls are refused within a transaction of Tango.</remarks>
public sealed partial class CorfuStore : IAsyncDisposable
{
    // Room for a record with what a call may have at least.
    private const int LeastPayload = 64 << 10;

    private readonly TangoRuntime _tango;
    private readonly StoreIndex _index;
    private readonly StoreOptions _options;
    private readonly ValueReader _values;
    private readonly ValueWriter _writer;
    private readonly WaitingWatches _waiting;
    private readonly CancellationTokenSource _disposed = new();
    private long _revision;

    private CorfuStore(ICorfuLog log, TangoRuntime tango, StoreIndex index, StoreOptions options)
    {
        (_tango, _index, _options) = (tango, index, options);
        _values = new ValueReader(log, index, options.ValueCacheBytes);
        _writer = new ValueWriter(log, index.ObjectId, options.InlineBytes);
        _waiting = new WaitingWatches(index, options.Loops, Saw, _disposed.Token);
    }

    /// <summary>Opens the store of that name, and creates it if there is none.</summary>
    /// <param name="log">The log that <paramref name="tango"/> is over.</param>
    /// <param name="minRevision">A revision that a client was told before.</param>
    /// <exception cref="ArgumentException">An option is out of its range; all of them are named. Or entries of the log
    /// have room for less than 64 KiB.</exception>
    /// <exception cref="StoreBehindException">The log lacks <paramref name="minRevision"/>: it is a mirror.</exception>
    public static async ValueTask<CorfuStore> OpenAsync(
        ICorfuLog log, TangoRuntime tango, string name = "store", StoreOptions? options = null, long minRevision = 0,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(log);
        ArgumentNullException.ThrowIfNull(tango);
        options ??= new StoreOptions();
        if (options.Faults() is { Count: > 0 } faults)
            throw new ArgumentException(string.Join(" ", faults), nameof(options));
        if (log.MaxPayload < LeastPayload)
            throw new ArgumentException(
                $"An entry of the log has room for {log.MaxPayload} bytes; a store needs {LeastPayload}.", nameof(log));
        var index = await tango.OpenAsync<StoreIndex>(name, OpenMode.Create, cancellationToken);
        var store = new CorfuStore(log, tango, index, options);
        var state = await store.StateAsync(default, cancellationToken);
        // K14: else what was told is silently missing.
        if (state.Revision < minRevision) throw new StoreBehindException(state.Revision, minRevision);
        if (state.Settings is null)
        {
            var settings = new StoreSettings(tango.Log.MaxSpan, options.KeepRevisions, options.QuotaBytes);
            await store.UpdateAsync(Mutators.Configure, new ConfigureRecord(settings), cancellationToken);
        }

        return store;
    }

    /// <summary>The newest revision that this object has seen. A store begins with 1, which has no key.</summary>
    public long Revision => Volatile.Read(ref _revision);

    /// <summary>Ends the watches of this object. The runtime goes on.</summary>
    public ValueTask DisposeAsync()
    {
        _disposed.Cancel();
        return ValueTask.CompletedTask;
    }

    private async ValueTask<StoreState> StateAsync(ReadAs at, CancellationToken cancellationToken)
    {
        RequireUsable();
        var state = at.IsLocal
            ? await _index.WaitAsync(static _ => true, cancellationToken)
            : await _index.ReadAsync(cancellationToken);
        Saw(state.Revision);
        if (at.Revision is not { } revision) return state;
        if (revision > state.Revision) throw new StoreRevisionAheadException(revision, state.Revision);
        if (!state.CanRead(revision)) throw new StoreCompactedException(revision, state.Oldest);
        return state;
    }

    /// <exception cref="StoreInDoubtException">The record may or may not be in the log.</exception>
    private async ValueTask<Outcome> UpdateAsync(
        int mutator, StoreRecord record, CancellationToken cancellationToken)
    {
        RequireUsable();
        try
        {
            var outcome = await _index.UpdateAsync(mutator, record, cancellationToken);
            Saw(outcome.After.Revision);
            StoreTelemetry.Writes.Add(1, "corfu.store.verdict".With(outcome.Verdict.ToString()));
            return outcome;
        }
        catch (TangoInDoubtException e)
        {
            StoreTelemetry.Writes.Add(1, "corfu.store.verdict".With("InDoubt"));
            if (Planted.Is("doubt-sent-again")) return await UpdateAsync(mutator, record, cancellationToken);
            throw new StoreInDoubtException(e, record is TransactRecord or RevertRecord);
        }
        catch (TangoTooLargeException e)
        {
            throw new StoreTooLargeException($"A record of the store is too large: {e.Message}");
        }
    }

    private static void Require(Outcome outcome)
    {
        switch (outcome.Verdict)
        {
            case Verdict.Done:
                return;
            case Verdict.LeaseNotFound:
                throw new StoreLeaseNotFoundException(outcome.Number);
            case Verdict.LeaseExists:
                throw new StoreLeaseExistsException(outcome.Number);
            case Verdict.KeyNotFound:
                throw new StoreKeyNotFoundException();
            case Verdict.Compacted:
                throw new StoreCompactedException(outcome.Number, outcome.After.Oldest);
            case Verdict.Ahead:
                throw new StoreRevisionAheadException(outcome.Number, outcome.After.Revision);
            case Verdict.Quota:
                throw new StoreQuotaException(outcome.Number);
            default:
                throw new StoreException($"The store refused the record: {outcome.Verdict}.");
        }
    }

    private void Saw(long revision)
    {
        for (var known = Revision; known < revision;)
        {
            var before = Interlocked.CompareExchange(ref _revision, revision, known);
            if (before == known) return;
            known = before;
        }
    }

    private void RequireUsable()
    {
        ObjectDisposedException.ThrowIf(_disposed.IsCancellationRequested, this);
        if (_index.IsCalledInTransaction)
            throw new TangoTransactionException("A store cannot be used within a transaction of Tango.");
    }
}
