using System.Diagnostics.CodeAnalysis;
using Salus.Region.Body;
using Salus.Region.Recovery;

namespace Salus.Region.Core;

/// <summary>A region at one member in one generation: order, checks and signatures of batches, their commit, reads,
/// and the beginnings of runs. All of it runs in the region's turns.</summary>
/// <remarks>
/// A batch goes through these states: <i>placed</i> (this member has given it an index and signed that, <c>.Puts</c>,
/// <c>.Forwards</c>), <i>appended</i> (all members have signed; it is in the store's log), <i>prepared</i> (durable,
/// and signed so, <c>.Votes</c>), <i>committed</i> (proven by its leader, <c>.Leader</c>, <c>.Apply</c>) or
/// <i>void</i> (<c>.Runs</c>).
/// </remarks>
internal sealed partial class RegionCore
{
    // Records that are not signed by all members, and batches that are not committed: more than a driver has in flight.
    // A report holds twice as many, so that all that it leaves out is committed.
    private const int MaxOpen = RegionReport.MaxBatches / 2;

    // Answers that the sender may still ask for again: more than are open.
    private const int MaxRecent = 128;

    private static readonly TimeSpan s_retry = TimeSpan.FromMilliseconds(100);

    // Behind it, what the book has of a store is newer than what the store has answered.
    private static readonly TimeSpan s_fresh = TimeSpan.FromSeconds(1);

    private readonly RegionServices _services;
    private readonly RegionTurns _turns;
    private readonly RegionGeneration _generation;
    private readonly MemberSet _members;
    private readonly int _me;
    private readonly VolumeGeometry _geometry;
    private readonly IRegionBody _body;
    private readonly ParkedRequests _parked;
    private readonly CancellationTokenSource _stop = new();

    // Recent records, in the order of their indexes without a gap; the last one has _lastIndex. The first _appended of
    // them are in the store's log.
    private readonly List<LogSlot> _slots = [];
    private int _appended;

    // The newest record that this member has signed (S2). Never falls.
    private long _lastIndex;
    private Hash128 _lastChain;

    // Batches in the log that are neither committed nor void, ascending. The body has accepted exactly these.
    private readonly List<PlacedBatch> _batches = [];

    // The region's last batch, committed or not.
    private BatchName _last;

    private bool _isAdmitted;
    private bool _mustCommitLog;
    private bool _isEnded;
    private bool _isRefreshing;
    private long _refreshAt;

    // Answers everything from now on: the member cannot go on in this generation. Null: all is well.
    private Status? _broken;

    // Bytes that the fullest of the members behind this one takes, as heard lately.
    private long _free = long.MaxValue;
    private long _freeUntil;

    public RegionCore(
        RegionServices services, RegionKey key, RegionGeneration generation, VolumeGeometry geometry,
        RecoveredRegion recovered)
    {
        _services = services;
        Key = key;
        _generation = generation;
        _members = generation.Set;
        _me = _members.IndexOf(services.Self.Signer.Incarnation);
        _geometry = geometry;
        _body = recovered.Body;
        _turns = new RegionTurns(services.Loops);
        _parked = new ParkedRequests(services.Options.MaxParked);
        (_lastIndex, _lastChain) = (recovered.Index, recovered.Chain);
        (_run, _fenced) = (recovered.Run, recovered.Run);
        (_last, _lastCommitted, _first) = (recovered.Last, recovered.Last, recovered.Last);
        _committed = recovered.Last.Number;
        if (recovered.LastHeader is { } header) _settled.Add(ReportedBatch.Of(header));
        foreach (var logged in recovered.Above)
        {
            services.Memory.Hold(logged.Batch.Payload.Length);
            _batches.Add(new PlacedBatch(logged.Index, logged.Batch, _members.Members.Length) { IsDurable = true });
            _last = logged.Batch.Header.Name;
        }

        RecoverFiles(recovered);
        Post(() => Now(() => Begin(recovered.Committed)));
    }

    public RegionKey Key { get; }

    public Epoch Generation => _generation.Number;

    /// <summary>Whether something waits, so that time alone may change the region. Any thread.</summary>
    public bool IsBusy { get; private set; } = true;

    private bool IsPrimary => _me == 0;

    // Bytes that the fullest member takes.
    private long Free
    {
        get
        {
            var free = _services.Log.Free;
            if (_freeUntil > _services.Now) return Math.Min(free, _free);
            foreach (var member in _generation.Members)
                free = Math.Min(free, _services.Map.Nodes.Find(member.Store)?.Free ?? long.MaxValue);
            return free;
        }
    }

    private bool IsLastMember => _me == _members.Members.Length - 1;

    private VolumeState? Volume => _services.Map.Find(Key.Volume);

    // Final once true (S6).
    private bool IsAdmitted
    {
        get
        {
            if (_isAdmitted || Planted.Is("serves-before-admitted")) return true;
            return _isAdmitted = Volume?.Regions.GetValueOrDefault(Key.Region)?.Current is { IsAdmitted: true } current
                && current.Number == Generation;
        }
    }

    /// <summary>The region's state, for people. Exact in the region's turns alone.</summary>
    public override string ToString()
    {
        var state = _broken is { } status ? $"broken ({status})" : _hasDiverged ? "diverged" : "serving";
        return $"{Key} {Generation}, member {_me}, {state}: run {_run}, fenced {_fenced}; records {_lastIndex}, not in "
            + $"all members {_slots.Count - _appended}, settled {IsSettled}; batches {_last.Number}, open "
            + $"{_batches.Count}, committed {_lastCommitted.Number} of {_committed}; requests waiting {_parked.Count}";
    }

    /// <summary>Takes a request, whose memory is its own. Any thread.</summary>
    public void Handle(Request request, ReplyTo reply) => _turns.Post(() => TurnAsync(async () =>
    {
        if (_broken is { } status) reply.Send(request.Fail(status, Generation));
        else if (request.Epoch < Generation) reply.Send(request.Fail(Status.Sealed, Generation));
        else if (request.Epoch > Generation) Refuse(request, reply);
        else await TakeAsync(request, reply);
    }, () => reply.Send(request.Fail(Status.Sealed, Generation))));

    /// <summary>The store's log is durable up to there. Any thread; returns at once.</summary>
    public void OnDurable(long lsn) => _turns.PostLater(() => TurnAsync(() =>
    {
        SetDurable(lsn);
        return ValueTask.CompletedTask;
    }));

    /// <summary>The map has changed, or time has gone on.</summary>
    public void Wake() => _turns.Post(() => TurnAsync(() =>
    {
        Expire(_services.Now);
        return ValueTask.CompletedTask;
    }));

    /// <summary>Ends the region at this member: nothing is signed or answered behind it, and the body is
    /// closed.</summary>
    public Task EndAsync(Status status)
    {
        var ended = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _stop.Cancel();
        _turns.Post(async () =>
        {
            if (!_isEnded) await CloseAsync(status);
            ended.TrySetResult();
        });
        return ended.Task;
    }

    private ValueTask TakeAsync(Request request, ReplyTo reply) => request switch
    {
        PutBatchRequest put => PutAsync(put, reply),
        ForwardRequest forward => TryOrParkAsync(forward, reply, () => TryForwardAsync(forward, reply),
            () => Gap(forward)),
        PreparedRequest prepared => Now(() => TakePrepared(prepared, reply)),
        VoteRequest vote => TryOrParkAsync(vote, reply, () => new(TryVote(vote, reply)), () => Pending(vote)),
        ConfirmRequest confirm => TryOrParkAsync(
            confirm, reply, () => new(TryConfirm(confirm, reply)), () => Pending(confirm)),
        DecideRequest decide => TryOrParkAsync(
            decide, reply, () => new(TryDecide(decide, reply)), () => Pending(decide)),
        CommitRequest commit => Now(() => TakeCommit(commit, reply)),
        GetRequest get => TryOrParkAsync(get, reply, () => new(TryGet(get, reply)),
            () => get.Fail(SalusStatus.Behind, Generation)),
        ReadTreeRequest read => TryOrParkAsync(read, reply, () => new(TryReadTree(read, reply)),
            () => read.Fail(SalusStatus.Behind, Generation)),
        RegionStatusRequest status => TryOrParkAsync(
            status, reply, () => new(TryStatus(status, reply)), () => Pending(status)),
        FenceRequest fence => TryOrParkAsync(fence, reply, () => new(TryFence(fence, reply)), () => GapOf(fence)),
        RegionHistoryRequest history => TryOrParkAsync(
            history, reply, () => new(TryHistory(history, reply)), () => Pending(history)),
        CutRequest cut => Now(() => TakeCut(cut, reply)),
        CheckpointedRequest checkpointed => Now(() => TakeCheckpointed(checkpointed, reply)),
        ReleaseRequest release => TryOrParkAsync(
            release, reply, () => new(TryRelease(release, reply)), () => Pending(release)),
        _ => Now(() => reply.Send(request.Fail(Status.Unsupported, Generation))),
    };

    private static ValueTask Now(Action step)
    {
        step();
        return ValueTask.CompletedTask;
    }

    private async ValueTask TryOrParkAsync(
        Request request, ReplyTo reply, Func<ValueTask<bool>> attempt, Func<Response> late)
    {
        if (await attempt()) return;
        if (!_parked.TryAdd(attempt, () => reply.Send(late()), _services.Behind(_services.Options.Patience)))
            reply.Send(request.Fail(Status.Overloaded, Generation));
    }

    private Response Pending(Request request) => request.Fail(SalusStatus.Pending, Generation);

    // The sender knows of a generation that this process has not played.
    private void Refuse(Request request, ReplyTo reply)
    {
        Refresh();
        reply.Send(request.Fail(SalusStatus.Pending, Generation));
    }

    private void Post(Func<ValueTask> step) => _turns.Post(() => TurnAsync(step));

    private async ValueTask TurnAsync(Func<ValueTask> step, Action? ended = null)
    {
        if (_isEnded)
        {
            ended?.Invoke();
            return;
        }

        try
        {
            await step();
            await SettleAsync();
        }
        catch (Exception error)
        {
            // The body may be half way between two states: this member serves the generation no longer, and is
            // replaced.
            if (!_stop.IsCancellationRequested) _services.TellBroken(Key, error);
            Break(Status.Failed);
        }
    }

    // Does what has become possible, until nothing more is.
    private async ValueTask SettleAsync()
    {
        do
        {
            if (_broken is not null) break;
            if (_slots.Count > 0 && !_slots[^1].IsDurable) SetDurable(_services.Log.DurableUntil);
            Cut();
            Append();
            Forward();
            Prepare();
            TellPrepared();
            Decide();
            FollowRun();
            CertifyFiles();
            Release();
            Fill();
        }
        while (await _parked.RetryAsync());

        if (_mustCommitLog)
        {
            _mustCommitLog = false;
            _services.Log.Commit();
        }

        PassCommit();
        IsBusy = _parked.Count > 0 || _batches.Count > 0 || !IsSettled || MustFollow || MustPassCommit || HasFileWork;
    }

    private void Expire(long now)
    {
        _parked.Expire(now);
        foreach (var slot in _slots) Expire(slot, now);
        foreach (var batch in _batches) Expire(batch, now);
    }

    private void Break(Status status)
    {
        // Requests would show it, but a region may have none for long, and a snapshot waits for its checkpoint.
        if (_broken is null && !_isEnded && status != Status.Sealed) _services.Loops.Start(ConfessAsync);
        _broken ??= status;
        foreach (var slot in _slots) Answer(slot, () => new ForwardResponse(status, Generation));
        foreach (var batch in _batches) Answer(batch, () => new PutBatchResponse(status, Generation));
        _parked.Expire(long.MaxValue);
    }

    private async ValueTask CloseAsync(Status status)
    {
        _isEnded = true;
        Break(status);
        foreach (var batch in _batches) _services.Memory.Release(batch.Batch.Payload.Length);
        _batches.Clear();
        await _body.DisposeAsync();
        IsBusy = false;
    }

    // Asks the agent to replace this member, until the log has taken or refused it.
    private async Task ConfessAsync()
    {
        while (!_stop.IsCancellationRequested)
        {
            try
            {
                await _services.Map.AccuseAsync(Key, new Suspicion(Key.Region, Generation,
                    _members.Members[_me], SuspicionKind.WrongAnswer,
                    _services.Time.GetUtcNow().ToUnixTimeMilliseconds()), _stop.Token);
                return;
            }
            catch (Exception error) when (error is CorfuException or OperationCanceledException)
            {
                // The log cannot be reached: said again.
            }

            await Task.Delay(s_cutPause, _services.Time, _stop.Token)
                .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }

    // Nothing is signed without the lease (S8), nor after the end.
    private bool TrySign(in Statement statement, out WeakSignature signature)
    {
        signature = default;
        if (!_services.Map.IsHeld || _isEnded || _broken is not null) return false;
        signature = _services.Self.Signer.Sign(statement);
        return true;
    }

    /// <summary>Whether the signatures are those of the members from that place on.</summary>
    private bool AreOf(ReadOnlySpan<WeakSignature> signatures, int first, int count, in Statement statement)
    {
        if (signatures.Length != count) return false;
        for (var i = 0; i < count; i++)
        {
            if (!signatures[i].IsOf(_members.Members[first + i], statement)) return false;
        }

        return true;
    }

    private void Refresh()
    {
        if (_isRefreshing || _refreshAt > _services.Now) return;
        _isRefreshing = true;
        _services.Loops.Start(async () =>
        {
            try
            {
                await _services.Map.RefreshAsync(Key.Volume, _stop.Token);
            }
            catch (Exception error) when (error is CorfuException or OperationCanceledException)
            {
                // The log cannot be reached: the next request asks again.
            }

            Post(() => Now(() =>
            {
                _isRefreshing = false;
                _refreshAt = _services.Behind(s_retry);
            }));
        });
    }

    // Calls a member and takes its answer in a turn; null: there was none.
    private void Call<TResponse>(
        RegionMember to, Request<TResponse> request, Func<TResponse?, ValueTask> then)
        where TResponse : Response =>
        _services.Loops.Start(async () =>
        {
            TResponse? response = null;
            try
            {
                if (_services.AddressOf(to) is { } address)
                {
                    using var limit = new CancellationTokenSource(2 * _services.Options.Patience, _services.Time);
                    using var both = CancellationTokenSource.CreateLinkedTokenSource(limit.Token, _stop.Token);
                    response = await _services.Transport.CallAsync(address, request, both.Token);
                }
            }
            catch (Exception)
            {
                // No answer, or none that can be read: the caller asks again.
            }

            Post(async () =>
            {
                // A newer generation than this one: nothing comes of this one any more.
                if (response?.Epoch > request.Epoch) Refresh();
                await then(response);
            });
        });

    // A member that is ready has waited with its pending answer; one that is not answers at once.
    private long Again(Response? response) =>
        _services.Behind(response?.Status == SalusStatus.Pending ? s_retry / 10 : s_retry);

    private bool TryFindBatch(in BatchName name, [NotNullWhen(true)] out PlacedBatch? batch)
    {
        var number = name.Number;
        batch = _batches.Find(placed => placed.Number == number);
        return batch is not null && batch.Name == name;
    }
}
