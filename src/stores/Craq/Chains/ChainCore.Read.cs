using System.Runtime.InteropServices;
using Craq.Reads;

namespace Craq.Chains;

internal sealed partial class ChainCore
{
    // The members that a round asks in this epoch; null: this node is no full member.
    private RoundPlan? _round;

    // A question to the directory is under way.
    private bool _isLogging;

    private readonly RoundStep _step = new();

    /// <summary>Reads objects. A strong read waits for a round of confirmations that starts behind its arrival (C6),
    /// unless this member's own word is proof; the others are answered from what is here, within their
    /// promise.</summary>
    public void Read(ReadObjectsRequest request, ReplyTo to, ChainEffects effects)
    {
        if (RefusesRead(request) is { } refusal)
        {
            effects.Answer(to, new ReadObjectsResponse(refusal, Epoch) { View = ViewFor(refusal) });
            return;
        }

        CraqTelemetry.Reads.Add(1);
        if (CraqTelemetry.DirtyReads.Enabled && request.Mode == ObjectReadMode.Strong && HasDirty(request.Keys))
            CraqTelemetry.DirtyReads.Add(1);
        var now = effects.Now.Stamp;
        var waiter = new RoundWaiter.Read(request, to, now, _last)
        {
            HasMark = IsTail || (request.Mode == ObjectReadMode.Strong && !HasDirty(request.Keys)),
        };
        if (request.Mode == ObjectReadMode.Strong) waiter.IsConfirmed = IsProvenAlone(now);
        else if (request.MaxAge > 0) IsProvenAlone(now);
        if (TryFinish(waiter, effects)) return;
        if (!_budget.HasPlace)
        {
            effects.Answer(to, new ReadObjectsResponse(Status.Overloaded, Epoch));
            return;
        }

        _budget.Waiting++;
        waiter.IsWaiting = true;
        waiter.Request = Owned(request);
        _rounds.Join(waiter);
    }

    /// <summary>The moment that the age of answers counts from; null: none in this epoch, or it needs no other member's
    /// word.</summary>
    internal long? ConfirmedByOthersAt => _round is { } round && !round.AreEnough(0)
        && _view!.Config.Options.Reads != EpochProof.Leased ? _rounds.ConfirmedAt : null;

    // Without another member's word: no change goes on without this member, or its lease holds (C7).
    private bool IsProvenAlone(long now)
    {
        var isProven = IsOpen && _round is not null && (_round.AreEnough(0)
            || (_view!.Config.Options.Reads == EpochProof.Leased && _lease.Proves(_view.Config)));
        if (isProven && (IsTail || _run.DirtyCount == 0)) _rounds.Confirmed(now);
        return isProven;
    }

    private Status? RefusesRead(ReadObjectsRequest request)
    {
        if (_fault is not null) return Status.Failed;
        var mayRead = IsFull || (Planted.Is("learner-is-read") && _standing != ChainStanding.Outside);
        if (!mayRead) return CraqStatus.WrongRole;
        if (_view!.Config.Options.Protocol == ChainProtocol.Cr && !IsTail) return CraqStatus.WrongRole;
        // A chain that has not begun, or a member whose data is lost (C19).
        if (_last.IsNone && !Planted.Is("empty-node-is-full")) return CraqStatus.NotOpen;
        if (request.Mode != ObjectReadMode.Strong) return null;
        if (request.Epoch != Epoch) return request.Epoch < Epoch ? Status.Sealed : Status.NotInstalled;
        return IsOpen ? null : CraqStatus.NotOpen;
    }

    /// <summary>A member's answer to a round; the default: none came.</summary>
    public void OnConfirmed(ChainCall call, ChainConfirmation confirmation, ChainEffects effects)
    {
        if (call.Request.Epoch != Epoch || _round is null) return;
        // The tail's mark, in this epoch (C4).
        if (confirmation.IsExact && call.To.Id == _round.Tail) TakeMark(confirmation.Mark, effects);
        _rounds.Take(_round, call.Tag, call.To.Id, confirmation.IsExact, effects.Now.Stamp, _step);
        EndStep(effects);
    }

    /// <summary>The answer of the directory about the newest epoch, asked at that moment; null: none.</summary>
    public void OnLogged(Epoch? newest, long asked, ChainEffects effects)
    {
        _isLogging = false;
        if (newest != Epoch || !IsFull) return;
        _rounds.Logged(asked, _step);
        EndStep(effects);
    }

    /// <summary>Requests wait for a round that has not started: <see cref="StartRound"/>, behind the last request that
    /// arrived with them.</summary>
    public bool HasRoundToStart => _rounds.HasNext && _round is not null;

    /// <summary>Starts a round for all requests that wait for one, if one may start.</summary>
    public void StartRound(ChainEffects effects)
    {
        if (!HasRoundToStart) return;
        _rounds.TryStart(_round!, effects.Now.Stamp, _options.RoundSpacing.Ticks, _run.DirtyCount == 0, _step);
        EndStep(effects);
    }

    private void JoinRound(RoundWaiter.Refusal waiter, ChainEffects effects)
    {
        waiter.IsConfirmed = IsProvenAlone(effects.Now.Stamp);
        if (!TryFinish(waiter, effects)) _rounds.Join(waiter);
    }

    private void WidenRounds(ChainEffects effects)
    {
        if (_round is null || _rounds.IsEmpty) return;
        _rounds.Widen(_round, effects.Now.Stamp, _options.RoundSilence.Ticks, _step);
        EndStep(effects);
    }

    private void EndStep(ChainEffects effects)
    {
        var hasEnded = false;
        foreach (var waiter in _step.Heard)
        {
            var heard = (RoundWaiter)waiter;
            hasEnded |= heard.IsEnded = TryFinish(heard, effects);
        }

        if (hasEnded) _rounds.RemoveAll(static waiter => ((RoundWaiter)waiter).IsEnded);

        foreach (var waiter in _step.Left) TryFinish((RoundWaiter)waiter, effects);
        if (_step.Questions.Count > 0)
        {
            var request = new ConfirmRequest(Epoch, [new ChainEpoch(Id, Epoch)]);
            foreach (var (round, member) in _step.Questions)
                effects.Calls.Add(new ChainCall(Id, _view!.Find(member)!.Value, request, round));
        }

        _step.Clear();
    }

    private bool TryFinish(RoundWaiter waiter, ChainEffects effects)
    {
        switch (waiter)
        {
            case RoundWaiter.Refusal refusal when refusal.IsConfirmed:
                _budget.Waiting--;
                effects.Answer(refusal.To, refusal.Response with { Epoch = Epoch, Mark = _mark });
                return true;
            case RoundWaiter.Read read when Verdict(read, effects.Now.Stamp) is { } verdict:
                if (read.IsWaiting) _budget.Waiting--;
                if (verdict == Status.Ok) Plan(read, effects);
                else effects.Answer(read.To, new ReadObjectsResponse(verdict, Epoch));
                return true;
            default:
                return false;
        }
    }

    // Null: the read goes on to wait.
    private Status? Verdict(RoundWaiter.Read read, long now)
    {
        var request = read.Request;
        switch (request.Mode)
        {
            case ObjectReadMode.Strong:
                if (!read.IsConfirmed) return null;
                return read.HasMark ? Status.Ok : null;
            case ObjectReadMode.Session:
                if (_mark >= request.Token) return Status.Ok;
                return read.HasMark ? CraqStatus.Behind : null;
            case ObjectReadMode.Bounded:
                if (request.MaxAge == 0) return Status.Ok;
                // Before the epoch is open, even the tail does not know what is committed (C5).
                if (IsOpen && Age(now) is >= 0 and var age && age <= request.MaxAge) return Status.Ok;
                return read.IsConfirmed ? CraqStatus.Stale : null;
            default:
                return Status.Ok;
        }
    }

    private bool HasDirty(ImmutableArray<ObjectKey> keys)
    {
        if (_run.DirtyCount == 0) return false;
        if (_run.Clears.Count > 0) return true;
        foreach (var key in keys)
        {
            if (_run.Oldest(key) is not null) return true;
        }

        return false;
    }

    // Milliseconds since the newest confirmed round was sent, rounded up; -1: none in this epoch (C17).
    private long Age(long now) => _rounds.ConfirmedAt is { } at
        ? (now - at + TimeSpan.TicksPerMillisecond - 1) / TimeSpan.TicksPerMillisecond
        : -1;

    // Chooses the versions. Values in memory are in the answer; others are read outside the lock.
    private void Plan(RoundWaiter.Read read, ChainEffects effects)
    {
        var request = read.Request;
        var results = new ObjectResult[request.Keys.Length];
        var response = new ReadObjectsResponse(Status.Ok, Epoch) { Mark = _mark, Age = Age(effects.Now.Stamp) };
        var plan = new ReadPlan(Id, read.To, response, results);
        var count = 0;
        for (; count < results.Length; count++)
        {
            if (count > 0 && plan.Bytes > MessageLimits.ReadBudget) break;
            var key = request.Keys[count];
            if (TryAt(key, Limit(request, key, effects.Now.Stamp), out var state))
                Show(plan, count, key, state, request.WithValues, effects.Now.Wall);
            else plan.Missing.Add(new MissingObject(count, key.ToOwned(), null, request.WithValues));
        }

        if (count < results.Length) results = results[..count];
        plan = plan.Missing.Count > 0 && count < request.Keys.Length ? plan.Shortened(results) : plan;
        if (plan.Missing.Count > 0) effects.Plans.Add(plan);
        else effects.Answer(read.To, response with
        {
            Objects = ImmutableCollectionsMarshal.AsImmutableArray(results),
        });
    }

    /// <summary>Chooses the clean version of an object anew: what was chosen has been cleaned away, or its slot is in
    /// memory now.</summary>
    public void Replan(ReadPlan plan, in MissingObject missing, Moment now)
    {
        if (missing.Index > 0 && plan.Bytes > MessageLimits.ReadBudget)
        {
            plan.EndBefore(missing.Index);
            return;
        }

        plan.RaiseMark(_mark);
        if (TryClean(missing.Key, out var state))
            Show(plan, missing.Index, missing.Key, state, missing.WithValue, now.Wall);
        else plan.Missing.Add(missing with { Slot = null });
    }

    private void Show(ReadPlan plan, int index, ObjectKey key, in KeyState state, bool withValue, long wall)
    {
        var isDirty = state.IsDirty && state.Version > _mark;
        if (!state.IsFound || state.IsExpired(wall))
        {
            plan.Results[index] = state.Missing(isDirty);
            return;
        }

        plan.Bytes += withValue ? state.Length : 0;
        if (!withValue || state.Length == 0) plan.Results[index] = state.Result(default, isDirty);
        else if (state.Dirty is { } dirty) plan.Results[index] = state.Result(dirty.Write.Value!.Value, isDirty);
        else
        {
            plan.Results[index] = state.Result(default, isDirty: false);
            plan.Missing.Add(new MissingObject(index, key.ToOwned(), state.Slot, withValue));
        }
    }

    // The newest version that the mode may show.
    private ObjectVersion Limit(ReadObjectsRequest request, ObjectKey key, long now)
    {
        if (request.Mode == ObjectReadMode.Eventual) return _durable;
        if (request.Mode == ObjectReadMode.Session && Planted.Is("session-shows-dirty")) return _durable;
        if (request.Mode != ObjectReadMode.Bounded || request.MaxAhead == 0 || _run.Clears.Count > 0) return _mark;
        DirtyWrite? shown = null;
        var ahead = 0;
        for (var write = _run.Oldest(key); write is not null && ahead < request.MaxAhead; write = write.Newer, ahead++)
        {
            if (write.Version <= _durable) shown = write;
        }

        if (shown is null) return _mark;
        var isFresh = request.MaxAge == 0
            || now - shown.Record.Arrived <= request.MaxAge * TimeSpan.TicksPerMillisecond;
        return isFresh ? shown.Version : _mark;
    }

    // The newest version at or below the limit. False: the clean slot is not in memory.
    private bool TryAt(ObjectKey key, ObjectVersion limit, out KeyState state)
    {
        DirtyWrite? found = null;
        for (var write = _run.Oldest(key); write is not null && write.Version <= limit; write = write.Newer)
            found = write;
        var cleared = ObjectVersion.None;
        foreach (var clear in _run.Clears)
        {
            if (clear <= limit) cleared = clear;
        }

        if (found is not null && found.Version > cleared) state = KeyState.Of(found);
        else if (!cleared.IsNone) state = KeyState.Absent(cleared, isDirty: true);
        else return TryClean(key, out state);
        return true;
    }

    // Reads that nothing has confirmed ask the directory, and end at the limit.
    private void EndReads(ChainEffects effects)
    {
        if (_rounds.IsEmpty) return;
        var now = effects.Now.Stamp;
        _rounds.RemoveAll(waiter => TryEnd((RoundWaiter)waiter, effects));
        if (_isLogging || !_rounds.All().Any(waiter =>
            !waiter.IsConfirmed && now - waiter.Arrived >= _options.LoggedAfter.Ticks)) return;
        _isLogging = true;
        effects.Logged.Add(Id);
    }

    // False: the request goes on to wait.
    private bool TryEnd(RoundWaiter waiter, ChainEffects effects)
    {
        // The mark came up the chain, and the tail has not answered this member.
        if (waiter is RoundWaiter.Read { HasMark: false } read && read.Last <= _mark)
        {
            read.HasMark = true;
            if (TryFinish(read, effects)) return true;
        }

        if (effects.Now.Stamp - waiter.Arrived < _options.ReadLimit.Ticks) return false;
        EndWaiter(waiter, CraqStatus.Unconfirmed, effects);
        return true;
    }

    private void EndWaiter(RoundWaiter waiter, Status status, ChainEffects effects)
    {
        _budget.Waiting--;
        if (waiter is RoundWaiter.Read read)
        {
            var end = status != CraqStatus.Unconfirmed ? status
                : read.Request.Mode == ObjectReadMode.Session ? CraqStatus.Behind
                : read.Request.Mode == ObjectReadMode.Bounded ? CraqStatus.Stale : status;
            effects.Answer(read.To, new ReadObjectsResponse(end, Epoch) { View = ViewFor(end) });
        }
        else
        {
            // Nothing was written, and the client may try again: Unconfirmed would say that its outcome is unknown.
            var end = status == CraqStatus.Unconfirmed ? CraqStatus.NotOpen : status;
            effects.Answer(waiter.To, new MutateResponse(end, Epoch) { View = ViewFor(end) });
        }
    }

    private static ReadObjectsRequest Owned(ReadObjectsRequest request) => request with
    {
        Keys = [.. request.Keys.Select(key => key.ToOwned())],
    };
}
