using System.Threading.Tasks.Sources;

namespace Corfu.Client;

/// <summary>An own position with the headers to write there. A grant, not a write.</summary>
/// <param name="Besides">The tails of the streams besides; empty where the sequencer does not tell them.</param>
/// <param name="Ruling">On the declaration; there is a position only if it is granted. Null: nothing was
/// decided.</param>
internal readonly record struct TokenGrant(EpochView View, LogPosition Position, ImmutableArray<StreamHeader> Headers,
    ImmutableArray<StreamTail> Besides, Ruling? Ruling = null);

/// <summary>Positions for appends. Appends to the same streams that come while requests are in flight share the next
/// one; an append that is alone asks at once.</summary>
internal sealed class TokenSource(Retry retry, SequencerClient sequencer, ClientClock clock)
{
    internal const int MaxTokensPerRequest = 256;
    private const int RequestsInFlight = 2;

    private readonly Lock _gate = new();

    // Guarded by _gate, with the queues: one for each set of streams that has a request in flight.
    private readonly Dictionary<StreamSet, Queue> _queues = [];

    /// <param name="besides">Streams whose tails are to be told too; none of <paramref name="streams"/>.</param>
    /// <param name="declaration">Reads and writes of the entry, within the limits of one request. Null: nothing is
    /// declared.</param>
    /// <param name="neverBlocks">The caller does not block, nor return to one that may, before it has awaited something
    /// else: it may resume on the thread that receives from the sequencer.</param>
    /// <exception cref="OperationCanceledException">No position was granted for this caller.</exception>
    public ValueTask<TokenGrant> TakeAsync(ImmutableArray<StreamId> streams, ImmutableArray<StreamId> besides,
        Declaration? declaration, ushort graceMilliseconds, bool neverBlocks, CancellationToken cancellationToken)
    {
        var waiter = new Waiter(declaration, graceMilliseconds, neverBlocks);
        var set = new StreamSet(streams, besides, declaration is not null);
        Queue? queue;
        bool ask;
        lock (_gate)
        {
            if (!_queues.TryGetValue(set, out queue)) _queues.Add(set, queue = new Queue(set));
            queue.Waiting.Enqueue(waiter);
            ask = queue.InFlight < RequestsInFlight;
            if (ask) queue.InFlight++;
        }

        if (ask) Start(queue);

        // The position of a cancelled waiter goes to the next one, unless it is declared.
        return waiter.WaitAsync(cancellationToken);
    }

    // Apart from TakeAsync, which would allocate the lambda's closure for each append.
    private void Start(Queue queue) => clock.Loops.Start(() => AskAsync(queue));

    private async Task AskAsync(Queue queue)
    {
        while (NextBatch(queue) is { } batch)
        {
            try
            {
                await AskAsync(queue.Set, batch);
            }
            catch (Exception e)
            {
                foreach (var waiter in batch) waiter.TrySetException(e);
            }
        }
    }

    private List<Waiter>? NextBatch(Queue queue)
    {
        lock (_gate)
        {
            while (queue.Waiting.TryPeek(out var gone) && gone.IsSettled) queue.Waiting.Dequeue();
            if (queue.Waiting.Count == 0)
            {
                if (--queue.InFlight == 0) _queues.Remove(queue.Set);
                return null;
            }

            var batch = new List<Waiter>(Math.Min(queue.Waiting.Count, MaxTokensPerRequest));
            if (queue.Set.IsDeclared) TakeDeclared(queue, batch);
            while (!queue.Set.IsDeclared && batch.Count < MaxTokensPerRequest
                && queue.Waiting.TryDequeue(out var waiter)) batch.Add(waiter);
            return batch;
        }
    }

    // At least one, and more as far as one request may declare. A waiter that is gone declares nothing any more.
    private static void TakeDeclared(Queue queue, List<Waiter> batch)
    {
        var (scopes, size) = (0, 0);
        var (waiting, streams) = (queue.Waiting, queue.Set.Streams.Length);
        while (batch.Count < MaxTokensPerRequest && (batch.Count + 1) * streams <= Declaration.MaxEntered
            && waiting.TryPeek(out var waiter))
        {
            if (!waiter.IsSettled)
            {
                scopes += waiter.Declaration!.Scopes;
                size += waiter.Declaration.Size;
                if (batch.Count > 0 && (scopes > Declaration.MaxScopes || size > Declaration.MaxBytes)) return;
                batch.Add(waiter);
            }

            waiting.Dequeue();
        }
    }

    // If an answer is lost, the positions that it granted are holes, which readers close.
    private ValueTask AskAsync(StreamSet set, List<Waiter> batch)
    {
        var grace = batch.Max(w => w.GraceMilliseconds);
        ImmutableArray<Declaration> declarations = set.IsDeclared ? [.. batch.Select(w => w.Declaration!)] : [];
        return retry.RunAsync("A token", AttemptAsync, clock.Closed);

        async ValueTask<Status> AttemptAsync(EpochView view)
        {
            var response = await sequencer.TakeAsync(
                view, batch.Count, set.Streams, set.Besides, declarations, grace, clock.Closed);
            if (!response.IsOk) return response.Status;
            if (set.IsDeclared && !Planted.Is("position-passed-on")) DistributeDeclared(view, batch, response);
            else Distribute(view, batch, response);
            return response.Status;
        }
    }

    // R28: a declaration and its ruling hold for their position. That of a cancelled waiter is a hole: the next waiter
    // writes something else.
    private static void DistributeDeclared(EpochView view, List<Waiter> batch, TokenResponse response)
    {
        var granted = 0;
        for (var i = 0; i < batch.Count; i++)
        {
            var ruling = RulingOf(response, i);
            if (ruling is { IsGranted: false })
            {
                batch[i].TrySetResult(new TokenGrant(view, default, [], [], ruling), batch.Count == 1);
                continue;
            }

            batch[i].TrySetResult(new TokenGrant(
                view, response.First + granted, HeadersOf(response, granted), response.Besides, ruling),
                batch.Count == 1);
            granted++;
        }
    }

    // R28: the silence of a sequencer that does not decide is no ruling.
    private static Ruling? RulingOf(TokenResponse response, int index)
    {
        if (!response.Rulings.IsEmpty) return response.Rulings[index];
        return Planted.Is("silence-is-a-ruling") ? Ruling.Granted : null;
    }

    private static void Distribute(EpochView view, List<Waiter> batch, TokenResponse response)
    {
        var next = 0;
        for (var i = 0; i < batch.Count; i++)
        {
            var grant = new TokenGrant(view, response.First + i, HeadersOf(response, i), response.Besides,
                batch[i].Declaration is null ? null : RulingOf(response, i));
            while (next < batch.Count && !batch[next++].TrySetResult(grant, batch.Count == 1))
            {
            }
        }
    }

    private static ImmutableArray<StreamHeader> HeadersOf(TokenResponse response, int index)
    {
        if (response.Previous.IsEmpty) return [];
        var headers = ImmutableArray.CreateBuilder<StreamHeader>(response.Previous.Length);
        foreach (var tail in response.Previous)
            headers.Add(new StreamHeader(tail.Stream, BackpointersOf(response.First, index, tail.Positions)));
        return headers.MoveToImmutable();
    }

    /// <summary>The i-th token of a run follows the run's earlier ones in every stream.</summary>
    private static ImmutableArray<LogPosition> BackpointersOf(
        LogPosition first, int index, ImmutableArray<LogPosition> previous)
    {
        if (index == 0) return previous;
        var own = Math.Min(index, StreamHeader.MaxBackpointers);
        var older = Math.Min(StreamHeader.MaxBackpointers - own, previous.Length);
        var pointers = ImmutableArray.CreateBuilder<LogPosition>(own + older);
        for (var i = 1; i <= own; i++) pointers.Add(first + (index - i));
        pointers.AddRange(previous, older);
        return pointers.MoveToImmutable();
    }

    private sealed class Queue(StreamSet set)
    {
        public StreamSet Set { get; } = set;

        public Queue<Waiter> Waiting { get; } = new();

        public int InFlight { get; set; }
    }

    /// <summary>An append that waits for its position. The first of result, failure and cancellation settles
    /// it.</summary>
    private sealed class Waiter(Declaration? declaration, ushort graceMilliseconds, bool neverBlocks)
        : IValueTaskSource<TokenGrant>
    {
        private ManualResetValueTaskSourceCore<TokenGrant> _core;
        private CancellationTokenRegistration _cancellation;
        private int _isSettled;

        public Declaration? Declaration => declaration;

        public ushort GraceMilliseconds => graceMilliseconds;

        public bool IsSettled => Volatile.Read(ref _isSettled) != 0;

        public ValueTask<TokenGrant> WaitAsync(CancellationToken cancellationToken)
        {
            if (cancellationToken.CanBeCanceled)
                _cancellation = cancellationToken.UnsafeRegister(
                    static (state, token) => ((Waiter)state!).TrySetException(new OperationCanceledException(token)),
                    this);
            return new ValueTask<TokenGrant>(this, _core.Version);
        }

        /// <param name="isLone">No other waiter has a position of the same answer: none is delayed.</param>
        public bool TrySetResult(in TokenGrant grant, bool isLone)
        {
            if (!TrySettle()) return false;
            _core.RunContinuationsAsynchronously = !(isLone && neverBlocks);
            _core.SetResult(grant);
            return true;
        }

        public void TrySetException(Exception error)
        {
            if (!TrySettle()) return;
            _core.RunContinuationsAsynchronously = true;
            _core.SetException(error);
        }

        TokenGrant IValueTaskSource<TokenGrant>.GetResult(short token)
        {
            _cancellation.Unregister();
            return _core.GetResult(token);
        }

        ValueTaskSourceStatus IValueTaskSource<TokenGrant>.GetStatus(short token) => _core.GetStatus(token);

        void IValueTaskSource<TokenGrant>.OnCompleted(
            Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
            _core.OnCompleted(continuation, state, token, flags);

        private bool TrySettle() => Interlocked.Exchange(ref _isSettled, 1) == 0;
    }

    /// <summary>The streams of one append, and those besides, compared by content and order. Appends that declare
    /// nothing wait apart.</summary>
    private readonly struct StreamSet(
        ImmutableArray<StreamId> streams, ImmutableArray<StreamId> besides, bool isDeclared) : IEquatable<StreamSet>
    {
        public bool IsDeclared { get; } = isDeclared;

        public ImmutableArray<StreamId> Streams { get; } = streams;

        public ImmutableArray<StreamId> Besides { get; } = besides;

        public bool Equals(StreamSet other) =>
            IsDeclared == other.IsDeclared
            && Streams.AsSpan().SequenceEqual(other.Streams.AsSpan())
            && Besides.AsSpan().SequenceEqual(other.Besides.AsSpan());

        public override bool Equals(object? obj) => obj is StreamSet other && Equals(other);

        public override int GetHashCode()
        {
            var hash = Streams.Length;
            foreach (var stream in Streams) hash = unchecked((hash * 31) + stream.Value.GetHashCode());
            return hash;
        }
    }
}
