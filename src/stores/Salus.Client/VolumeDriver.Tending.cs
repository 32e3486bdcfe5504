namespace Salus;

/// <summary>Work by the clock: patience, stalls, notes on the log, the stable point.</summary>
internal sealed partial class VolumeDriver
{
    private static readonly TimeSpan s_tick = TimeSpan.FromMilliseconds(250);

    private readonly Accusations _accusations;
    private readonly PieceReader _reader;
    private readonly PageLoader _pages;

    // Guarded by _gate: the last time that a batch was committed or the oldest one was asked for.
    private long _lastProgress;

    // The tending loop's. Batch and region of the newest line about a stall: a wait of minutes is one line.
    private (long Batch, int Region) _toldStall = (-1, -1);

    // Guarded by _gate: a write was refused for want of space, so that a region is asked how much there is.
    private bool _isFull;

    // Guarded by _gate: all batches up to this one are in checkpoints on the log; the batches behind it.
    private long _stable;
    private long _stableLag;
    private readonly Queue<(long Number, long Bytes)> _behindStable = new();

    // A region with less is asked for its space.
    private const long FullSpace = RecordSpace + BatchLimits.MaxPayload;

    // Touched by the tending loop, and at the end: the newest batch and stable point that the log has a note of.
    private (long Batch, long Stable) _noted;
    private long _notedAt;

    private async Task TendAsync()
    {
        _notedAt = _ports.Time.GetTimestamp();
        while (true)
        {
            try
            {
                await Task.Delay(s_tick, _ports.Time, _stop.Token);
                OnState(_ports.Log.State);
                await EndIfLostAsync();
                GiveUp();
                await UnstickAsync();
                AskForSpace();
                TakeWanted();
                if (_ports.Time.GetElapsedTime(_notedAt) >= _options.NoteInterval)
                {
                    await NoteAsync();
                    await AskForCutsAsync();
                }

                Pump();
            }
            catch (Exception e) when (_stop.IsCancellationRequested
                && e is OperationCanceledException or ObjectDisposedException)
            {
                return;
            }
            catch (Exception e) when (e is CorfuException or OperationCanceledException)
            {
                // The log or a region is away: looked at again at the next tick.
            }
        }
    }

    // Requests that wait for longer than the patience fail. Their batches go on: the outcome is old or new content.
    private void GiveUp()
    {
        List<PlacedRequest> late = [];
        lock (_gate)
        {
            foreach (var batch in _queue.All)
            {
                if (batch.Stage == BatchStage.Copying) break;
                foreach (var request in batch.Requests.Where(IsLate).ToArray())
                {
                    late.Add(request);
                    // Data that is not copied yet is the caller's again.
                    if (batch.Stage == BatchStage.Open) _queue.Remove(batch, request);
                }
            }
        }

        foreach (var request in late) request.Fail(Unavailable());

        bool IsLate(PlacedRequest request) =>
            !request.Ended.IsCompleted && _ports.Time.GetElapsedTime(request.PlacedAt) > _options.Patience;
    }

    // The oldest batch makes no progress: its regions say what they have, what they lack is sent again, and the one
    // that holds it up is suspected.
    private async Task UnstickAsync()
    {
        Batch? oldest;
        long run;
        lock (_gate)
        {
            oldest = _queue.Oldest;
            run = _run;
            if (oldest is null || _phase != Phase.Writing)
            {
                _lastProgress = _ports.Time.GetTimestamp();
                return;
            }

            var since = Math.Max(_lastProgress, oldest.SentAt);
            if (_ports.Time.GetElapsedTime(since) < _options.StallTime) return;
            _lastProgress = _ports.Time.GetTimestamp();
        }

        var header = oldest.Header!;
        var lacking = header.Leader;
        foreach (var part in oldest.Parts)
        {
            if (await StatusAsync(part.Region, run, header.Number) is not { } status) lacking = part.Region;
            else if (status.Last.Number < header.Number)
            {
                lacking = part.Region;
                SendAgainAbove(part.Region, status.Last, long.MaxValue);
            }
            else if (status.Wait == RegionWait.Members)
            {
                lacking = part.Region;
            }
        }

        if (oldest.IsEnded) return;
        if (_toldStall != (header.Number, lacking))
        {
            _toldStall = (header.Number, lacking);
            SalusClientLog.Stall(_ports.Logger, Volume, header.Number, lacking);
        }

        var current = _ports.Log.State.Regions[lacking].Current;
        // A region that is being replaced is no news.
        if (current.IsAdmitted)
            _accusations.Accuse(lacking, current.Number, current.Members[0].Incarnation, SuspicionKind.Stall);
    }

    // Null: the primary does not answer.
    private async Task<RegionStatusResponse?> StatusAsync(int region, long run, long oldest)
    {
        var status = await CallPrimaryAsync(
            region, (generation, key) => new RegionStatusRequest(generation, key, run, oldest));
        if (status?.Commit is { } proof) await TakeProofAsync(proof);
        return status is { IsOk: true } ? status : null;
    }

    // Null: no answer.
    private async Task<TResponse?> CallPrimaryAsync<TResponse>(
        int region, Func<Epoch, RegionKey, Request<TResponse>> request)
        where TResponse : Response
    {
        var route = RegionRoute.Of(_ports.Log.State.Regions[region].Current, _ports.Log.Nodes);
        if (route.Members[0].Address is not { } primary) return null;
        using var impatience = new CancellationTokenSource(_options.ReadPatience, _ports.Time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(impatience.Token, _stop.Token);
        try
        {
            return await _ports.Transport.CallAsync(
                primary, request(route.Generation, new RegionKey(Volume, region)), either.Token);
        }
        catch (Exception e) when (e is TransportException or OperationCanceledException)
        {
            return null;
        }
    }

    // Only answers to batches tell how much space there is: an empty batch asks for it while writes are refused.
    private void AskForSpace()
    {
        lock (_gate)
        {
            if (!_isFull || _queue.Newest is not null || _phase != Phase.Writing) return;
            _isFull = false;
            ImmutableArray<int> full = [.. _regions.Where(static link => link.Free < FullSpace)
                .Select(static link => link.Region)];
            if (full.IsEmpty) return;
            _queue.Place(new Batch(isMarker: false, full));
        }

        Pump();
    }

    /// <summary>Tells the log how far the volume is: the proof that the next mount must not begin below (S20), and the
    /// stable point (S19).</summary>
    private async Task NoteAsync()
    {
        _notedAt = _ports.Time.GetTimestamp();
        CommitProof? proof;
        long run, stable;
        Hash128 root;
        lock (_gate)
        {
            (proof, run, root) = (_proof, _run, _committedRoot);
            if (proof is null || proof.Batch.Number != _committed) return;
            stable = MoveStable();
        }

        if (_noted == (proof.Batch.Number, stable)) return;
        if (await _ports.Log.NoteAsync(run, proof, root, stable, _stop.Token) is { } refusal)
            SalusClientLog.NoNote(_ports.Logger, Volume, refusal);
        else
            _noted = (proof.Batch.Number, stable);
    }

    // The regions that hold the stable point back while much has been written behind it.
    private Task AskForCutsAsync()
    {
        List<int> regions = [];
        lock (_gate)
        {
            if (_stableLag <= _options.StableLag) return Task.CompletedTask;
            var state = _ports.Log.State;
            foreach (var link in _regions)
            {
                if (link.StableUpTo(state.Regions[link.Region].Newest.Batch) == _stable) regions.Add(link.Region);
            }
        }

        return AskForCutsAsync(regions);
    }

    private async Task AskForCutsAsync(IEnumerable<int> regions)
    {
        foreach (var group in regions.Chunk(RunOpener.AtOnce))
            await Task.WhenAll(group.Select(region => CallPrimaryAsync(region, AskForCut)));

        Request<AckResponse> AskForCut(Epoch generation, RegionKey region) => new CutRequest(generation, region);
    }

    // Under the gate.
    private long MoveStable()
    {
        var state = _ports.Log.State;
        var stable = _committed;
        foreach (var link in _regions)
        {
            if (link.StableUpTo(state.Regions[link.Region].Newest.Batch) is { } upTo) stable = Math.Min(stable, upTo);
        }

        // The checkpoint of a marker stays until its snapshot is on the log (S22).
        foreach (var marker in _markers)
        {
            if (marker.Header is { } header) stable = Math.Min(stable, header.Number - 1);
        }

        _stable = Math.Max(_stable, stable);
        while (_behindStable.TryPeek(out var oldest) && oldest.Number <= _stable)
        {
            _behindStable.Dequeue();
            _stableLag -= oldest.Bytes;
        }

        return _stable;
    }
}
