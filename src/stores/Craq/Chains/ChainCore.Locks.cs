namespace Craq.Chains;

/// <summary>Parts of transactions at the head of their chain (CRAQ 4.1.3).</summary>
/// <remarks>
/// A part begins with a Lock record, or ends at once with an Unlock that says why; it ends with a Write or an Unlock.
/// The ending record's outcome stays in the window: a later copy of the part's Prepare gets the same answer (C13, C15).
/// </remarks>
internal sealed partial class ChainCore
{
    private readonly LockTable _locks = new();

    // Mutations of locked keys, in the order of their arrival.
    private readonly List<BlockedMutation> _blocked = [];

    public LockTable Locks => _locks;

    /// <summary>
    /// A part at the head. 1. The window answers for a part that has ended, the lock table for one that has begun. 2. A
    /// window that may have forgotten it says so. 3. The part is evaluated on the newest versions, without waiting
    /// for locks (C14). 4. Its vote, yes or no, is a record: it is shown when that is committed (C15).
    /// </summary>
    /// <returns>As of a mutation.</returns>
    public IReadOnlyList<MissingValue> Prepare(PreparePartRequest request, ReplyTo to, LoadedValues? loaded,
        ChainEffects effects)
    {
        var part = request.Part;
        var clears = part.Operations.Any(operation => operation.Kind == ObjectOperationKind.Clear);
        var refusal = clears || request.Parts.All(other => other.Chain != Id)
            ? Status.BadRequest
            : RefusesAtHead(request.Epoch);
        if (refusal is not null)
        {
            effects.Answer(to, new PartResponse(refusal.Value, Epoch) { View = ViewFor(refusal.Value) });
            return [];
        }

        if (AnswersPart(request.Transaction, part.NotBefore, to, effects)) return [];
        var keys = KeysOf(part);
        if (keys.Any(_locks.Holds))
        {
            EndPart(request.Transaction, PartOutcome.Refused(CraqStatus.Locked), [], to, effects);
            return [];
        }

        var mutation = new MutateRequest(Epoch, Id, WriteId.None, part.NotBefore, false, part.Compares, part.Reads,
            part.Operations);
        var evaluation = new Evaluation(mutation, TryNewest, loaded, effects.Now.Wall);
        if (!evaluation.Run()) return evaluation.Missing;
        if (evaluation.Status == CraqStatus.Mismatch)
            EndPart(request.Transaction, PartOutcome.Refused(CraqStatus.Mismatch, evaluation.Index, evaluation.Found),
                [], to, effects);
        else if (evaluation.Status != Status.Ok)
            effects.Answer(to, new PartResponse(evaluation.Status, Epoch));
        else BeginPart(request, keys, evaluation, to, effects);
        return [];
    }

    /// <summary>A part's outcome at the head: its writes, as the Lock holds them, or its end without any. An abort of a
    /// part that never began is a record too, so that a late Prepare finds it (C15).</summary>
    public void Settle(SettlePartRequest request, ReplyTo to, ChainEffects effects)
    {
        if (RefusesAtHead(request.Epoch) is { } refusal)
        {
            effects.Answer(to, new PartResponse(refusal, Epoch) { View = ViewFor(refusal) });
            return;
        }

        var held = _locks.Find(request.Transaction);
        if (held is null && AnswersPart(request.Transaction, request.NotBefore, to, effects)) return;
        if (held is null && request.IsCommitted)
            effects.Answer(to, new PartResponse(CraqStatus.Forgotten, Epoch));
        else if (held is null || !request.IsCommitted)
            EndPart(request.Transaction, PartOutcome.Aborted, [], to, effects);
        else
            EndPart(request.Transaction, PartOutcome.Of(PartState.Committed, held.Result), held.Record.Writes, to,
                effects);
    }

    // Whether the records, or the lack of them, say what there is to say of the part.
    private bool AnswersPart(Guid transaction, ObjectVersion notBefore, ReplyTo to, ChainEffects effects)
    {
        if (_window.TryFind(PartOutcome.IdOf(transaction), out var version, out var result))
            WaitForCommit(to, version, PartOutcome.Decode(result), effects);
        else if (_locks.Find(transaction) is { } held)
            WaitForCommit(to, held.Record.Version, PartOutcome.Of(PartState.Prepared, held.Result), effects);
        else if (_window.Floor > notBefore) effects.Answer(to, new PartResponse(CraqStatus.Forgotten, Epoch));
        else return false;
        return true;
    }

    private void BeginPart(PreparePartRequest request, ImmutableArray<ObjectKey> keys, Evaluation evaluation,
        ReplyTo to, ChainEffects effects)
    {
        var result = Owned(evaluation.Result);
        var record = new ChainRecord(Id, ChainRecordKind.Lock, ObjectVersion.None, _last,
            [new RecordOrigin(PartOutcome.IdOf(request.Transaction), HeldLock.Encode(request.Parts, result))],
            evaluation.Writes)
        {
            Transaction = request.Transaction,
            Locked = keys,
        };
        if (TryAppendPart(record, to, effects) is { } version)
            WaitForCommit(to, version, PartOutcome.Of(PartState.Prepared, result), effects);
    }

    private void EndPart(Guid transaction, PartOutcome outcome, ImmutableArray<ObjectWrite> writes, ReplyTo to,
        ChainEffects effects)
    {
        var kind = outcome.State == PartState.Committed ? ChainRecordKind.Write : ChainRecordKind.Unlock;
        var record = new ChainRecord(Id, kind, ObjectVersion.None, _last,
            [new RecordOrigin(PartOutcome.IdOf(transaction), outcome.Encode())], writes)
        {
            Transaction = transaction,
        };
        if (TryAppendPart(record, to, effects) is not { } version) return;
        WaitForCommit(to, version, outcome, effects);
        Unblock(effects);
    }

    // Null: there is no room, and the request has that answer.
    private ObjectVersion? TryAppendPart(ChainRecord record, ReplyTo to, ChainEffects effects)
    {
        var bytes = RecordOverhead + record.Origins[0].Result.Length + BytesOf(record.Writes);
        foreach (var key in record.Locked) bytes += 8 + key.Bytes.Length;
        var isLock = record.Kind == ChainRecordKind.Lock;
        var admitted = isLock && bytes > _options.MaxRecord ? Status.TooLarge
            : isLock && _locks.Bytes + bytes > Math.Max(_options.MaxLockBytes, bytes) ? Status.Overloaded
            : _last.IsLast || !_budget.HasRoom(bytes) ? Status.Overloaded
            : _store.Admit(bytes, UseOf(record.Writes));
        if (admitted != Status.Ok)
        {
            effects.Answer(to, new PartResponse(admitted, Epoch));
            return null;
        }

        AppendNext(record, effects);
        return _last;
    }

    private void WaitForCommit(ReplyTo to, ObjectVersion version, PartOutcome outcome, ChainEffects effects)
    {
        var answer = new WaitingAnswer.Part(to, version, outcome, effects.Now.Stamp);
        _budget.Waiting++;
        if (version <= _mark) Release(answer, effects);
        else _untilMark.Enqueue(answer, version);
    }

    private static ImmutableArray<ObjectKey> KeysOf(TransactPart part) =>
    [
        .. part.Compares.Select(compare => compare.Key).Concat(part.Reads)
            .Concat(part.Operations.Select(operation => operation.Key)).Distinct(),
    ];

    // A mutation of a locked key waits for the transaction: it comes behind or before all of that.
    private bool IsBlocked(MutateRequest request, ReplyTo to, ChainEffects effects)
    {
        if (_locks.IsEmpty || !Meets(request)) return false;
        var bytes = BlockedMutation.SizeOf(request);
        if (_budget.BlockedBytes + bytes > _options.MaxBlockedBytes)
        {
            effects.Answer(to, Refused(request, Status.Overloaded));
            return true;
        }

        _budget.Waiting++;
        _budget.BlockedBytes += bytes;
        _blocked.Add(new BlockedMutation(request.ToOwned(), to, effects.Now.Stamp, bytes));
        return true;
    }

    private void Free(BlockedMutation blocked)
    {
        _budget.Waiting--;
        _budget.BlockedBytes -= blocked.Bytes;
    }

    private bool Meets(MutateRequest request)
    {
        foreach (var compare in request.Compares)
        {
            if (_locks.Holds(compare.Key)) return true;
        }

        foreach (var key in request.Reads)
        {
            if (_locks.Holds(key)) return true;
        }

        foreach (var operation in request.Operations)
        {
            if (operation.Kind == ObjectOperationKind.Clear || _locks.Holds(operation.Key)) return true;
        }

        return false;
    }

    // Mutations whose keys are free are made again, in their order. One pass: thousands may wait for one key.
    private void Unblock(ChainEffects effects) => _blocked.RemoveAll(blocked =>
    {
        if (!_locks.IsEmpty && Meets(blocked.Request)) return false;
        Free(blocked);
        effects.Again.Add((blocked.Request, blocked.To));
        return true;
    });

    // Another epoch, or a failure: none of these has written anything.
    private void EndBlocked(Status status, ChainEffects effects)
    {
        foreach (var blocked in _blocked)
        {
            Free(blocked);
            effects.Answer(blocked.To, new MutateResponse(status, Epoch) { View = ViewFor(status) });
        }

        _blocked.Clear();
    }

    // Mutations end their waiting, and locks whose lead is silent are resolved. Both are liveness, by this clock.
    private void TickLocks(ChainEffects effects)
    {
        var now = effects.Now.Stamp;
        var ended = 0;
        for (; ended < _blocked.Count && now - _blocked[ended].Arrived >= _options.LockLimit.Ticks; ended++)
        {
            Free(_blocked[ended]);
            effects.Answer(_blocked[ended].To, new MutateResponse(CraqStatus.Locked, Epoch));
        }

        _blocked.RemoveRange(0, ended);
        if (_locks.IsEmpty || !IsHead || !IsOpen) return;
        foreach (var held in _locks.Held)
        {
            if (now < held.ResolveAt) continue;
            held.ResolveAt = now + _options.LockLimit.Ticks;
            effects.Expired.Add(new ExpiredLock(Id, held.Transaction, held.Parts));
        }
    }
}

/// <summary>A part that has held its keys for too long: the head of its chain ends it.</summary>
internal sealed record ExpiredLock(ChainId Chain, Guid Transaction, ImmutableArray<PartId> Parts);
