using System.Collections.Immutable;
using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Layout;

/// <summary>
/// An acceptor as a role of a process. Answers leave in the order of their requests, each after everything it rests on
/// is durable; what arrives during one flush shares the next. It has no thread and no clock of its own: the simulator
/// runs it as it is.
/// </summary>
public sealed class AcceptorHandler : IRoleHandler, IAsyncDisposable
{
    private readonly record struct Waiting(Request Request, Response Response, ReplyTo Reply);

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

    // Guarded by _gate; at most MaxWatchers. Each waits for a projection above its epoch.
    private readonly Queue<(Epoch Known, WatchRequest Request, ReplyTo Reply)> _watchers = new();
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

    /// <summary>
    /// Completes, with the reason, when the disk has failed: from then on everything is answered with
    /// <see cref="Status.Failed"/>.
    /// </summary>
    public Task<Exception> Fault => _fault.Task;

    /// <summary>
    /// The newest decided projection known here; not necessarily durable yet, and no quorum's word. For people.
    /// </summary>
    public Projection? Latest
    {
        get
        {
            lock (_gate) return _core.Latest;
        }
    }

    /// <summary>
    /// Opens the acceptor of a device, which it then owns. An empty device is formatted as <paramref name="formatAs"/>,
    /// or refused when that is none: an acceptor never restarts empty under an identity that has voted (R12). So the
    /// caller names an identity only where none has ever been served, and durably knows so; what a crash while it was
    /// formatted has left is then no damage.
    /// </summary>
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
        Take(request, reply);
        // R12: it is decided, by what is durable at a majority, whether this acceptor has written that down or not.
        if (request is DecidedRequest) TellWatchers();
    }

    private void Take(Request request, ReplyTo reply)
    {
        Response refusal;
        lock (_gate)
        {
            if (_failed)
            {
                refusal = request.Fail(Status.Failed, Epoch.None);
            }
            else if (request is AcceptRequest { Value: var value } && value.Cluster != Cluster
                || request is DecidedRequest { Value: var decided } && decided.Cluster != Cluster)
            {
                // R2: in a slot of this cluster it would be completed by the next reader, and every client would leave.
                refusal = request.Fail(Status.BadRequest, Epoch.None);
            }
            else if (_waiting.Count >= _options.MaxWaiting)
            {
                refusal = request.Fail(Status.Overloaded, Epoch.None);
            }
            else if (request is WatchRequest watch && (_core.Latest?.Epoch ?? Epoch.None) <= watch.Known)
            {
                Watch(watch, reply);
                return;
            }
            else
            {
                // In a queue even without records of its own: it may speak of what an earlier request's flush has not
                // covered yet.
                var answer = _core.Handle(request);
                _records.AddRange(answer.Records);
                _waiting.Add(new Waiting(request, answer.Response, reply));
                return;
            }
        }

        reply.Send(refusal);
    }

    // Guarded by the caller. The newest watcher of a connection counts: who asks again does not wait for the earlier
    // answer any more.
    private void Watch(WatchRequest watch, ReplyTo reply)
    {
        Take(watcher => watcher.Reply.IsSameWay(reply), End);
        _watchers.Enqueue((watch.Known, watch, reply));
        if (_watchers.Count > _options.MaxWatchers) End(_watchers.Dequeue());

        void End((Epoch Known, WatchRequest Request, ReplyTo Reply) watcher) =>
            _waiting.Add(new Waiting(watcher.Request, _core.Handle(watcher.Request).Response, watcher.Reply));
    }

    // Guarded by the caller.
    private void Take(
        Predicate<(Epoch Known, WatchRequest Request, ReplyTo Reply)> which,
        Action<(Epoch Known, WatchRequest Request, ReplyTo Reply)> into)
    {
        for (var left = _watchers.Count; left > 0; left--)
        {
            var watcher = _watchers.Dequeue();
            if (which(watcher)) into(watcher);
            else _watchers.Enqueue(watcher);
        }
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
#if PLANTED
                if (Planted.Is("acceptor-forgets")) records.Clear();
#endif
                await StoreAsync(records, snapshot);
                LayoutTelemetry.Commits.Add(1);
            }
            catch (IOException e) when (AcceptorLog.IsFull(e))
            {
                // The core is ahead of the log by these: they go with the next attempt, and nothing that may rest on
                // them is said before.
                lock (_gate) _records.InsertRange(0, records);
                foreach (var (request, _, reply) in answers) reply.Send(request.Fail(Status.NoSpace, Epoch.None));
                continue;
            }
            catch (Exception e)
            {
                // R12: what is on the disk is unknown now; a failed flush is never retried, and nothing is promised any
                // more.
                Fail(e);
                foreach (var (request, _, reply) in answers) reply.Send(request.Fail(Status.Failed, Epoch.None));
                return;
            }

            foreach (var (_, response, reply) in answers) reply.Send(response);
        }
    }

    // Where one area has no room, the other may: each way says the same.
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
        List<ReplyTo> told = [];
        Projection? latest;
        lock (_gate)
        {
            latest = _core.Latest;
            if (latest is null) return;
            Take(watcher => watcher.Known < latest.Epoch, watcher => told.Add(watcher.Reply));
        }

        foreach (var reply in told) reply.Send(new LayoutResponse(Status.Ok, latest.Epoch, null, latest));
    }

    private void Fail(Exception reason)
    {
        List<Waiting> answers;
        lock (_gate)
        {
            _failed = true;
            (answers, _waiting) = (_waiting, []);
            while (_watchers.TryDequeue(out var watcher))
                answers.Add(
                    new Waiting(watcher.Request, watcher.Request.Fail(Status.Failed, Epoch.None), watcher.Reply));
            _records.Clear();
        }

        foreach (var (request, _, reply) in answers) reply.Send(request.Fail(Status.Failed, Epoch.None));
        if (_fault.TrySetResult(reason) && reason is not ObjectDisposedException) LayoutTelemetry.Failures.Add(1);
    }
}
