namespace Corfu.Layout;

/// <summary>An acceptor as a role of a process. Answers leave in the order of their requests, each after everything it
/// rests on is durable; what arrives during one flush shares the next. It has no thread and no clock of its own: the
/// simulator runs it as it is.</summary>
public sealed class AcceptorHandler : IRoleHandler, IAsyncDisposable
{
    private readonly record struct Waiting(Request Request, Response Response, ReplyTo Reply);

    private readonly record struct Watcher(WatchRequest Request, ReplyTo Reply);

    private readonly AcceptorCore _core;
    private readonly AcceptorLog _log;
    private readonly IAcceptorDevice _device;
    private readonly AcceptorOptions _options;
    private readonly TaskCompletionSource<Exception> _fault = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly Lock _gate = new();

    // Guarded by _gate. Every record of _records belongs to an answer of _waiting. _committing: the one commit loop
    // runs.
    private List<Waiting> _waiting = [];
    private List<AcceptorRecord> _records = [];
    private bool _committing;
    private bool _failed;

    // Guarded by _gate, oldest first, at most MaxWatchers. Each waits for a projection above its epoch.
    private readonly List<Watcher> _watchers = [];
    private Task _commits = Task.CompletedTask;

    private AcceptorHandler(AcceptorCore core, AcceptorLog log, IAcceptorDevice device, AcceptorOptions options)
    {
        _core = core;
        _log = log;
        _device = device;
        _options = options;
    }

    public NodeRole Role => NodeRole.Acceptor;

    public NodeId Id => _log.Id;

    public ClusterId Cluster => _log.Cluster;

    /// <summary>Completes, with the reason, when the disk has failed: every answer is <see cref="Status.Failed"/> from
    /// then on.</summary>
    public Task<Exception> Fault => _fault.Task;

    /// <summary>The newest decided projection known here; perhaps not durable yet, and no quorum's word.</summary>
    public Projection? Latest
    {
        get
        {
            lock (_gate) return _core.Latest;
        }
    }

    /// <summary>Opens the acceptor of a device, which it then owns. An empty device is formatted as
    /// <paramref name="formatAs"/>, or refused when that is none: an acceptor never restarts empty under an identity
    /// that has voted. The caller therefore names an identity only where none has ever been served, and knows so
    /// durably. Leftovers of a crash during the formatting are then no damage.</summary>
    /// <exception cref="AcceptorLogDamagedException">Empty, damaged, or another cluster's.</exception>
    public static async Task<AcceptorHandler> OpenAsync(
        IAcceptorDevice device, ClusterId cluster, NodeId formatAs = default, AcceptorOptions? options = null)
    {
        using var activity = LayoutTelemetry.Activities.StartActivity("corfu.layout.open");
        if (!formatAs.IsNone && await AcceptorLog.ClearUnfinishedAsync(device))
            await AcceptorLog.FormatAsync(device, cluster, formatAs);
        options ??= new AcceptorOptions();
        options.Validate();
        var core = new AcceptorCore(options);
        var log = await AcceptorLog.OpenAsync(device, core, options.Reserve);
        if (log.Cluster != cluster)
            throw new AcceptorLogDamagedException(
                $"The acceptor's log belongs to cluster {log.Cluster}, not {cluster}.");
        return new AcceptorHandler(core, log, device, options);
    }

    public void Handle(Request request, ReplyTo reply)
    {
        Status accepted;
        lock (_gate) accepted = Enqueue(request, reply);
        if (accepted != Status.Ok) reply.Send(request.Fail(accepted, Epoch.None));
        // R12: it is decided, by what is durable at a majority, whether this acceptor has written that down or not.
        if (request is DecidedRequest) TellWatchers();
    }

    // Guarded by the caller. Ok: an answer follows after a commit.
    private Status Enqueue(Request request, ReplyTo reply)
    {
        if (_failed) return Status.Failed;
        // R2: in a slot of this cluster it would be completed by the next reader, and every client would leave.
        if (request is AcceptRequest { Value: var value } && value.Cluster != Cluster
            || request is DecidedRequest { Value: var decided } && decided.Cluster != Cluster) return Status.BadRequest;
        if (_waiting.Count >= _options.MaxWaiting) return Status.Overloaded;
        if (request is WatchRequest watch && (_core.Latest?.Epoch ?? Epoch.None) <= watch.Known)
        {
            Watch(new Watcher(watch, reply));
            return Status.Ok;
        }

        // Even without records of its own: the answer may rest on records of an earlier request that are not flushed.
        var answer = _core.Handle(request);
        _records.AddRange(answer.Records);
        _waiting.Add(new Waiting(request, answer.Response, reply));
        return Status.Ok;
    }

    // Guarded by the caller. A connection has one watcher: its client asks again only when it has given up the earlier
    // answer. At the limit the oldest is evicted.
    private void Watch(Watcher watcher)
    {
        var evicted = RemoveWatchers(earlier => earlier.Reply.IsSameWay(watcher.Reply));
        _watchers.Add(watcher);
        if (_watchers.Count > _options.MaxWatchers)
        {
            evicted.Add(_watchers[0]);
            _watchers.RemoveAt(0);
        }

        _waiting.AddRange(evicted.Select(e => new Waiting(e.Request, _core.Handle(e.Request).Response, e.Reply)));
    }

    // Guarded by the caller.
    private List<Watcher> RemoveWatchers(Predicate<Watcher> which)
    {
        var removed = _watchers.FindAll(which);
        if (removed.Count > 0) _watchers.RemoveAll(which);
        return removed;
    }

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
        Fail(new ObjectDisposedException(nameof(AcceptorHandler)));
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
                LayoutTelemetry.Commits.Add(1);
            }
            catch (IOException e) when (AcceptorLog.IsFull(e))
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

            foreach (var (_, response, reply) in answers) reply.Send(response);
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
        catch (IOException e) when (AcceptorLog.IsFull(e))
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
        Projection? latest;
        lock (_gate)
        {
            latest = _core.Latest;
            if (latest is null) return;
            told = RemoveWatchers(watcher => watcher.Request.Known < latest.Epoch);
        }

        foreach (var (_, reply) in told) reply.Send(new LayoutResponse(Status.Ok, latest.Epoch, null, latest));
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
        foreach (var (request, reply) in watchers) reply.Send(request.Fail(Status.Failed, Epoch.None));
        if (_fault.TrySetResult(reason) && reason is not ObjectDisposedException) LayoutTelemetry.Failures.Add(1);
    }

    private static void Refuse(List<Waiting> answers, Status status)
    {
        foreach (var (request, _, reply) in answers) reply.Send(request.Fail(status, Epoch.None));
    }
}
