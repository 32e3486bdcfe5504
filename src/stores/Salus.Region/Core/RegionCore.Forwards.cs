namespace Salus.Region.Core;

/// <summary>Records of the region's log on their way down the chain of members, and into the store (S2, S3).</summary>
internal sealed partial class RegionCore
{
    private async ValueTask<bool> TryForwardAsync(ForwardRequest request, ReplyTo reply)
    {
        var head = request.Head;
        if (head.Region != Key || _me == 0) return Reply(reply, request.Fail(SalusStatus.WrongMember, Generation));
        if (head.Index <= _lastIndex) return Repeat(request, reply);
        if (head.Index > _lastIndex + 1) return false;
        if (head.Previous != _lastChain) return Reply(reply, request.Fail(SalusStatus.Diverged, Generation));
        if (!AreOf(request.Signatures.AsSpan(), 0, _me, head.Logged))
            return Reply(reply, request.Fail(Status.BadRequest, Generation));
        if (_slots.Count - _appended >= MaxOpen) return false;
        var (status, slot) = await TakeRecordAsync(request);
        if (status == SalusStatus.Pending) return false;
        if (slot is null) return Reply(reply, request.Fail(status, Generation));
        slot.Waiters.Add(new LogSlot.Waiter(reply, _services.Behind(_services.Options.Patience)));
        if (request.Commit is { } commit) Apply(commit);
        return true;
    }

    private async ValueTask<(Status Status, LogSlot? Slot)> TakeRecordAsync(ForwardRequest request)
    {
        var head = request.Head;
        try
        {
            if (RegionRecord.DigestOf(head.Kind, request.Content, out _) != head.Digest) return (Status.Corrupt, null);
            switch (head.Kind)
            {
                case RegionRecordKind.Put:
                    var batch = SubBatch.Decode(request.Content, out _);
                    var status = await CheckForwardedAsync(batch);
                    return status == Status.Ok
                        ? Placed(TryPlace(head, request.Signatures.AsSpan(), request.Content, batch))
                        : (status, null);
                case RegionRecordKind.Open:
                    var opening = Opening.Decode(request.Content);
                    status = CheckOpening(opening);
                    if (status != Status.Ok) return (status, null);
                    var slot = TryPlace(head, request.Signatures.AsSpan(), request.Content, null);
                    if (slot is not null) Opened(opening, Volume!.Head.Decision!, slot);
                    return Placed(slot);
                default:
                    return TakeFile(request);
            }
        }
        catch (MalformedDataException)
        {
            return (Status.Corrupt, null);
        }
    }

    private static (Status, LogSlot?) Placed(LogSlot? slot) => (slot is null ? SalusStatus.Pending : Status.Ok, slot);

    // The primary has checked all this, and may be wrong. It has signed before a run began that this process knows of
    // already: the run fences in the order of the records (S12).
    private async ValueTask<Status> CheckForwardedAsync(SubBatch batch)
    {
        var header = batch.Header;
        if (batch.Key != Key || !Fits(batch)) return Status.BadRequest;
        if (!header.IsSigned(batch.Signature)) return Status.Corrupt;
        if (header.Run < _fenced && !Planted.Is("run-not-checked")) return SalusStatus.RunOver;
        if (MayLag(header))
        {
            Refresh();
            return SalusStatus.Pending;
        }

        if (Volume!.Head is var head && head.Run == header.Run && head.Driver != header.Driver)
            return SalusStatus.RunOver;
        if (batch.Participant.Previous != _last.Number || header.Number <= _last.Number) return SalusStatus.Diverged;
        return IsFull(batch) ? Status.NoSpace : await AcceptAsync(batch);
    }

    // A record that came before: the same one has the same answer.
    private bool Repeat(ForwardRequest request, ReplyTo reply)
    {
        var at = (int)(request.Head.Index - (_lastIndex - _slots.Count + 1));
        if (at < 0) return Reply(reply, Gap(request));
        var slot = _slots[at];
        if (slot.Chain != request.Head.Chain)
        {
            if (!Planted.Is("signs-index-twice")) return Reply(reply, request.Fail(Status.Conflict, Generation));
            TrySign(request.Head.Logged, out var again);
            return Reply(reply, new ForwardResponse(Status.Ok, Generation) { Signatures = [again] });
        }

        if (request.Commit is { } commit) Apply(commit);
        if (IsAnswered(slot)) return Reply(reply, ForwardAnswer(slot));
        slot.Waiters.Add(new LogSlot.Waiter(reply, _services.Behind(_services.Options.Patience)));
        return true;
    }

    // Records that have all signatures go into the store's log, in the order of their indexes.
    private void Append()
    {
        while (_appended < _slots.Count && _slots[_appended] is { IsSigned: true } slot)
        {
            // Durability may be told before this turn ends.
            IsBusy = true;
            var record = new RegionRecord(slot.Head, slot.Certificate, slot.Content);
            var status = _services.Log.TryAppend(record, out var lsn);
            switch (status)
            {
                case Status.Ok:
                    slot.Appended(lsn);
                    _appended++;
                    _mustCommitLog = true;
                    break;
                case Status.Overloaded or Status.NoSpace:
                    // The signature stands: the record must go there, and this member goes on only when it has.
                    return;
                default:
                    // Sealed: the generation is over. Anything else: the store has failed.
                    Break(status);
                    return;
            }

            if (Planted.Is("vote-before-durable") && slot.Batch is { } batch) batch.IsDurable = true;
            if (lsn <= _services.Log.DurableUntil) SetDurable(_services.Log.DurableUntil);
            AnswerSigned(slot);
        }
    }

    private void SetDurable(long lsn)
    {
        foreach (var slot in _slots)
        {
            if (!slot.IsAppended) break;
            if (slot.IsDurable || slot.Lsn > lsn) continue;
            slot.IsDurable = true;
            if (slot.Batch is { } batch) batch.IsDurable = true;
            AnswerSigned(slot);
        }

        var done = _slots.FindIndex(static slot => !slot.IsDurable);
        var surplus = Math.Min(done < 0 ? _slots.Count : done, _slots.Count - MaxRecent);
        if (surplus <= 0) return;
        _slots.RemoveRange(0, surplus);
        _appended -= surplus;
    }

    // An opening is answered when it is durable: then all members have it for good.
    private static bool IsAnswered(LogSlot slot) =>
        slot.IsAppended && (slot.IsDurable || slot.Head.Kind != RegionRecordKind.Open);

    private void AnswerSigned(LogSlot slot)
    {
        if (slot.Waiters.Count == 0 || !IsAnswered(slot)) return;
        Answer(slot, () => ForwardAnswer(slot));
    }

    private ForwardResponse ForwardAnswer(LogSlot slot) => new(Status.Ok, Generation)
    {
        Signatures = slot.From(_me),
        Free = Math.Max(0, Math.Min(slot.Free, _services.Log.Free)),
    };

    // Records that lack signatures go to the next member, and go again until they come back.
    private void Forward()
    {
        if (IsLastMember) return;
        for (var i = _appended; i < _slots.Count; i++)
        {
            var slot = _slots[i];
            if (slot.IsSigned || slot.IsCalling || slot.CallAt > _services.Now) continue;
            slot.IsCalling = true;
            Passed(_commit);
            var request = new ForwardRequest(Generation, slot.Head, slot.Until(_me), slot.Content, _commit);
            Call(_generation.Members[_me + 1], request, response => Now(() => TakeForwarded(slot, response)));
        }
    }

    private void TakeForwarded(LogSlot slot, ForwardResponse? response)
    {
        slot.IsCalling = false;
        if (slot.IsSigned) return;
        var behind = _members.Members.Length - _me - 1;
        if (response is { IsOk: true }
            && AreOf(response.Signatures.AsSpan(), _me + 1, behind, slot.Head.Logged))
        {
            slot.Complete(response.Signatures.AsSpan(), response.Free);
            (_free, _freeUntil) = (response.Free, _services.Behind(s_fresh));
            return;
        }

        slot.CallAt = _services.Behind(s_retry);
        if (response?.Status != Status.NoSpace) return;
        // The index stays taken: the batch goes on when there is room again, or a new generation leaves it out.
        (_free, _freeUntil) = (0, _services.Behind(s_fresh));
        if (slot.Batch is { } batch) Answer(batch, () => PutAnswer(Status.NoSpace));
        Answer(slot, () => new ForwardResponse(Status.NoSpace, Generation));
    }

    private ForwardResponse Gap(ForwardRequest request) => request.Head.Index > _lastIndex + 1
        ? new ForwardResponse(SalusStatus.Gap, Generation) { LastIndex = _lastIndex }
        : new ForwardResponse(SalusStatus.Pending, Generation);

    private void Expire(LogSlot slot, long now)
    {
        foreach (var waiter in slot.Waiters)
        {
            if (waiter.Deadline <= now) waiter.Reply.Send(new ForwardResponse(SalusStatus.Pending, Generation));
        }

        slot.Waiters.RemoveAll(waiter => waiter.Deadline <= now);
    }

    private static void Answer(LogSlot slot, Func<Response> response)
    {
        foreach (var waiter in slot.Waiters) waiter.Reply.Send(response());
        slot.Waiters.Clear();
    }

    private static bool Reply(ReplyTo reply, Response response)
    {
        reply.Send(response);
        return true;
    }
}
