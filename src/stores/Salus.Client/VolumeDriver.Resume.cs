namespace Salus;

/// <summary>New generations of regions, and new runs after a refusal.</summary>
internal sealed partial class VolumeDriver
{
    // Between two recoveries of a region that lacks something: stores may come back meanwhile.
    private static readonly TimeSpan s_recoveryPause = TimeSpan.FromSeconds(2);

    private async Task FollowAsync()
    {
        try
        {
            var state = _ports.Log.State;
            while (true)
            {
                OnState(state);
                state = await _ports.Log.WaitAsync(state.Revision, _stop.Token);
            }
        }
        catch (Exception e) when (_stop.IsCancellationRequested && e is OperationCanceledException)
        {
            // The end.
        }
        catch (Exception e) when (e is CorfuException or ObjectDisposedException)
        {
            Lose(VolumeFault.LeaseLost, "The log can be followed no more: " + e.Message);
        }
    }

    private void OnState(VolumeState state)
    {
        var isTakenOver = false;
        List<RegionLink> resuming = [];
        lock (_gate)
        {
            if (_phase == Phase.Over) return;
            isTakenOver = state.Head.Driver != _signer.Incarnation && state.Head.Run > _run;
            foreach (var link in _regions)
            {
                var current = state.Regions[link.Region].Current;
                // Known already, or older than what is known here.
                if (link.Generation is { } known && current.Number.Value <= known.Value) continue;
                link.Suspend();
                if (_phase != Phase.Writing || link.IsResuming || current.Opening is null) continue;
                link.IsResuming = true;
                resuming.Add(link);
            }
        }

        if (isTakenOver) Lose(VolumeFault.LeaseLost, "Another process has taken the volume over.");
        foreach (var link in resuming) _ports.Loops.Start(() => ResumeAsync(link));
    }

    private async Task ResumeAsync(RegionLink link)
    {
        try
        {
            while (await TryResumeAsync(link))
            {
            }
        }
        catch (Exception e) when (e is CorfuException or OperationCanceledException or ObjectDisposedException)
        {
            // The log is away, or the region answers no more: the next state, or the next look, begins again.
        }
        finally
        {
            lock (_gate) link.IsResuming = false;
        }
    }

    /// <returns>Whether to look at the region again.</returns>
    private async Task<bool> TryResumeAsync(RegionLink link)
    {
        var state = await _ports.Log.RefreshAsync(_stop.Token);
        var current = state.Regions[link.Region].Current;
        if (current.Opening is not { } opening) return false;
        Hash128? expected;
        long run;
        lock (_gate)
        {
            if (_phase != Phase.Writing || link.Generation is { } known && known.Value >= current.Number.Value)
                return false;
            (expected, run) = (link.RootAfter(opening.Last), _run);
        }

        if (Planted.Is("resume-trusts-the-region")) expected ??= default(Hash128);
        var hasRoot = expected is not { } root ? false : await HasRootAsync(link, opening.Last, root, run);
        if (hasRoot is null)
        {
            // No member has answered yet.
            await Task.Delay(s_tick, _ports.Time, _stop.Token);
            return true;
        }

        if (hasRoot == false)
        {
            NoteLack(link, state.Regions[link.Region]);
            SalusClientLog.Lacking(
                _ports.Logger, Volume, link.Region, current.Number.Value, link.Committed.Number);
            await _ports.Log.ReplaceAsync(link.Region, current.Number.Value, current.Members, _stop.Token);
            await Task.Delay(s_recoveryPause, _ports.Time, _stop.Token);
            return true;
        }

        if (!current.IsAdmitted
            && await _ports.Log.AdmitAsync(link.Region, current.Number.Value, run, _stop.Token) is not null)
            return true;
        Serve(link, current.Number, opening.Last);
        return false;
    }

    // The opening names the last batch, by its header's digest, which all members have signed; the root is what one of
    // them has recomputed (S11).
    private async Task<bool?> HasRootAsync(RegionLink link, BatchName last, Hash128 root, long run)
    {
        if (Planted.Is("resume-trusts-the-region")) return true;
        var differs = false;
        var question = new StatusQuestion(new RegionKey(Volume, link.Region), run, 0, status =>
        {
            var isEqual = status.Last == last && status.Root == root;
            if (!isEqual) Volatile.Write(ref differs, true);
            return isEqual;
        });
        var end = await _asker.AskOnceAsync(question, _stop.Token);
        if (end.Judgment == Judgment.Good) return true;
        return Volatile.Read(ref differs) ? false : null;
    }

    // A region lacks acknowledged batches while the writer lives (S21).
    private void NoteLack(RegionLink link, RegionState known)
    {
        lock (_gate)
        {
            var now = _ports.Time.GetTimestamp();
            // Stores that come back are read first: the patience begins when all have been.
            var since = link.Lack is { Away.IsEmpty: true } before ? before.Since : now;
            link.Lack = RegionLack.Of(link.Region, known, _ports.Log.Nodes, link.Committed, since, now);
        }
    }

    // Under the gate. Null: no region lacks anything.
    private RegionLack? OldestLack() => _regions.Select(static link => link.Lack).OfType<RegionLack>()
        .MinBy(static lack => lack.Since);

    /// <summary>Ends the use of a volume that has lost acknowledged batches at all stores of a region. To the regions
    /// that is the death of a writer; the proof of what was acknowledged is on the log before (S20).</summary>
    private async Task EndIfLostAsync()
    {
        if (FindLoss() is null) return;
        await NoteAsync();
        if (FindLoss() is not { } loss) return;
        Lose(VolumeFault.WritesLost, $"{loss.Sentence}, and all its stores were read. Mount the volume again: it waits "
            + "until a store brings them back, or 'corfu volume recover --accept-loss' gives up the tail.");
    }

    private RegionLack? FindLoss()
    {
        lock (_gate)
        {
            if (_phase != Phase.Writing) return null;
            return _regions.Select(static link => link.Lack).OfType<RegionLack>().FirstOrDefault(lack =>
                lack.Away.IsEmpty && _ports.Time.GetElapsedTime(lack.Since, lack.Seen) >= _options.Patience);
        }
    }

    private void Serve(RegionLink link, Epoch generation, BatchName last)
    {
        List<BatchPart> parts = [];
        lock (_gate)
        {
            if (_phase != Phase.Writing) return;
            link.Serve(generation);
            foreach (var batch in _queue.All)
            {
                if (batch.Stage != BatchStage.Sent) break;
                if (batch.Find(link.Region) is not { } part) continue;
                // The generation votes again by itself for batches that it took over from the log.
                part.HeldBy = batch.Header!.Number <= last.Number ? generation : null;
                parts.Add(part);
            }
        }

        SalusClientTelemetry.Resumptions.Add(1);
        SalusClientLog.Resumed(_ports.Logger, Volume, link.Region, generation.Value);
        foreach (var part in parts) Deliver(part);
    }

    /// <summary>Ends the run at a batch that a store refuses: all that is not decided is void, and fails
    /// (S16).</summary>
    private void Reopen(Batch refused)
    {
        lock (_gate)
        {
            if (_phase != Phase.Writing || refused.IsEnded) return;
            _phase = Phase.Reopening;
        }

        SalusClientTelemetry.Refusals.Add(1);
        SalusClientLog.Refused(_ports.Logger, Volume, refused.Header!.Number, refused.Header.Run);
        _ports.Loops.Start(() => ReopenAsync(refused));
    }

    private async Task ReopenAsync(Batch refused)
    {
        try
        {
            var opener = new RunOpener(_ports, _options, _asker, _accusations);
            var opened = await opener.OpenAsync(_lease.Token, _signer.Incarnation, _stop.Token);
            GoOn(opened, refused);
        }
        catch (VolumeException e)
        {
            Lose(VolumeFault.LeaseLost, e.Message);
        }
        catch (Exception e) when (LogFaults.IsFault(e))
        {
            Lose(VolumeFault.LeaseLost, LogFaults.MessageOf(e));
        }
        catch (Exception e) when (e is OperationCanceledException or ObjectDisposedException)
        {
            // Lost meanwhile.
        }

        Pump();
    }

    private void GoOn(OpenedRun opened, Batch refused)
    {
        List<Batch> ended = [];
        var isShort = false;
        lock (_gate)
        {
            if (_phase != Phase.Reopening) return;
            while (_queue.Oldest is { } batch && batch.Header!.Number <= opened.Decision.Batch.Number)
                ended.Add(CommitOldest());
            var why = new VolumeException(VolumeFault.OutOfSpace,
                "A store had no space for a write: this one and all behind it were given up.");
            foreach (var batch in _queue.TakeAll())
            {
                if (batch.Stage == BatchStage.Sent) Undo(batch);
                // An early answer must not be taken back: the volume is dead rather than short.
                isShort |= batch.Stage == BatchStage.Sent && batch.Requests.Any(static request => request.IsEarly);
                batch.End(Planted.Is("void-only-the-refused") && batch != refused ? null : why);
                ended.Add(batch);
            }

            isShort |= !IsAsOpened(opened);
            foreach (var link in _regions) link.Serve(opened.Regions[link.Region].Generation);
            (_run, _lastNumber, _lastLeader, _proof) = (opened.Run, opened.Decision.Batch.Number, null, null);
            _phase = Phase.Writing;
        }

        if (isShort)
            Lose(VolumeFault.LeaseLost, "Writes that were acknowledged in order have been given up by a full store.");
        foreach (var batch in ended) batch.Answer();
    }

    // Newest first.
    private void Undo(Batch batch)
    {
        foreach (var part in batch.Parts)
        {
            _tree.Undo(part.Region);
            _regions[part.Region].Void();
        }
    }

    // The tree is the same as the one that the regions have opened with.
    private bool IsAsOpened(OpenedRun opened)
    {
        for (var region = 0; region < _regions.Length; region++)
        {
            if (_tree.RootOf(region) != opened.Regions[region].Root) return false;
        }

        return _tree.Root == opened.Decision.VolumeRoot;
    }
}
