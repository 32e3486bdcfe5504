using Craq.Coordination;
using Craq.Reads;
using Craq.Relay;
using Craq.Storage;

namespace Craq.Chains;

/// <summary>A node's part in a chain.</summary>
internal enum ChainStanding
{
    /// <summary>No config yet, or one that the node is no full member of: what it holds is old.</summary>
    Outside,

    /// <summary>A full member of the installed config: it holds all that is committed.</summary>
    Full,

    /// <summary>A learner: it holds a part of what is committed.</summary>
    Learning,

    /// <summary>A learner that has caught up, with a durable Full record: the directory may promote it.</summary>
    Complete,
}

/// <summary>A chain at one node, as a state machine: a message or an event in, effects out. Not thread-safe; every
/// call is made under the node's lock.</summary>
/// <remarks>
/// Invariants: <c>mark &lt;= durable &lt;= last</c>, in the order of the chain. The mark is known to be committed and
/// never falls (C4). The epoch never falls (C12). The epoch is open when its first record is at or below the mark
/// (C5).
/// </remarks>
internal sealed partial class ChainCore
{
    private readonly INodeStore _store;
    private readonly CraqNodeOptions _options;
    private readonly NodeBudget _budget;
    private readonly NodeId _self;
    private readonly IEpochLease _lease;
    private readonly RecordRun _run;
    private readonly WriteWindow _window;
    private readonly ReadRounds _rounds = new();

    // Records and configs that are not durable yet, in the order of the log. None: the config's.
    private readonly Queue<(long Lsn, ObjectVersion Version)> _undurable = new();

    // Answers by the version that they wait for. Every Written, Part and Refused in them has a place of the budget.
    private readonly PriorityQueue<WaitingAnswer, ObjectVersion> _untilMark = new();
    private readonly PriorityQueue<WaitingAnswer, ObjectVersion> _untilDurable = new();
    private readonly Queue<(long Lsn, WaitingAnswer Answer)> _untilLsn = new();

    // At or before the Since of every answer in _untilMark and _untilDurable.
    private long _waitingSince;

    private ChainView? _view;

    // Full only with a view that has this node as a member.
    private ChainStanding _standing;

    // _mark <= _durable <= _last. The mark never falls (C4).
    private ObjectVersion _last;
    private ObjectVersion _durable;
    private ObjectVersion _mark;

    // A mark that was heard of and may be above what is durable here.
    private ObjectVersion _heard;

    // The newest committed Clear: no clean version is below it.
    private ObjectVersion _cleared;

    // The newest mark in the store's log, <= _mark; and when the mark rose above it, 0: it has not since.
    private ObjectVersion _storedMark;
    private long _markedAt;

    // Why the chain serves nothing here until the node is restarted; null: it serves.
    private string? _fault;

    internal ChainCore(ChainId id, NodeId self, INodeStore store, IEpochLease lease, CraqNodeOptions options,
        NodeBudget budget)
    {
        Id = id;
        _self = self;
        _store = store;
        _lease = lease;
        _options = options;
        _budget = budget;
        _run = new RecordRun(budget);
        _window = new WriteWindow(budget, options);
        _successor = new Successor(options);
        _candidates = new Candidates(budget.Relayed);
        _parked = new ParkedRequests(options.WindowBytes);
    }

    public ChainId Id { get; }

    /// <summary>The installed epoch; none: the chain is only known by records.</summary>
    public Epoch Epoch => _view?.Config.Epoch ?? Epoch.None;

    public ChainView? View => _view;

    public ChainStanding Standing => _standing;

    /// <summary>The newest record.</summary>
    public ObjectVersion Last => _last;

    /// <summary>The newest record that is durable here, and all before it.</summary>
    public ObjectVersion Durable => _durable;

    /// <summary>Everything up to it is committed, as far as this node knows.</summary>
    public ObjectVersion Mark => _mark;

    public ObjectVersion Cleared => _cleared;

    public string? Fault => _fault;

    public int DirtyCount => _run.DirtyCount;

    public WriteWindow Window => _window;

    /// <summary>The epoch's first record is committed, so all full members have installed it (C5).</summary>
    public bool IsOpen => _view is not null && _mark >= ObjectVersion.First(Epoch);

    public bool IsFull => _standing == ChainStanding.Full;

    public bool IsHead => IsFull && _view!.Config.Head.Node == _self;

    public bool IsTail => IsFull && _view!.Config.Tail.Node == _self;

    private int Index => _view!.Config.IndexOf(_self);

    // The next member towards the tail; null: this is the tail.
    private NodeAddress? NextMember => IsFull && Index + 1 is var next && next < _view!.Config.Members.Length
        ? _view.Address(next)
        : null;

    /// <summary>Everything appended below is durable: takes over what belongs to the chain.</summary>
    public void OnDurable(long lsn, ChainEffects effects)
    {
        var before = _durable;
        while (_undurable.TryPeek(out var next) && next.Lsn <= lsn)
        {
            _undurable.Dequeue();
            if (!next.Version.IsNone) _durable = next.Version;
        }

        while (_untilLsn.TryPeek(out var waiting) && waiting.Lsn <= lsn)
        {
            _untilLsn.Dequeue();
            Release(waiting.Answer, effects);
        }

        if (_durable == before) return;
        while (_untilDurable.TryPeek(out var answer, out var version) && version <= _durable)
        {
            _untilDurable.Dequeue();
            Release(answer, effects);
        }

        RaiseMark(effects);
        Send(effects);
    }

    /// <summary>Repeats what got no answer, and ends what has waited too long.</summary>
    /// <returns>False: nothing is left to do until the next event.</returns>
    public bool Tick(ChainEffects effects)
    {
        if (_fault is not null) return false;
        Collect(effects);
        FetchValue(effects);
        Send(effects);
        EndReads(effects);
        EndWrites(effects);
        WidenRounds(effects);
        StartRound(effects);
        StoreMark(effects);
        TickLocks(effects);
        return _run.DirtyCount > 0 || !_rounds.IsEmpty || _storedMark < _mark || (IsHead && !IsOpen)
            || _undurable.Count > 0 || (IsFull && !IsTail && !_successor.IsLevel(_last))
            || !_locks.IsEmpty || _blocked.Count > 0 || _parked.Count > 0;
    }

    // A record goes to the log, to the memory, and its ids into the window or its keys into the lock table.
    private void Append(ChainRecord record, byte[] bytes, ChainEffects effects, bool isRelayed = false)
    {
        var place = _store.Append(StoreRecordKind.Chain, Id, record.Version, bytes);
        Hold(new HeldRecord(record, bytes, place, effects.Now.Stamp) { IsRelayed = isRelayed });
        _candidates.Remove(record.Version);
        _undurable.Enqueue((place.Lsn, record.Version));
        effects.Appended.Add((place.Lsn, Id));
    }

    private void Hold(HeldRecord held)
    {
        var record = held.Record;
        _run.Add(held);
        _last = record.Version;
        if (record.Kind == ChainRecordKind.Lock)
        {
            var own = HeldLock.Of(record, held.Bytes);
            own.ResolveAt = held.Arrived + _options.LockLimit.Ticks;
            _locks.Add(own);
            return;
        }

        // All members have installed the epoch: one that asks for it again has lost what it had (C19).
        if (_view is { } view && record.Version == ObjectVersion.First(Epoch))
            _view = view with { Config = view.Config with { IsUnopened = false } };
        foreach (var origin in record.Origins) _window.Add(origin.Id, record.Version, origin.Result);
        if (record.Transaction != Guid.Empty) _locks.Settle(record.Transaction, record.Version);
    }

    // At the tail of an open epoch durable means committed; a Begin that is durable there opens it (C4, C5).
    private void RaiseMark(ChainEffects effects)
    {
        var commits = IsTail && (_durable >= ObjectVersion.First(Epoch) || Planted.Is("inherits-as-committed"));
        if (commits) _heard = ObjectVersion.Max(_heard, _durable);
        if (Planted.Is("ack-from-the-middle") && IsFull && !IsHead) _heard = _durable;
        if (Planted.Is("clean-too-early") && IsHead) _heard = _durable;
        var until = ObjectVersion.Min(_heard, _durable);
        if (until <= _mark) return;
        var wasOpen = IsOpen;
        CleanUpTo(until);
        if (!wasOpen && IsOpen && IsHead) effects.Opened.Add(Id);
        while (_untilMark.TryPeek(out var answer, out var version) && version <= _mark)
        {
            _untilMark.Dequeue();
            Release(answer, effects);
        }

        if (_markedAt == 0) _markedAt = effects.Now.Stamp;
        SendMarks(effects);
    }

    // Takes over a mark of another member, in this epoch (C4).
    private void TakeMark(ObjectVersion mark, ChainEffects effects)
    {
        if (mark <= _heard) return;
        _heard = mark;
        RaiseMark(effects);
    }

    private void CleanUpTo(ObjectVersion mark)
    {
        while (_run.OldestDirty is { } oldest && oldest.Version <= mark) Clean(_run.Commit());
        _mark = mark;
        _locks.Commit(mark);
    }

    // The versions of a committed record become the clean ones.
    private void Clean(HeldRecord held)
    {
        Learned(held);
        if (held.Record.Kind == ChainRecordKind.Clear)
        {
            _cleared = ObjectVersion.Max(_cleared, held.Version);
            _store.Clear(Id, _cleared);
        }

        if (held.Record.Kind != ChainRecordKind.Write) return;
        var writes = held.Record.Writes;
        for (var i = 0; i < writes.Length; i++)
        {
            if (writes[i].IsDelete) _store.Remove(Id, writes[i].Key, held.Version, held.Place.Address);
            else _store.Set(Id, writes[i].Key, SlotOf(held.Record, i, held.Place));
        }
    }

    // Marks are never waited for: a restarted node asks for the rest.
    private void StoreMark(ChainEffects effects)
    {
        if (effects.Now.Stamp - _markedAt < _options.MarkDelay.Ticks) return;
        if (TryLogMark() is { } lsn) effects.Appended.Add((lsn, Id));
    }

    // Null: the mark stands in the log, or there is no room for it.
    private long? TryLogMark()
    {
        if (_storedMark >= _mark || _store.Admit(0, StoreUse.Vital) != Status.Ok) return null;
        _storedMark = _mark;
        _markedAt = 0;
        return _store.Append(StoreRecordKind.Mark, Id, _mark, []).Lsn;
    }

    /// <summary>The node has failed, or the chain at this node: the outcome of what waits is unknown.</summary>
    public void Fail(string reason, ChainEffects effects)
    {
        _fault ??= reason;
        EndAll(Status.Failed, effects);
    }

    /// <summary>The directory has dropped the chain: what waits ends, and objects, records and memory go. The chain's
    /// last step here.</summary>
    /// <returns>False: the disk has no room for the record, and nothing has changed.</returns>
    public bool TryForget(ChainEffects effects)
    {
        if (_store.Admit(0, StoreUse.Vital) != Status.Ok) return false;
        var place = _store.Append(StoreRecordKind.Forget, Id, _mark, []);
        effects.Appended.Add((place.Lsn, Id));
        _fault ??= "the chain was dropped";
        EndAll(CraqStatus.NotFound, effects);
        _window.ForgetRefusals();
        Restart(_mark);
        _store.Forget(Id);
        return true;
    }

    private void EndAll(Status status, ChainEffects effects)
    {
        while (_untilMark.TryDequeue(out var answer, out _)) Fail(answer, status, effects);
        while (_untilDurable.TryDequeue(out var answer, out _)) Fail(answer, status, effects);
        while (_untilLsn.TryDequeue(out var waiting)) Fail(waiting.Answer, status, effects);
        foreach (var waiter in _rounds.Clear()) EndWaiter((RoundWaiter)waiter, status, effects);
        EndBlocked(status, effects);
        EndRelay(status, effects);
    }

    private void Fail(WaitingAnswer waiting, Status status, ChainEffects effects)
    {
        if (waiting is WaitingAnswer.Refused refused)
        {
            EndWaiter(refused.Waiter, status, effects);
            return;
        }

        if (waiting is WaitingAnswer.Written or WaitingAnswer.Part) _budget.Waiting--;
        effects.Answer(waiting.To, waiting switch
        {
            WaitingAnswer.Written => new MutateResponse(CraqStatus.Unconfirmed, Epoch),
            WaitingAnswer.Part => new PartResponse(status, Epoch),
            WaitingAnswer.Taken => new ReplicateResponse(status, Epoch),
            _ => new InstallChainResponse(status, Epoch),
        });
    }

    /// <summary>The meaning that an answer to that call would have: the place of its round, 0 for others; -1: it says
    /// little or nothing any more. For models.</summary>
    public int PlaceOf(ChainCall call) => call.Request.Epoch != Epoch ? -1 : call.Request switch
    {
        ReplicateRequest => call.Tag == _successor.Generation ? 0 : -1,
        ConfirmRequest => _rounds.PlaceOf(call.Tag),
        _ => 0,
    };

    /// <summary>All that the next steps depend on, besides clocks: for reports, and for models.</summary>
    public override string ToString()
    {
        var collected = string.Join(',', _collect.Values.Select(member => $"{member.Last}/{member.IsAsked}"));
        var waiting = string.Join(',', _untilMark.UnorderedItems.Select(item => item.Priority.ToString()).Order());
        return $"{Epoch} {_standing} last {_last} durable {_durable} mark {_mark} heard {_heard} next {_successor} "
            + $"collected {_hasBegun}/{_fetching}/{collected} waiting {waiting} rounds {_rounds} "
            + $"relay {_parked.Count}/{_candidates.Count} {_fault}";
    }

    private void Release(WaitingAnswer waiting, ChainEffects effects)
    {
        switch (waiting)
        {
            case WaitingAnswer.Written written:
                _budget.Waiting--;
                effects.Answer(written.To, new MutateResponse(Status.Ok, Epoch)
                {
                    Version = written.Version,
                    Mark = _mark,
                    Result = written.Result,
                });
                break;
            case WaitingAnswer.Part part:
                _budget.Waiting--;
                effects.Answer(part.To, part.Outcome.ToResponse(Epoch, part.Version, _mark));
                break;
            case WaitingAnswer.Taken taken:
                effects.Answer(taken.To, taken.Epoch == Epoch
                    ? new ReplicateResponse(Status.Ok, Epoch) { Last = _durable, Mark = _mark }
                    : new ReplicateResponse(Status.Sealed, Epoch) { View = _view });
                break;
            case WaitingAnswer.Refused refused:
                JoinRound(refused.Waiter, effects);
                break;
            case WaitingAnswer.Installed installed:
                effects.Answer(installed.To, Installed(installed.Epoch));
                break;
        }
    }
}
