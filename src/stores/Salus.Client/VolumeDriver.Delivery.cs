namespace Salus;

/// <summary>Parts of batches to their regions, and the proofs that come back.</summary>
internal sealed partial class VolumeDriver
{
    private static readonly TimeSpan s_firstPause = TimeSpan.FromMilliseconds(5);
    private static readonly TimeSpan s_longestPause = TimeSpan.FromMilliseconds(500);

    private void Deliver(BatchPart part)
    {
        lock (_gate)
        {
            if (part.IsSending || part.Batch.IsEnded) return;
            part.IsSending = true;
        }

        _ports.Loops.Start(() => DeliverAsync(part));
    }

    // Sends the part until its region has it; to the leader until the batch has ended, since its answer is the proof.
    private async Task DeliverAsync(BatchPart part)
    {
        var failures = 0;
        try
        {
            while (true)
            {
                Task ready;
                Epoch? generation;
                CommitProof? proof;
                lock (_gate)
                {
                    var link = _regions[part.Region];
                    (generation, ready, proof) = (link.Generation, link.Ready, _proof);
                    if (part.Batch.IsEnded
                        || (generation is { } held && part.HeldBy == held && !IsLeader(part)))
                    {
                        part.IsSending = false;
                        return;
                    }
                }

                if (generation is not { } epoch)
                {
                    await ready.WaitOrCancelAsync(_stop.Token);
                    continue;
                }

                if (failures > 0) SalusClientTelemetry.Retransmissions.Add(1);
                if (await PutAsync(part, epoch, proof)) failures = 0;
                else
                {
                    await Task.Delay(Clock.Whole(BackOff.After(++failures, s_firstPause, s_longestPause,
                        _ports.Entropy)), _ports.Time, _stop.Token);
                }
            }
        }
        catch (Exception e) when (e is OperationCanceledException or ObjectDisposedException)
        {
            // The volume is lost here: its batches are void.
        }
    }

    private static bool IsLeader(BatchPart part) => part.Batch.Header!.Leader == part.Region;

    /// <returns>False: a pause before the next attempt.</returns>
    private async Task<bool> PutAsync(BatchPart part, Epoch generation, CommitProof? proof)
    {
        var current = _ports.Log.State.Regions[part.Region].Current;
        var route = RegionRoute.Of(current, _ports.Log.Nodes);
        if (route.Generation != generation || route.Members[0].Address is not { } primary)
        {
            await RefreshAsync();
            return false;
        }

        PutBatchResponse answer;
        try
        {
            answer = await _ports.Transport.CallAsync(primary,
                new PutBatchRequest(generation, new RegionKey(Volume, part.Region), part.Bytes, proof), _stop.Token);
        }
        catch (TransportException)
        {
            return false;
        }

        if (answer.Commit is { } commit) await TakeProofAsync(commit);
        return await TakeAsync(part, generation, route.Members[0].Incarnation, answer);
    }

    private async Task<bool> TakeAsync(
        BatchPart part, Epoch generation, Incarnation primary, PutBatchResponse answer)
    {
        switch (answer.Status)
        {
            case Status.Ok:
                lock (_gate)
                {
                    part.HeldBy = generation;
                    _regions[part.Region].Free = answer.Free;
                    // A leader without a proof is asked again.
                    return part.Batch.IsEnded || !IsLeader(part);
                }

            case SalusStatus.Pending:
                // Not prepared yet or, at the leader, not committed: the same bytes ask again.
                return part.Batch.IsEnded;
            case Status.NoSpace:
                lock (_gate) _regions[part.Region].Free = answer.Free;
                Reopen(part.Batch);
                return false;
            case SalusStatus.Diverged:
                // The member computes otherwise than the driver, which is trusted: its region needs another one.
                _accusations.Accuse(part.Region, generation, primary, SuspicionKind.WrongAnswer);
                return false;
            case SalusStatus.Gap:
                // The batch before is under way: it was overtaken, or lost and is sent again by its own loop, unless a
                // region forgot it.
                SendAgainAbove(part.Region, answer.Last, part.Batch.Header!.Number);
                return false;
            case Status.Corrupt:
                return true;
            default:
                await RefreshAsync();
                return false;
        }
    }

    // The region does not have what an earlier answer said: a primary that lost its memory within a generation.
    private void SendAgainAbove(int region, BatchName last, long below)
    {
        List<BatchPart> again = [];
        lock (_gate)
        {
            foreach (var batch in _queue.All)
            {
                if (batch.Stage != BatchStage.Sent || batch.Header!.Number >= below) break;
                if (batch.Header.Number <= last.Number || batch.Find(region) is not { HeldBy: not null } part) continue;
                part.HeldBy = null;
                again.Add(part);
            }
        }

        foreach (var part in again) Deliver(part);
    }

    private async Task RefreshAsync()
    {
        try
        {
            OnState(await _ports.Log.RefreshAsync(_stop.Token));
        }
        catch (CorfuException)
        {
            // The log is away: regions go on as long as their leases.
        }
    }

    /// <summary>A proof from any member: all batches up to it are committed, if the log knows its signers.</summary>
    private async ValueTask TakeProofAsync(CommitProof proof)
    {
        lock (_gate)
        {
            if (proof.Batch.Number <= _committed) return;
        }

        if (!_ports.Log.State.Proves(proof))
        {
            // The proof's generation may be one that this process has not played.
            await RefreshAsync();
            if (!_ports.Log.State.Proves(proof)) return;
        }

        Commit(proof);
    }

    private void Commit(CommitProof proof)
    {
        var ended = new List<Batch>();
        lock (_gate)
        {
            if (_phase != Phase.Writing || proof.Batch.Run != _run || !IsOwn(proof.Batch)) return;
            _proof = proof;
            while (_queue.Oldest is { } batch && batch.Header!.Number <= proof.Batch.Number) ended.Add(CommitOldest());
        }

        foreach (var batch in ended) batch.Answer();
        Pump();
    }

    // A batch is its header: the number alone may be that of a dead run (S15).
    private bool IsOwn(BatchName name)
    {
        foreach (var batch in _queue.All)
        {
            if (batch.Stage != BatchStage.Sent) return false;
            if (batch.Header!.Number == name.Number) return batch.Header.Name == name;
        }

        return false;
    }

    // Under the gate.
    private Batch CommitOldest()
    {
        var batch = _queue.DequeueOldest();
        var header = batch.Header!;
        foreach (var part in batch.Parts)
        {
            _tree.Settle(part.Region);
            _regions[part.Region].Commit(header.Name);
        }

        batch.End(null);
        (_committed, _committedRoot, _lastProgress) = (header.Number, header.VolumeRoot, _ports.Time.GetTimestamp());
        _behindStable.Enqueue((header.Number, batch.Bytes));
        _stableLag += batch.Bytes;
        SalusClientTelemetry.CommitTime.Record(_ports.Time.GetElapsedTime(batch.SentAt).TotalSeconds);
        return batch;
    }
}
