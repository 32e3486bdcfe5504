namespace Salus.Region.Core;

/// <summary>Batches of the driver at the primary: their order and their checks (S2).</summary>
internal sealed partial class RegionCore
{
    private async ValueTask PutAsync(PutBatchRequest request, ReplyTo reply)
    {
        SubBatch batch;
        try
        {
            batch = SubBatch.Decode(request.Batch, out _);
        }
        catch (MalformedDataException)
        {
            reply.Send(request.Fail(Status.Corrupt, Generation));
            return;
        }

        if (!IsPrimary || batch.Key != Key || !Fits(batch))
        {
            reply.Send(request.Fail(IsPrimary ? Status.BadRequest : SalusStatus.WrongMember, Generation));
            return;
        }

        if (request.Commit is { } commit) Apply(commit);
        if (MayLag(batch.Header)) Refresh();
        await TryOrParkAsync(request, reply, () => TryPutAsync(request, batch, reply), () => LatePut(batch));
    }

    private async ValueTask<bool> TryPutAsync(PutBatchRequest request, SubBatch batch, ReplyTo reply)
    {
        if (KnownOutcome(batch, reply) is { } known)
        {
            if (!known.IsTaken) reply.Send(PutAnswer(known.Status));
            return true;
        }

        var status = CheckWriter(batch);
        if (status is SalusStatus.Pending) return false;
        // A committed batch that the region does not have was lost: the driver has it recovered again (S11).
        if (status == Status.Ok && batch.Header.Number <= _committed) status = SalusStatus.Diverged;
        if (status == Status.Ok && batch.Participant.Previous > _last.Number) return false;
        if (status == Status.Ok && batch.Participant.Previous < _last.Number) status = SalusStatus.Gap;
        if (status == Status.Ok && IsFull(batch)) status = Status.NoSpace;
        // More than a driver has in flight: the batches before must commit.
        if (status == Status.Ok && (_batches.Count >= MaxOpen || _slots.Count - _appended >= MaxOpen)) return false;
        if (status == Status.Ok && !TryCutMarker()) return false;
        if (status == Status.Ok) status = await AcceptAsync(batch);
        if (status is SalusStatus.Pending) return false;
        if (status != Status.Ok)
        {
            reply.Send(PutAnswer(status));
            return true;
        }

        var head = new RecordHead(
            RegionRecordKind.Put, Key, Generation, _lastIndex + 1, _lastChain, batch.Digest());
        if (TryPlace(head, [], request.Batch, batch) is not { Batch: { } placed }) return false;
        placed.Waiters.Add(new LogSlot.Waiter(reply, _services.Behind(_services.Options.Patience)));
        RegionTelemetry.Batches.Add(1);
        RegionTelemetry.BatchSize.Record(batch.Payload.Length);
        return true;
    }

    // Null: the batch is new. Taken: the request waits with the batch.
    private (Status Status, bool IsTaken)? KnownOutcome(SubBatch batch, ReplyTo reply)
    {
        var name = batch.Header.Name;
        if (name.Run < _run && !Planted.Is("run-not-checked")) return (SalusStatus.RunOver, false);
        if (name.Run > _run || name.Number > _last.Number) return null;
        if (name.Number <= _committed) return (Status.Ok, false);
        if (!TryFindBatch(name, out var placed)) return (Status.Conflict, false);
        if (IsAnswered(placed)) return (Status.Ok, false);
        placed.Waiters.Add(new LogSlot.Waiter(reply, _services.Behind(_services.Options.Patience)));
        return (Status.Ok, true);
    }

    /// <summary>Whether the batch is its writer's: the driver of the run that the region has opened, and that no other
    /// has followed. Pending: this process may have played less of the log than the driver.</summary>
    private Status CheckWriter(SubBatch batch)
    {
        var header = batch.Header;
        if (!header.IsSigned(batch.Signature)) return Status.Corrupt;
        if (Planted.Is("run-not-checked")) return IsAdmitted ? Status.Ok : SalusStatus.Pending;
        if (Volume is not { } volume) return SalusStatus.Pending;
        if (header.Run < volume.Head.Run || _fenced > header.Run) return SalusStatus.RunOver;
        if (MayLag(header)) return SalusStatus.Pending;
        return header.Driver == volume.Head.Driver ? Status.Ok : SalusStatus.RunOver;
    }

    // PUTs come when all regions have opened, and the generation is admitted (S6).
    private bool MayLag(BatchHeader header) => Volume is not { } volume || header.Run > volume.Head.Run
        || header.Run > _run || (header.Run == volume.Head.Run && volume.Head.Phase != RunPhase.Opened) || !IsAdmitted;

    /// <summary>Compares the batch's data and root, and makes its changes in the tree. Pending: not now.</summary>
    private async ValueTask<Status> AcceptAsync(SubBatch batch)
    {
        if (batch.FirstDamaged() >= 0) return Status.Corrupt;
        if (!_services.Map.IsHeld || !_services.Memory.TryHold(batch.Payload.Length)) return SalusStatus.Pending;
        var isAccepted = false;
        try
        {
            await _body.LoadAsync(batch, _stop.Token);
            isAccepted = _body.Accept(batch);
        }
        finally
        {
            if (!isAccepted) _services.Memory.Release(batch.Payload.Length);
        }

        return isAccepted ? Status.Ok : SalusStatus.Diverged;
    }

    /// <summary>Gives a record its index at this member, for ever, and signs that (S2). The body has accepted its
    /// batch. Null: the lease has ended meanwhile, and nothing has changed.</summary>
    private LogSlot? TryPlace(
        RecordHead head, ReadOnlySpan<WeakSignature> before, ReadOnlyMemory<byte> content, SubBatch? batch)
    {
        if (!TrySign(head.Logged, out var own))
        {
            if (batch is null) return null;
            _body.Undo();
            _services.Memory.Release(batch.Payload.Length);
            return null;
        }

        var members = _members.Members.Length;
        var placed = batch is null ? null : new PlacedBatch(head.Index, batch, members);
        var slot = new LogSlot(head, content, members) { Batch = placed };
        slot.Sign(before, own);
        (_lastIndex, _lastChain) = (head.Index, slot.Chain);
        _slots.Add(slot);
        if (placed is null) return slot;
        _batches.Add(placed);
        _last = placed.Name;
        Counted(placed);
        return slot;
    }

    private bool Fits(SubBatch batch)
    {
        var blocks = _geometry.BlocksOf(Key.Region);
        return batch.BlockSize == _geometry.BlockSize
            && (batch.Writes.IsEmpty || batch.Writes[^1].Block < blocks)
            && (batch.Zeros.IsEmpty || batch.Zeros[^1].End <= blocks);
    }

    // Blocks that become empty free space: they are taken as long as the log has room.
    private bool IsFull(SubBatch batch)
    {
        _isShort = Free - batch.Payload.Length < _services.Options.SpaceMargin;
        return batch.Payload.IsEmpty ? !_services.Log.TakesDiscards : _isShort;
    }

    // The leader's answer is the commit; elsewhere it is that the batch is prepared.
    private bool IsAnswered(PlacedBatch batch) =>
        batch.Number <= _committed || (batch.Vote is not null && batch.Header.Leader != Key.Region);

    private PutBatchResponse PutAnswer(Status status) => new(status, Generation)
    {
        Last = _last,
        Free = Math.Max(0, Free),
        Commit = _commit,
    };

    private PutBatchResponse LatePut(SubBatch batch) => PutAnswer(
        batch.Header.Run == _run && batch.Participant.Previous > _last.Number
            ? SalusStatus.Gap
            : SalusStatus.Pending);

    private void Expire(PlacedBatch batch, long now)
    {
        foreach (var waiter in batch.Waiters)
        {
            if (waiter.Deadline <= now) waiter.Reply.Send(PutAnswer(SalusStatus.Pending));
        }

        batch.Waiters.RemoveAll(waiter => waiter.Deadline <= now);
    }

    private static void Answer(PlacedBatch batch, Func<Response> response)
    {
        foreach (var waiter in batch.Waiters) waiter.Reply.Send(response());
        batch.Waiters.Clear();
    }
}
