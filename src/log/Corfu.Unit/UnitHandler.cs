namespace Corfu.Unit;

/// <summary>A unit as a role of a process: a short lock around the core, one queue of answers that wait for durability,
/// page reads outside the lock. It has no thread and no clock of its own, so the simulator runs it as it is.</summary>
public sealed class UnitHandler : IRoleHandler, IStoreObserver, IPageStates, IAsyncDisposable
{
    private readonly UnitCore _core;
    private readonly IPageStore _store;
    private readonly UnitHandlerOptions _options;
    private readonly TaskCompletionSource<Exception> _fault = new(TaskCreationOptions.RunContinuationsAsynchronously);

    // Guards the core and the store's synchronous side. Order: _gate before _queueGate.
    private readonly Lock _gate = new();

    // Guards the fields up to _drained. Answers enter in the order of the log, or later, so the queue's head is the
    // next to be released.
    private readonly Lock _queueGate = new();
    private readonly Queue<WaitingAnswer> _waiting = new();
    private int _waitingCount;
    private long _durable;

    // The cleaner's.
    private (long Lsn, TaskCompletionSource Done)? _durableWait;

    // The queue was emptied for the last time: nothing may enter it any more.
    private bool _drained;
    private volatile bool _failed;
    private volatile string _reason = "";
    private int _pendingReads;
    private long _pendingReadBytes;
    private readonly LogCleaner? _cleaner;

    internal UnitHandler(NodeId id, UnitCore core, IPageStore store, UnitHandlerOptions? options = null)
    {
        Id = id;
        _core = core;
        _store = store;
        _options = options ?? new UnitHandlerOptions();
        store.Observer = this;
        if (store.Cleanable is { } cleanable) _cleaner = new LogCleaner(this, cleanable, OnFailed);
        UnitGauges.Units.Add(this);
    }

    /// <summary>For gauges.</summary>
    internal UnitFigures Figures
    {
        get
        {
            UnitFigures figures;
            lock (_gate) figures = _core.Figures;
            return figures with
            {
                Health = _failed ? UnitHealth.Failed : figures.Health,
                Waiting = Volatile.Read(ref _waitingCount),
                PendingReadBytes = Volatile.Read(ref _pendingReadBytes),
            };
        }
    }

    /// <summary>Room and size of the store's file system; null where that is not known.</summary>
    internal (long Free, long Total)? Disk => _failed ? null : _store.Disk;

    internal bool IsStopped => _failed;

    /// <summary>Frees all disk space that trims have released by now. The cleaner also does so on its own.</summary>
    public Task CleanAsync() => _cleaner?.CleanAsync() ?? Task.CompletedTask;

    /// <summary>The shortage because of which pages are refused, or soon will be, for people; empty: there is
    /// none.</summary>
    public string Shortage => _core.Shortage;

    public NodeRole Role => NodeRole.Unit;

    public NodeId Id { get; }

    public int MaxWaiting => _options.MaxWaitingAnswers;

    /// <summary>Completes, with the reason, when the store has failed: from then on everything is answered with
    /// <see cref="Status.Failed"/>.</summary>
    public Task<Exception> Fault => _fault.Task;

    public void Handle(Request request, ReplyTo reply)
    {
        UnitAnswer answer;
        bool waits;
        try
        {
            lock (_gate)
            {
                answer = Take(request);
                waits = TryEnqueue(answer, request, reply);
            }
        }
        catch (Exception failure) when (failure is StoreFailedException or IOException)
        {
            OnFailed(failure);
            reply.Send(Failed(request));
            return;
        }

        if (!waits) Release(answer, request, reply);
    }

    /// <summary>Commits once for everything that arrived together.</summary>
    public void BatchEnd() => _store.Commit();

    public void OnDurable(long lsn) => OnDurable(lsn, TimeSpan.Zero);

    public void OnDurable(long lsn, TimeSpan took)
    {
        var spans = UnitTelemetry.Activities.HasListeners() ? new CommitSpans(took) : null;
        try
        {
            ReleaseUpTo(lsn, spans);
        }
        finally
        {
            spans?.Record();
        }
    }

    private void ReleaseUpTo(long lsn, CommitSpans? spans)
    {
        // Null for a lone answer.
        ReplyBatch? batch = null;
        try
        {
            while (TryRelease(lsn, out var next, out var isLast))
            {
                if (!isLast) batch ??= new ReplyBatch();
                batch?.Add(next.Reply);
                spans?.Add(next.Reply.Trace);
                Release(next.Answer, next.Request, next.Reply);
            }
        }
        finally
        {
            batch?.Flush();
        }
    }

    private bool TryRelease(long lsn, out WaitingAnswer next, out bool isLast)
    {
        lock (_queueGate)
        {
            if (lsn > _durable) _durable = lsn;
            if (_durableWait is { } wait && wait.Lsn <= _durable)
            {
                _durableWait = null;
                wait.Done.SetResult();
            }

            (next, isLast) = (default, true);
            if (!IsHeadDurable) return false;
            next = _waiting.Dequeue();
            _waitingCount = _waiting.Count;
            isLast = !IsHeadDurable;
            return true;
        }
    }

    // Under the queue's gate.
    private bool IsHeadDurable => _waiting.Count > 0 && _waiting.Peek().Answer.Lsn <= _durable;

    public void OnFailed(Exception error)
    {
        _reason = error.Message;
        _failed = true;
        WaitingAnswer[] waiting;
        lock (_queueGate)
        {
            waiting = [.. _waiting];
            _waiting.Clear();
            _waitingCount = 0;
            _drained = true;
            _durableWait?.Done.SetException(Ended());
            _durableWait = null;
        }

        // The outcome of these requests is unknown: the records may or may not be on disk.
        foreach (var item in waiting) item.Reply.Send(item.Request.Fail(Status.Failed, _core.Epoch));
        _fault.TrySetResult(error);
    }

    public async ValueTask DisposeAsync()
    {
        UnitGauges.Units.Remove(this);
        if (_cleaner is not null) await _cleaner.DisposeAsync();
        // No new requests; accepted ones are committed and answered.
        lock (_gate) _failed = true;
        await _store.DisposeAsync();
        OnFailed(new ObjectDisposedException(nameof(UnitHandler)));
    }

    private Response Failed(Request request) => request is UnitInfoRequest
        ? UnitInfoResponse.Failed(_core.Epoch, _reason)
        : request.Fail(Status.Failed, _core.Epoch);

    /// <summary>A short step of the cleaner, between requests.</summary>
    internal T WithCore<T>(Func<UnitCore, T> step)
    {
        lock (_gate)
        {
            if (_failed) throw Ended();
            return step(_core);
        }
    }

    /// <summary>Makes everything appended so far durable and gives its end. Takes one caller at a time.</summary>
    internal async ValueTask<long> WaitDurableAsync()
    {
        var lsn = _store.AppendedUntil;
        var done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        lock (_queueGate)
        {
            if (_drained) throw Ended();
            // The store publishes its progress before it reports it here, so the wait ends.
            if (lsn <= _durable || lsn <= _store.DurableUntil) return lsn;
            _durableWait = (lsn, done);
        }

        _store.Commit();
        await done.Task;
        return lsn;
    }

    private static StoreFailedException Ended() => new("The unit has ended.");

    // Limits are checked before the core sees the request: Overloaded means that nothing was done.
    private UnitAnswer Take(Request request)
    {
        if (_failed) return new UnitAnswer(0, Failed(request));
        if (Volatile.Read(ref _waitingCount) < _options.MaxWaitingAnswers) return _core.Handle(request);
        UnitTelemetry.Overloaded.Add(1);
        return new UnitAnswer(0, request.Fail(Status.Overloaded, _core.Epoch));
    }

    // True if the answer waits for durability.
    private bool TryEnqueue(in UnitAnswer answer, Request request, ReplyTo reply)
    {
        if (Planted.Is("unit-acks-before-durable")) return false;
        if (answer.Lsn <= _store.DurableUntil) return false;
        lock (_queueGate)
        {
            // The store publishes its progress before it reports it here, so the answer is not left in the queue.
            if (answer.Lsn <= _durable || answer.Lsn <= _store.DurableUntil) return false;
            if (!_drained)
            {
                _waiting.Enqueue(new WaitingAnswer(answer, request, reply));
                _waitingCount = _waiting.Count;
                return true;
            }
        }

        reply.Send(request.Fail(Status.Failed, _core.Epoch));
        return true;
    }

    private void Release(in UnitAnswer answer, Request request, ReplyTo reply)
    {
        if (answer.Plan is null)
        {
            reply.Send(answer.Response!);
            return;
        }

        var bytes = PageReader.BytesOf(answer.Plan);
        var reads = Interlocked.Increment(ref _pendingReads);
        var pending = Interlocked.Add(ref _pendingReadBytes, bytes);
        var isShared = reply.Share is not { } share || share.TryHold(Weight(bytes), _options.MaxPendingReadBytes);
        if (!isShared || reads > _options.MaxPendingReads || (reads > 1 && pending > _options.MaxPendingReadBytes))
        {
            EndRead(bytes);
            if (isShared) reply.Share?.Release(Weight(bytes));
            UnitTelemetry.Overloaded.Add(1);
            reply.Send(request.Fail(Status.Overloaded, answer.Plan.Epoch));
            return;
        }

        _ = ReadAsync(answer.Plan, bytes, request, reply);
    }

    private async Task ReadAsync(ReadPlan plan, long bytes, Request request, ReplyTo reply)
    {
        try
        {
            reply.Send(await PageReader.ReadAsync(_store, plan, this));
        }
        catch (Exception error)
            when (error is IOException or StoreFailedException or ObjectDisposedException
                or UnauthorizedAccessException)
        {
            reply.Send(request.Fail(Status.Failed, plan.Epoch));
        }
        finally
        {
            EndRead(bytes);
            reply.Share?.Release(Weight(bytes));
        }
    }

    // A small read takes its part of the number of reads.
    private long Weight(long bytes) => Math.Max(bytes, _options.MaxPendingReadBytes / _options.MaxPendingReads);

    private void EndRead(long bytes)
    {
        Interlocked.Add(ref _pendingReadBytes, -bytes);
        Interlocked.Decrement(ref _pendingReads);
    }

    (PlannedPage Page, long Lsn) IPageStates.Plan(LogPosition position) => WithCore(unit => unit.Plan(position));

    void IPageStates.MarkCorrupt(LogPosition position, long address, CorruptPage page)
    {
        UnitTelemetry.CorruptPages.Add(1);
        lock (_gate) _core.MarkCorrupt(position, address, page);
    }

    bool IPageStates.MarkSound(LogPosition position, long address, ReadOnlyMemory<byte> entry) =>
        WithCore(unit => unit.MarkSound(position, address, entry));
}

/// <summary>An answer that may not be sent yet (R4), and where it goes.</summary>
internal readonly record struct WaitingAnswer(UnitAnswer Answer, Request Request, ReplyTo Reply);
