namespace Salus.Region.Core;

/// <summary>The beginning of a run: lower runs are refused, the region reports, and opens at what was decided (S12,
/// S16, S24).</summary>
internal sealed partial class RegionCore
{
    // The run that the region has opened: it takes batches of no other one. Never falls.
    private long _run;

    // Lower runs are refused: at the primary as soon as a run begins, elsewhere in the order of the records, since the
    // members before may have signed a record that is on its way. Never below _run.
    private long _fenced;

    // The record of the opening; null: the generation began with it.
    private LogSlot? _openSlot;

    // The last committed batch of the recovery that began this generation.
    private readonly BatchName _first;

    private bool _isReporting;
    private long _reportAt;

    // The log does not have what was decided: another recovery may find it.
    private bool _hasDiverged;

    // All members have the opening durably.
    private bool IsOpened => _openSlot is null or { IsSigned: true, IsDurable: true };

    private bool MustFollow => IsPrimary && Volume is { } volume && volume.Head.Run > _run;

    // Every record is in all members' logs, and durable here.
    private bool IsSettled => _appended == _slots.Count && (_slots.Count == 0 || _slots[^1].IsDurable);

    // At the primary: does what the volume's run asks for next.
    private void FollowRun()
    {
        if (!MustFollow || Volume is not { } volume || !volume.Regions.TryGetValue(Key.Region, out var region)
            || region.Current.Number != Generation || region.Current.Opening is null) return;
        var head = volume.Head;
        if (!Planted.Is("report-before-fence")) _fenced = Math.Max(_fenced, head.Run);
        if (!IsSettled) return;
        if (head.Phase == RunPhase.Fencing && region.Report is null) Fence(head.Run);
        else if (head.Decision is { } decision && decision.Run == head.Run) Open(decision);
    }

    private void Fence(long run)
    {
        if (_isReporting || _reportAt > _services.Now) return;
        var report = ReportOf(run);
        var statement = Statement.Report(Key, Generation, report.Digest);
        if (!TrySign(statement, out var own)) return;
        _isReporting = true;
        if (IsLastMember)
        {
            Report(report, new Certificate(Generation, [own]));
            return;
        }

        var request = new FenceRequest(Generation, Key, report, _lastIndex, _lastChain, [own]);
        Call(_generation.Members[1], request, response => Now(() =>
        {
            if (response is { IsOk: true }
                && AreOf(response.Signatures.AsSpan(), 1, _members.Members.Length - 1, statement))
            {
                Report(report, new Certificate(Generation, [own, .. response.Signatures]));
                return;
            }

            // A higher proof that a member knows makes another report.
            if (response?.Commit is { } commit) Apply(commit);
            _isReporting = false;
            if (response?.Status != SalusStatus.Behind) _reportAt = Again(response);
        }));
    }

    private void Report(RegionReport report, Certificate certificate) => _services.Loops.Start(async () =>
    {
        try
        {
            // A refusal stands in the volume's state, which says what to do next.
            await _services.Map.ReportAsync(Key, Generation, report, certificate, _stop.Token);
            await _services.Map.RefreshAsync(Key.Volume, _stop.Token);
        }
        catch (Exception error) when (error is CorfuException or OperationCanceledException)
        {
            // The log cannot be reached: the report is made again.
        }

        Post(() => Now(() =>
        {
            _isReporting = false;
            _reportAt = _services.Behind(s_retry);
        }));
    });

    // The same at all members that have the same log and the same proof. Runs that end without a proof, one behind the
    // other, leave more decided batches than a report holds: the last of those that are left out stands for all below.
    private RegionReport ReportOf(long run)
    {
        var proven = _commit?.Batch.Number ?? 0;
        List<ReportedBatch> above =
        [
            .. _settled.Where(batch => batch.Name.Number > proven),
            .. _batches.Select(static batch => ReportedBatch.Of(batch.Header)),
        ];
        var surplus = above.Count - RegionReport.MaxBatches;
        return surplus > 0
            ? new RegionReport(run, _commit, above[surplus - 1], [.. above[surplus..]])
            : new RegionReport(
                run, _commit, _settled.FindLast(batch => batch.Name.Number <= proven), [.. above]);
    }

    // At the other members: behind all records of the primary.
    private bool TryFence(FenceRequest request, ReplyTo reply)
    {
        var report = request.Report;
        var statement = Statement.Report(Key, Generation, report.Digest);
        if (request.Region != Key || _me == 0) return Reply(reply, request.Fail(SalusStatus.WrongMember, Generation));
        if (report.Run <= _run) return Reply(reply, request.Fail(SalusStatus.RunOver, Generation));
        if (!AreOf(request.Signatures.AsSpan(), 0, _me, statement))
            return Reply(reply, request.Fail(Status.BadRequest, Generation));
        if (request.Index > _lastIndex || !IsSettled) return false;
        if (request.Index < _lastIndex || request.Chain != _lastChain)
            return Reply(reply, request.Fail(SalusStatus.Diverged, Generation));
        if (report.Committed is { } proof) Apply(proof);
        if (_commit?.Batch.Number > (report.Committed?.Batch.Number ?? 0))
            return Reply(reply, new FenceResponse(SalusStatus.Behind, Generation) { Commit = _commit });
        // The proof is of a generation that this process has not played.
        if (_commit?.Batch != report.Committed?.Batch) return false;
        if (!Agrees(report))
            return Reply(reply, request.Fail(SalusStatus.Diverged, Generation));
        if (!Planted.Is("report-before-fence")) _fenced = Math.Max(_fenced, report.Run);
        if (!TrySign(statement, out var own)) return false;
        if (IsLastMember) return Reply(reply, new FenceResponse(Status.Ok, Generation) { Signatures = [own] });
        Call(_generation.Members[_me + 1], request with { Signatures = [.. request.Signatures, own] },
            response => Now(() => reply.Send(response switch
            {
                { IsOk: true } => response with
                {
                    Epoch = Generation,
                    Signatures = [own, .. response.Signatures],
                },
                null => request.Fail(SalusStatus.Pending, Generation),
                _ => response with { Epoch = Generation },
            })));
        return true;
    }

    // A member may have the batch that the generation began behind in a checkpoint alone, without its header.
    private bool Agrees(RegionReport report)
    {
        var own = ReportOf(report.Run) with { Committed = report.Committed };
        return own.Equals(report)
            || (TellsFirst(own) != TellsFirst(report) && WithoutFirst(own).Equals(WithoutFirst(report)));
    }

    private bool TellsFirst(RegionReport report) =>
        report.Last?.Name == _first || report.Above.Any(batch => batch.Name == _first);

    private RegionReport WithoutFirst(RegionReport report) => report with
    {
        Last = report.Last?.Name == _first ? null : report.Last,
        Above = report.Above.RemoveAll(batch => batch.Name == _first),
    };

    private FenceResponse GapOf(FenceRequest request) => request.Index > _lastIndex
        ? new FenceResponse(SalusStatus.Gap, Generation) { LastIndex = _lastIndex }
        : new FenceResponse(SalusStatus.Pending, Generation);

    private void Open(RunDecision decision)
    {
        var opening = new Opening(decision.Run, LastIn(decision));
        if (CheckOpening(opening) is not Status.Ok and var status)
        {
            _hasDiverged = status == SalusStatus.Diverged;
            return;
        }

        var content = opening.Encode();
        var head = new RecordHead(RegionRecordKind.Open, Key, Generation, _lastIndex + 1, _lastChain,
            RegionRecord.DigestOf(RegionRecordKind.Open, content, out _));
        if (TryPlace(head, [], content, null) is { } slot) Opened(opening, decision, slot);
    }

    /// <summary>Whether the opening is what Tango has decided. Pending: this process has played too little.</summary>
    private Status CheckOpening(Opening opening)
    {
        if (Volume?.Head.Decision is not { } decision || decision.Run < opening.Run)
        {
            Refresh();
            return SalusStatus.Pending;
        }

        if (decision.Run > opening.Run || opening.Run <= _run) return SalusStatus.RunOver;
        var expected = decision.Lasts[Key.Region];
        return opening.Last == LastIn(decision) && (Planted.Is("others-stay-ahead")
            || (_lastCommitted.Number <= decision.Batch.Number
                && (expected is not { IsNone: false } last || last == opening.Last)))
                ? Status.Ok
                : SalusStatus.Diverged;
    }

    // The region's last batch that the decision keeps. Void batches are behind all others.
    private BatchName LastIn(RunDecision decision) =>
        _batches.FindLast(batch => !IsVoid(decision, batch.Name))?.Name ?? _lastCommitted;

    private bool IsVoid(RunDecision decision, in BatchName name) =>
        decision.Voids(name) || Volume?.Head.Bar?.Voids(name) == true;

    private void Opened(Opening opening, RunDecision decision, LogSlot slot)
    {
        while (_batches.Count > 0 && _batches[^1] is { } newest && newest.Name != opening.Last
            && IsVoid(decision, newest.Name) && !Planted.Is("void-only-the-refused"))
        {
            _body.Undo();
            RegionTelemetry.Voids.Add(1);
            _services.Memory.Release(newest.Batch.Payload.Length);
            _batches.RemoveAt(_batches.Count - 1);
            Answer(newest, () => PutAnswer(SalusStatus.RunOver));
        }

        CommitUntil(Planted.Is("void-only-the-refused") ? long.MaxValue : decision.Batch.Number);
        if (_commit is { } known && IsVoid(decision, known.Batch)) _commit = null;
        // Falls where an operator has given up a tail (S21): later batches have its numbers.
        (_committed, _passed) = (decision.Batch.Number, Math.Min(_passed, decision.Batch.Number));
        _last = _lastCommitted;
        (_run, _fenced) = (opening.Run, opening.Run);
        (_openSlot, _hasDiverged) = (slot, false);
        if (_deferred is not { } proof) return;
        _deferred = null;
        Apply(proof);
    }
}
