namespace Corfu.Register;

/// <summary>A durable acceptor of registers. Answers leave in the order of their requests, each after everything it
/// rests on is durable; what arrives during one flush shares the next. An acceptor has no thread and no clock of its
/// own: the simulator runs it as it is.</summary>
public sealed class Acceptor : IAsyncDisposable
{
    private readonly record struct Waiting(RegisterAnswer Answer, IRegisterCaller Caller);

    private readonly record struct Watcher(WatchNewest Request, IRegisterCaller Caller);

    private readonly AcceptorCore _core;
    private readonly AcceptorLog _log;
    private readonly IAcceptorDevice _device;
    private readonly IRegisterOwner _owner;
    private readonly AcceptorOptions _options;
    private readonly TaskCompletionSource<Exception> _fault = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly Lock _gate = new();

    // Guarded by _gate. Every record of _records belongs to an answer of _waiting. _committing: the one commit loop
    // runs.
    private List<Waiting> _waiting = [];
    private List<AcceptorRecord> _records = [];
    private bool _committing;
    private bool _failed;

    // Guarded by _gate, oldest first, at most MaxWatchers. Each waits for a decision above its slot.
    private readonly List<Watcher> _watchers = [];
    private Task _commits = Task.CompletedTask;

    private Acceptor(
        AcceptorCore core, AcceptorLog log, IAcceptorDevice device, IRegisterOwner owner, AcceptorOptions options)
    {
        _core = core;
        _log = log;
        _device = device;
        _owner = owner;
        _options = options;
    }

    public NodeId Id => _log.Id;

    public ClusterId Cluster => _log.Cluster;

    /// <summary>Completes, with the reason, when the disk has failed: every answer is <see cref="Status.Failed"/> from
    /// then on.</summary>
    public Task<Exception> Fault => _fault.Task;

    /// <summary>The newest decided value known here; perhaps not durable yet, and no quorum's word.</summary>
    public RegisterValue? Newest
    {
        get
        {
            lock (_gate) return _core.Newest;
        }
    }

    /// <summary>The highest slot with a ballot or a decision; none without one.</summary>
    public Epoch HighestSlot
    {
        get
        {
            lock (_gate) return _core.HighestSlot;
        }
    }

    /// <summary>Requests that wait for the next decision.</summary>
    public int WatcherCount
    {
        get
        {
            lock (_gate) return _watchers.Count;
        }
    }

    /// <summary>Opens the acceptor of a device, which it then owns. An empty device is formatted as
    /// <paramref name="formatAs"/>, or refused when that is none: an acceptor never restarts empty under an identity
    /// that has voted. The caller therefore names an identity only where none has ever been served, and knows so
    /// durably. Leftovers of a crash during the formatting are then no damage.</summary>
    /// <exception cref="AcceptorLogDamagedException">Empty, damaged, or another cluster's.</exception>
    public static async Task<Acceptor> OpenAsync(IAcceptorDevice device, IRegisterOwner owner, ClusterId cluster,
        NodeId formatAs = default, AcceptorOptions? options = null)
    {
        if (!formatAs.IsNone && await AcceptorLog.ClearUnfinishedAsync(device))
            await AcceptorLog.FormatAsync(device, cluster, formatAs);
        options ??= new AcceptorOptions();
        options.Validate();
        var core = new AcceptorCore(options);
        var log = await AcceptorLog.OpenAsync(device, core, owner, options.Reserve);
        if (log.Cluster != cluster)
            throw new AcceptorLogDamagedException(
                $"The acceptor's log belongs to cluster {log.Cluster}, not {cluster}.");
        return new Acceptor(core, log, device, owner, options);
    }

    /// <summary>Takes a request; <see cref="BatchEnd"/> follows after the last of a batch.</summary>
    public void Handle(RegisterRequest request, IRegisterCaller caller)
    {
        Status accepted;
        lock (_gate) accepted = Enqueue(request, caller);
        if (accepted != Status.Ok) caller.Answer(Refusal(accepted));
        // R12: it is decided, by what is durable at a majority, whether this acceptor has written that down or not.
        if (request is LearnDecision) TellWatchers();
    }

    /// <summary>Requests that may wait for the disk at once.</summary>
    public int MaxWaiting => _options.MaxWaiting;

    // Guarded by the caller. Ok: an answer follows after a commit.
    private Status Enqueue(RegisterRequest request, IRegisterCaller caller)
    {
        if (_failed) return Status.Failed;
        if (_waiting.Count >= _options.MaxWaiting) return Status.Overloaded;
        if (request is WatchNewest watch && (_core.Newest?.Slot ?? Epoch.None) <= watch.Known)
        {
            Watch(new Watcher(watch, caller));
            return Status.Ok;
        }

        // Even without records of its own: the answer may rest on records of an earlier request that are not flushed.
        var result = _core.Handle(request);
        _records.AddRange(result.Records);
        _waiting.Add(new Waiting(result.Answer, caller));
        return Status.Ok;
    }

    // Guarded by the caller. A connection has one watcher: its client asks again only when it has given up the earlier
    // answer. At the limit the oldest is evicted.
    private void Watch(Watcher watcher)
    {
        var evicted = RemoveWatchers(earlier => earlier.Caller.IsSameConnection(watcher.Caller));
        _watchers.Add(watcher);
        if (_watchers.Count > _options.MaxWatchers)
        {
            evicted.Add(_watchers[0]);
            _watchers.RemoveAt(0);
        }

        _waiting.AddRange(evicted.Select(e => new Waiting(_core.Handle(e.Request).Answer, e.Caller)));
    }

    // Guarded by the caller.
    private List<Watcher> RemoveWatchers(Predicate<Watcher> which)
    {
        var removed = _watchers.FindAll(which);
        if (removed.Count > 0) _watchers.RemoveAll(which);
        return removed;
    }

    /// <summary>Begins to make durable what was taken, unless that is under way.</summary>
    public void BatchEnd()
    {
        lock (_gate)
        {
            if (_committing || _waiting.Count == 0) return;
            _committing = true;
        }

        _commits = CommitAsync();
    }

    public async ValueTask DisposeAsync()
    {
        Fail(new ObjectDisposedException(nameof(Acceptor)));
        await _commits;
        await _device.DisposeAsync();
    }

    private async Task CommitAsync()
    {
        while (true)
        {
            List<Waiting> answers;
            List<AcceptorRecord> records;
            var snapshot = ImmutableArray<AcceptorRecord>.Empty;
            lock (_gate)
            {
                if (_waiting.Count == 0)
                {
                    _committing = false;
                    return;
                }

                (answers, _waiting) = (_waiting, []);
                (records, _records) = (_records, []);

                // The core is ahead of the log by exactly these records, so its snapshot says them too.
                if (records.Exists(r => r is FloorRecord) || _log.Grown > _options.CompactAfter)
                    snapshot = _core.Snapshot();
            }

            try
            {
                if (Planted.Is("acceptor-forgets")) records.Clear();
                await StoreAsync(records, snapshot);
                _owner.OnCommitted();
            }
            catch (AcceptorLogFullException)
            {
                // The core is ahead of the log by these records: they go with the next attempt, and no answer that may
                // rest on them leaves before.
                lock (_gate) _records.InsertRange(0, records);
                Refuse(answers, Status.NoSpace);
                continue;
            }
            catch (Exception e)
            {
                // R12: what is on the disk is unknown now. A failed flush is never retried, and nothing more is
                // promised.
                Fail(e);
                Refuse(answers, Status.Failed);
                return;
            }

            foreach (var (answer, caller) in answers) Tell(caller, answer);
        }
    }

    // If one area has no room, the other may: a snapshot and the records behind the last snapshot hold the same state.
    private async ValueTask StoreAsync(List<AcceptorRecord> records, ImmutableArray<AcceptorRecord> snapshot)
    {
        if (records.Count == 0 && snapshot.IsEmpty) return;
        try
        {
            if (snapshot.IsEmpty) await _log.AppendAsync(records);
            else await _log.CompactAsync(snapshot);
        }
        catch (AcceptorLogFullException)
        {
            if (!snapshot.IsEmpty)
            {
                if (records.Count > 0) await _log.AppendAsync(records);
                return;
            }

            lock (_gate)
            {
                records.AddRange(_records);
                _records.Clear();
                snapshot = _core.Snapshot();
            }

            await _log.CompactAsync(snapshot);
        }
    }

    private void TellWatchers()
    {
        List<Watcher> told;
        RegisterValue? newest;
        lock (_gate)
        {
            newest = _core.Newest;
            if (newest is null) return;
            told = RemoveWatchers(watcher => watcher.Request.Known < newest.Slot);
        }

        var answer = new RegisterAnswer(Status.Ok, newest.Slot, null, newest);
        foreach (var (_, caller) in told) Tell(caller, answer);
    }

    // A caller that cannot take its answer must not keep the others waiting. Fail empties its lists before it tells
    // anyone, so that a caller that fails there fails nothing twice.
    private void Tell(IRegisterCaller caller, RegisterAnswer answer)
    {
        try
        {
            caller.Answer(answer);
        }
        catch (Exception e)
        {
            Fail(e);
        }
    }

    private void Fail(Exception reason)
    {
        List<Waiting> answers;
        List<Watcher> watchers;
        lock (_gate)
        {
            _failed = true;
            (answers, _waiting) = (_waiting, []);
            watchers = RemoveWatchers(_ => true);
            _records.Clear();
        }

        Refuse(answers, Status.Failed);
        foreach (var (_, caller) in watchers) Tell(caller, Refusal(Status.Failed));
        if (_fault.TrySetResult(reason) && reason is not ObjectDisposedException) _owner.OnFailed(reason);
    }

    private void Refuse(List<Waiting> answers, Status status)
    {
        foreach (var (_, caller) in answers) Tell(caller, Refusal(status));
    }

    private static RegisterAnswer Refusal(Status status) => new(status, Epoch.None);
}
