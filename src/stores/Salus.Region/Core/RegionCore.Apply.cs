namespace Salus.Region.Core;

/// <summary>Commits: what a proof says, as far as the region's run goes, and its way down the chain.</summary>
internal sealed partial class RegionCore
{
    // The highest proof; its batch is of _run or of a run before, and not void.
    private CommitProof? _commit;

    // A proof of a run that the region has not opened: some batches of the region may be void in it.
    private CommitProof? _deferred;

    // All batches of the volume up to this number are committed: proven, or decided at the beginning of a run. Falls
    // by the record of a loss alone.
    private long _committed;

    // The region's last committed batch, which is readable with all before.
    private BatchName _lastCommitted;

    // Committed batches: the last one at or below _commit, and those above, which a run's beginning has decided.
    private readonly List<ReportedBatch> _settled = [];

    // The next member has been told of the proof of this batch.
    private long _passed;
    private bool _isPassing;
    private long _passAt;

    private bool MustPassCommit => !IsLastMember && _commit?.Batch.Number > _passed;

    // Batches of lower runs that the opening has not voided are committed: a recovery leaves them to the region.
    private void Begin(CommitProof? committed)
    {
        if (_batches.FindLast(batch => batch.Name.Run < _run) is { } below)
        {
            CommitUntil(below.Number);
            _committed = Math.Max(_committed, below.Number);
        }

        if (committed is not null) Apply(committed);
    }

    /// <summary>Takes a proof, which may be anyone's.</summary>
    private void Apply(CommitProof proof)
    {
        var name = proof.Batch;
        if (_commit is { } known && name.Number <= known.Batch.Number && name.Run <= known.Batch.Run) return;
        if (Volume is not { } volume) return;
        if (!volume.Proves(proof))
        {
            // The proof is of a generation that was not played yet, or of none.
            Refresh();
            return;
        }

        if (name.Run > _run)
        {
            if (_deferred is null || name.Run > _deferred.Batch.Run || name.Number > _deferred.Batch.Number)
                _deferred = proof;
            return;
        }

        // Void: a run has begun below it.
        if (volume.Head.Decision?.Voids(name) == true || volume.Head.Bar?.Voids(name) == true) return;
        if (_commit is null || name.Number > _commit.Batch.Number) _commit = proof;
        _committed = Math.Max(_committed, name.Number);
        if (CommitUntil(name.Number)) _services.Log.TryMark(Key, proof, out _);
        TrimSettled();
    }

    private bool CommitUntil(long number)
    {
        var count = 0;
        while (count < _batches.Count && _batches[count].Number <= number)
        {
            var batch = _batches[count++];
            CarryOut(batch.Index);
            _body.Commit(batch.Batch);
            RegionTelemetry.Committed(batch.Batch.Payload.Length);
            _services.Memory.Release(batch.Batch.Payload.Length);
            _lastCommitted = batch.Name;
            _settled.Add(ReportedBatch.Of(batch.Header));
            Answer(batch, () => PutAnswer(Status.Ok));
        }

        _batches.RemoveRange(0, count);
        CarryOut(NextBatch);
        return count > 0;
    }

    private void TrimSettled()
    {
        var proven = _commit?.Batch.Number ?? 0;
        var last = _settled.FindLastIndex(batch => batch.Name.Number <= proven);
        if (last > 0) _settled.RemoveRange(0, last);
    }

    private void TakeCommit(CommitRequest request, ReplyTo reply)
    {
        Apply(request.Commit);
        reply.Send(request.Fail(Status.Ok, Generation));
    }

    private void Passed(CommitProof? commit)
    {
        if (commit is not null) _passed = Math.Max(_passed, commit.Batch.Number);
    }

    // A record that leaves soon takes the proof along; else it goes on its own.
    private void PassCommit()
    {
        if (!MustPassCommit || _isPassing || _passAt > _services.Now) return;
        _isPassing = true;
        _services.Loops.Start(async () =>
        {
            try
            {
                await Task.Delay(_services.Options.CommitDelay, _services.Time, _stop.Token);
            }
            catch (OperationCanceledException)
            {
                return;
            }

            Post(() => Now(SendCommit));
        });
    }

    private void SendCommit()
    {
        if (!MustPassCommit)
        {
            _isPassing = false;
            return;
        }

        var commit = _commit!;
        Call(_generation.Members[_me + 1], new CommitRequest(Generation, Key, commit), response => Now(() =>
        {
            _isPassing = false;
            if (response is { IsOk: true }) Passed(commit);
            else _passAt = _services.Behind(s_retry);
        }));
    }
}
