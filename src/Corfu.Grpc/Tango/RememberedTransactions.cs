using Microsoft.Extensions.Options;
using Tango;
using V1 = Corfu.Grpc.Protocol.Tango.V1;

namespace Corfu.Grpc;

/// <summary>Outcomes that callers may ask for again: of transactions in doubt, and of those that they named. The oldest
/// are forgotten.</summary>
internal sealed class RememberedTransactions(IOptions<CorfuGrpcOptions> options)
{
    private const int MaxIdLength = 64;

    private readonly Lock _gate = new();

    // Guarded by _gate. Invariant: _order has the ids of _known, in the order in which they came.
    private readonly Dictionary<string, TaskCompletionSource<Remembered>> _known = new(StringComparer.Ordinal);
    private readonly Queue<string> _order = new();

    // Guarded by _gate. What became of those that ended in doubt, for End.
    private readonly Dictionary<string, Remembered> _doubts = new(StringComparer.Ordinal);

    /// <exception cref="TransactionExistsException">The id was used before.</exception>
    public void Begin(string id)
    {
        if (id.Length > MaxIdLength)
            throw new RequestException($"transaction: an id has at most {MaxIdLength} characters.");
        lock (_gate)
        {
            if (!_known.TryAdd(id, NewSource())) throw new TransactionExistsException(id);
            _order.Enqueue(id);
            Forget();
        }
    }

    /// <param name="response">Null: nothing was sent, and the id is free again.</param>
    public void End(string id, V1.TransactResponse? response)
    {
        lock (_gate)
        {
            // Also of one that was forgotten while it ran.
            _doubts.Remove(id, out var doubt);
            if (!_known.TryGetValue(id, out var source)) return;
            if (response is not null)
            {
                source.TrySetResult(doubt ?? new Remembered(response));
                return;
            }

            // Its place in the order goes when it is the oldest.
            _known.Remove(id);
            source.TrySetException(new TransactionNotFoundException(id));
        }
    }

    /// <summary>Keeps a transaction that ended in doubt.</summary>
    /// <param name="id">Empty: the caller gave none.</param>
    /// <param name="expected">Its answer if it turns out to have committed.</param>
    /// <returns>Its id.</returns>
    public string Keep(string id, TxOutcome.InDoubt outcome, V1.Committed expected)
    {
        var isNamed = id.Length > 0;
        if (!isNamed) id = Guid.NewGuid().ToString("n");
        var response = new V1.TransactResponse
        {
            InDoubt = new V1.InDoubt { Transaction = id, Message = outcome.Message },
        };
        var remembered = new Remembered(response) { InDoubt = outcome, Expected = expected };
        lock (_gate)
        {
            if (isNamed)
            {
                _doubts[id] = remembered;
                return id;
            }

            var source = NewSource();
            source.SetResult(remembered);
            _known.Add(id, source);
            _order.Enqueue(id);
            Forget();
            return id;
        }
    }

    /// <summary>Waits for one that runs.</summary>
    /// <exception cref="TransactionNotFoundException">It is not remembered.</exception>
    public async Task<Remembered> GetAsync(string id, CancellationToken cancellationToken)
    {
        Task<Remembered> task;
        lock (_gate)
        {
            if (!_known.TryGetValue(id, out var source)) throw new TransactionNotFoundException(id);
            task = source.Task;
        }

        return await task.WaitAsync(cancellationToken);
    }

    /// <summary>One that was in doubt is decided.</summary>
    public void Settle(string id, V1.TransactResponse response)
    {
        lock (_gate)
        {
            if (!_known.ContainsKey(id)) return;
            var source = NewSource();
            source.SetResult(new Remembered(response));
            _known[id] = source;
        }
    }

    private void Forget()
    {
        while (_order.Count > options.Value.Tango.MaxRememberedTransactions && _order.TryDequeue(out var oldest))
        {
            _doubts.Remove(oldest);
            if (_known.Remove(oldest, out var source))
                source.TrySetException(new TransactionNotFoundException(oldest));
        }
    }

    private static TaskCompletionSource<Remembered> NewSource()
    {
        var source = new TaskCompletionSource<Remembered>(TaskCreationOptions.RunContinuationsAsynchronously);
        // No caller waits for it.
        _ = source.Task.ContinueWith(static task => _ = task.Exception, TaskScheduler.Default);
        return source;
    }
}

/// <summary>What the front end knows of a transaction.</summary>
internal sealed record Remembered(V1.TransactResponse Response)
{
    /// <summary>Null: it is decided.</summary>
    public TxOutcome.InDoubt? InDoubt { get; init; }

    /// <summary>Of one in doubt: its answer if it has committed.</summary>
    public V1.Committed? Expected { get; init; }
}
