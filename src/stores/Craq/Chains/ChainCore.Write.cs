using System.Buffers;
using Craq.Storage;

namespace Craq.Chains;

internal sealed partial class ChainCore
{
    // Versions that are left when the head asks for another epoch.
    private const long RenewalReserve = 1 << 20;

    // Bytes of a record besides its operations.
    private const int RecordOverhead = 512;

    /// <summary>
    /// A mutation at the head. 1. The window answers a repeated one (C13). 2. It waits for transactions that hold its
    /// keys. 3. It is evaluated on the newest versions (C14). 4. A refusal waits for what it depends on, and for a
    /// round (C3, C6). 5. A record gets the next version (C1) and goes to the log; the answer waits for its commit.
    /// </summary>
    /// <returns>The values to load before the request is made again; empty: it is taken or answered.</returns>
    public IReadOnlyList<MissingValue> Mutate(MutateRequest request, ReplyTo to, LoadedValues? loaded,
        ChainEffects effects)
    {
        if (RefusesWrite(request) is { } refusal)
        {
            effects.Answer(to, Refused(request, refusal));
            return [];
        }

        if (_window.TryFind(request.Id, out var version, out var result))
        {
            WaitForCommit(to, version, ResultOf(result), request.AtHead, effects);
            return [];
        }

        if (_window.FindRefusal(request.Id) is { } before)
        {
            Refuse(before.Response, before.Depends, to, effects);
            return [];
        }

        // A mark of a later epoch: this head is of the past. Or one that was made up.
        if (request.NotBefore > _last)
        {
            effects.Answer(to, Refused(request, Status.NotInstalled));
            return [];
        }

        if (_window.Least > request.NotBefore && !request.Id.IsNone)
        {
            ReachLeast(effects);
            effects.Answer(to, new MutateResponse(CraqStatus.Forgotten, Epoch) { Mark = _mark });
            return [];
        }

        if (IsBlocked(request, to, effects)) return [];
        var evaluation = new Evaluation(request, TryNewest, loaded, effects.Now.Wall);
        if (!evaluation.Run()) return evaluation.Missing;
        var isClear = request.Operations.Any(operation => operation.Kind == ObjectOperationKind.Clear);
        if (evaluation.Status != Status.Ok || (evaluation.Writes.IsEmpty && !isClear))
            Refuse(request, to, evaluation, effects);
        else Write(request, to, evaluation, isClear, effects);
        return [];
    }

    /// <summary>Deletes objects at the head of an open epoch: those that are expired by its clock, in exactly the
    /// versions that are named (C21). Others stay, and so do those that a transaction holds.</summary>
    /// <returns>Objects that this call deletes; null: this node takes no writes of the chain, or has no room at the
    /// moment.</returns>
    public int? Expire(IReadOnlyList<(ObjectKey Key, ObjectVersion Version)> expired, ChainEffects effects)
    {
        if (RefusesAtHead(Epoch) is not null) return null;
        ImmutableArray<ObjectWrite> writes =
        [
            .. expired.Where(one => IsExpired(one.Key, one.Version, effects.Now.Wall)).Select(one => one.Key).Distinct()
                .Select(static key => new ObjectWrite(key, 0, 0, null)),
        ];
        if (writes.IsEmpty) return 0;
        var bytes = RecordOverhead + BytesOf(writes);
        if (_last.IsLast || !_budget.HasRoom(bytes) || _store.Admit(bytes, StoreUse.Deletes) != Status.Ok)
            return null;
        AppendNext(new ChainRecord(Id, ChainRecordKind.Write, ObjectVersion.None, _last, [], writes), effects);
        CraqTelemetry.Expired.Add(writes.Length);
        return writes.Length;
    }

    private bool IsExpired(ObjectKey key, ObjectVersion version, long wall)
    {
        if (_locks.Holds(key) || !TryNewest(key, out var state)) return false;
        if (Planted.Is("expiry-deletes-any")) return state.IsFound;
        return state.Version == version && state.IsExpired(wall);
    }

    private Status? RefusesWrite(MutateRequest request)
    {
        if (RefusesAtHead(request.Epoch) is { } refusal) return refusal;
        var clears = request.Operations.Count(operation => operation.Kind == ObjectOperationKind.Clear);
        if (clears > 0 && request.Operations.Length > 1) return Status.BadRequest;
        if (PartOutcome.IsTransaction(request.Id)) return Status.BadRequest;
        return null;
    }

    // Mutations and parts of transactions are taken by the head of an open epoch alone.
    private Status? RefusesAtHead(Epoch epoch)
    {
        if (_fault is not null) return Status.Failed;
        if (!IsHead) return CraqStatus.WrongRole;
        if (epoch != Epoch) return epoch < Epoch ? Status.Sealed : Status.NotInstalled;
        if (!IsOpen) return CraqStatus.NotOpen;
        return _budget.HasPlace ? null : Status.Overloaded;
    }

    private MutateResponse Refused(MutateRequest request, Status status) =>
        ((MutateResponse)request.Fail(status, Epoch)) with { View = ViewFor(status) };

    // The request writes nothing. Its outcome is shown when what it depends on is committed, and the epoch was the
    // newest meanwhile: the evaluation of a head that was removed is of the past.
    private void Refuse(MutateRequest request, ReplyTo to, Evaluation evaluation, ChainEffects effects)
    {
        var response = new MutateResponse(evaluation.Status, Epoch)
        {
            Version = evaluation.Found,
            Index = evaluation.Index,
            Result = Owned(evaluation.Result),
        };
        if (evaluation.Status == CraqStatus.Mismatch)
            _window.Refuse(request.Id, new WriteWindow.Refusal(response, evaluation.Depends, request.NotBefore));
        ReachLeast(effects);
        Refuse(response, evaluation.Depends, to, effects);
    }

    // A client without a mark at the window's Least hears Forgotten (C13). Where no record is there yet, one without
    // writes makes that mark; without room for it, the next request does.
    private void ReachLeast(ChainEffects effects)
    {
        if (_window.Least <= _last || _last.IsLast || _store.Admit(RecordOverhead, StoreUse.Vital) != Status.Ok) return;
        AppendNext(new ChainRecord(Id, ChainRecordKind.Write, ObjectVersion.None, _last, [], []), effects);
    }

    private void Refuse(MutateResponse response, ObjectVersion depends, ReplyTo to, ChainEffects effects)
    {
        var waiter = new RoundWaiter.Refusal(response, to, effects.Now.Stamp);
        _budget.Waiting++;
        if (depends > _mark && !Planted.Is("refuses-by-dirty"))
            _untilMark.Enqueue(new WaitingAnswer.Refused(waiter), depends);
        else JoinRound(waiter, effects);
    }

    private void Write(MutateRequest request, ReplyTo to, Evaluation evaluation, bool isClear, ChainEffects effects)
    {
        var writes = evaluation.Writes;
        var bytes = RecordOverhead + BytesOf(writes);
        foreach (var read in evaluation.Result.Reads) bytes += 64 + read.Value.Length;
        var admitted = bytes > _options.MaxRecord ? Status.TooLarge
            : _last.IsLast || !_budget.HasRoom(bytes) ? Status.Overloaded
            : _store.Admit(bytes, UseOf(writes));
        if (admitted != Status.Ok)
        {
            effects.Answer(to, Refused(request, admitted));
            return;
        }

        var result = Encode(evaluation.Result);
        AppendNext(new ChainRecord(Id, isClear ? ChainRecordKind.Clear : ChainRecordKind.Write, ObjectVersion.None,
            _last, [new RecordOrigin(request.Id, result)], writes), effects);
        CraqTelemetry.Writes.Add(1);
        WaitForCommit(to, _last, ResultOf(result), request.AtHead, effects);
    }

    private static int BytesOf(ImmutableArray<ObjectWrite> writes)
    {
        var bytes = 0;
        foreach (var write in writes) bytes += 64 + write.Key.Bytes.Length + (write.Value?.Length ?? 0);
        return bytes;
    }

    private static StoreUse UseOf(ImmutableArray<ObjectWrite> writes) =>
        writes.All(static write => write.IsDelete) ? StoreUse.Deletes : StoreUse.Writes;

    // The head's record of the next version. What is held owns its memory.
    private void AppendNext(ChainRecord record, ChainEffects effects)
    {
        var encoded = RecordCodec.Encode(record with { Version = _last.Next() });
        // The values go out while the record becomes durable here.
        Append(RecordCodec.Decode(encoded, valuesChecked: false), encoded, effects, TryRelay(encoded, effects));
        if (_last.Counter > ObjectVersion.MaxCounter - RenewalReserve && _last.Counter % 1024 == 0)
            effects.Renewals.Add(Id);
    }

    private void WaitForCommit(ReplyTo to, ObjectVersion version, MutateResult result, bool atHead,
        ChainEffects effects)
    {
        var answer = new WaitingAnswer.Written(to, version, result, effects.Now.Stamp);
        _budget.Waiting++;
        if (version <= _mark || (atHead && version <= _durable)) Release(answer, effects);
        else if (atHead) _untilDurable.Enqueue(answer, version);
        else _untilMark.Enqueue(answer, version);
    }

    // A chain that commits nothing does not keep the places of all others: the outcome is unknown.
    private void EndWrites(ChainEffects effects)
    {
        if (effects.Now.Stamp - _waitingSince < _options.WriteLimit.Ticks) return;
        _waitingSince = effects.Now.Stamp;
        EndOld(_untilMark, effects);
        EndOld(_untilDurable, effects);
    }

    // The queues are in the order of versions, not of arrivals: a repeated request has an older version than mutations
    // that have waited for longer.
    private void EndOld(PriorityQueue<WaitingAnswer, ObjectVersion> waiting, ChainEffects effects)
    {
        var kept = new List<(WaitingAnswer Answer, ObjectVersion Version)>(waiting.Count);
        foreach (var (answer, version) in waiting.UnorderedItems)
        {
            if (effects.Now.Stamp - answer.Since >= _options.WriteLimit.Ticks)
            {
                Fail(answer, Status.Failed, effects);
                continue;
            }

            kept.Add((answer, version));
            _waitingSince = Math.Min(_waitingSince, answer.Since);
        }

        if (kept.Count == waiting.Count) return;
        waiting.Clear();
        waiting.EnqueueRange(kept);
    }

    // The newest version in log order, dirty or clean (C14).
    private bool TryNewest(ObjectKey key, out KeyState state)
    {
        var dirty = Planted.Is("increments-the-clean") ? null : _run.Newest(key);
        var clear = _run.Clears.Count > 0 ? _run.Clears[^1] : ObjectVersion.None;
        if (dirty is not null && dirty.Version > clear)
        {
            state = KeyState.Of(dirty);
            return true;
        }

        if (clear.IsNone) return TryClean(key, out state);
        state = KeyState.Absent(clear, isDirty: true);
        return true;
    }

    // The clean version. False: the slot is not in memory.
    private bool TryClean(ObjectKey key, out KeyState state)
    {
        // The version that deleted it is not kept.
        state = KeyState.Absent(ObjectVersion.None, isDirty: false);
        if (!_store.TryFind(Id, key, out var slot)) return false;
        if (slot is { } found && found.Version >= _cleared) state = KeyState.Of(found);
        return true;
    }

    private static byte[] Encode(MutateResult result)
    {
        if (result.IsEmpty) return [];
        var output = new ArrayBufferWriter<byte>();
        var w = new WireWriter(output);
        result.Write(ref w);
        w.Flush();
        return output.WrittenSpan.ToArray();
    }

    private static MutateResult ResultOf(ReadOnlyMemory<byte> bytes)
    {
        if (bytes.IsEmpty) return MutateResult.Empty;
        var r = new WireReader(bytes);
        return MutateResult.Read(ref r);
    }

    // Values of a result may lie in the request, or in a record that is dropped meanwhile.
    private static MutateResult Owned(MutateResult result) =>
        result.IsEmpty ? result : ResultOf(Encode(result));
}
