using Microsoft.Extensions.Options;
using Tango;
using V1 = Corfu.Grpc.Protocol.Tango.V1;

namespace Corfu.Grpc;

/// <summary>A write that its caller may ask for again.</summary>
/// <param name="Owner">The caller's name, where the host authenticates callers: ids of one are not those of another.
/// Empty: it does not.</param>
internal readonly record struct RequestKey(string Owner, string Id)
{
    private const int MaxIdLength = 64;

    /// <returns>Null: the caller gave none.</returns>
    public static RequestKey? Of(string owner, string id) => id.Length switch
    {
        0 => null,
        > MaxIdLength => throw new RequestException($"request_id: an id has at most {MaxIdLength} characters."),
        _ => new RequestKey(owner, id),
    };
}

/// <summary>Outcomes that callers may ask for again: of writes in doubt, and of those that they named. The oldest are
/// forgotten. Results of operations are not kept: they may be large.</summary>
internal sealed class RememberedTransactions(IOptions<CorfuGrpcOptions> options)
{
    private readonly Lock _gate = new();

    // Guarded by _gate. Invariant: _order has the keys of _known, in the order in which they came.
    private readonly Dictionary<RequestKey, Known> _known = [];
    private readonly LinkedList<RequestKey> _order = [];

    // Guarded by _gate. Invariant: for each owner that is authenticated, its keys of _known in their order.
    private readonly Dictionary<string, LinkedList<RequestKey>> _owners = new(StringComparer.Ordinal);

    /// <exception cref="RequestExistsException">The id was used before.</exception>
    public void Begin(RequestKey key)
    {
        lock (_gate)
        {
            if (_known.ContainsKey(key)) throw new RequestExistsException(key.Id);
            Add(key, new Known());
        }
    }

    /// <summary>The write has ended, and is not in doubt.</summary>
    public void End(RequestKey key, V1.TransactResponse response) => Set(key, new Remembered(WithoutResults(response)));

    /// <summary>Nothing was sent, and the id is free again.</summary>
    public void Withdraw(RequestKey key)
    {
        lock (_gate) Remove(key);
    }

    /// <summary>Keeps a write that ended in doubt.</summary>
    /// <param name="key">Null: the caller gave none.</param>
    /// <param name="succeeded">As it will have been answered if it turns out to have committed.</param>
    /// <returns>The id of the write.</returns>
    public string Keep(RequestKey? key, string owner, TxOutcome.InDoubt outcome, bool succeeded)
    {
        var kept = key ?? new RequestKey(owner, Guid.NewGuid().ToString("n"));
        var response = new V1.ResolveResponse
        {
            InDoubt = new V1.InDoubt { RequestId = kept.Id, Message = outcome.Message },
        };
        if (key is null)
        {
            lock (_gate) Add(kept, new Known());
        }

        Set(kept, new Remembered(response) { InDoubt = outcome, Succeeded = succeeded });
        return kept.Id;
    }

    /// <summary>Waits for a request that runs.</summary>
    /// <exception cref="RequestNotFoundException">The request is not remembered.</exception>
    public async Task<Remembered> GetAsync(RequestKey key, CancellationToken cancellationToken)
    {
        Task<Remembered> task;
        lock (_gate)
        {
            if (!_known.TryGetValue(key, out var known)) throw new RequestNotFoundException(key.Id);
            task = known.Source.Task;
        }

        return await task.WaitAsync(cancellationToken);
    }

    /// <summary>Keeps the decision of a write that was in doubt.</summary>
    public void Settle(RequestKey key, V1.ResolveResponse response)
    {
        lock (_gate)
        {
            if (_known.TryGetValue(key, out var known)) known.Source = Known.Completed(new Remembered(response));
        }
    }

    private static V1.ResolveResponse WithoutResults(V1.TransactResponse response) => response.Committed is { } done
        ? new V1.ResolveResponse
        {
            Committed = new V1.Committed { Succeeded = done.Succeeded, Version = done.Version },
        }
        : new V1.ResolveResponse { Aborted = response.Aborted };

    private void Set(RequestKey key, Remembered remembered)
    {
        lock (_gate)
        {
            // The request may have been forgotten while it ran.
            if (_known.TryGetValue(key, out var known)) known.Source.TrySetResult(remembered);
        }
    }

    private void Add(RequestKey key, Known known)
    {
        known.Place = _order.AddLast(key);
        _known.Add(key, known);
        var limits = options.Value.Tango;
        if (key.Owner.Length > 0)
        {
            if (!_owners.TryGetValue(key.Owner, out var own)) _owners.Add(key.Owner, own = []);
            known.OwnPlace = own.AddLast(key);
            if (own.Count > limits.MaxRememberedOfCaller) Remove(own.First!.Value);
        }

        if (_order.Count > limits.MaxRememberedTransactions) Remove(_order.First!.Value);
    }

    private void Remove(RequestKey key)
    {
        if (!_known.Remove(key, out var known)) return;
        _order.Remove(known.Place!);
        if (known.OwnPlace is { } place)
        {
            var own = place.List!;
            own.Remove(place);
            if (own.Count == 0) _owners.Remove(key.Owner);
        }

        known.Source.TrySetException(new RequestNotFoundException(key.Id));
    }

    private sealed class Known
    {
        public Known()
        {
            Source = new TaskCompletionSource<Remembered>(TaskCreationOptions.RunContinuationsAsynchronously);
            // No caller may wait for it.
            _ = Source.Task.ContinueWith(static task => _ = task.Exception, TaskScheduler.Default);
        }

        public TaskCompletionSource<Remembered> Source { get; set; }

        public LinkedListNode<RequestKey>? Place { get; set; }

        /// <summary>Null: nothing authenticates the owner.</summary>
        public LinkedListNode<RequestKey>? OwnPlace { get; set; }

        public static TaskCompletionSource<Remembered> Completed(Remembered remembered)
        {
            var source = new TaskCompletionSource<Remembered>();
            source.SetResult(remembered);
            return source;
        }
    }
}

/// <summary>The front end's record of a write.</summary>
internal sealed record Remembered(V1.ResolveResponse Response)
{
    /// <summary>Null: it is decided.</summary>
    public TxOutcome.InDoubt? InDoubt { get; init; }

    /// <summary>For a write in doubt: whether its comparisons held.</summary>
    public bool Succeeded { get; init; }
}
