using Microsoft.Extensions.Logging;

namespace Salus.Runs;

/// <summary>Begins a run: the regions report, the log decides, the regions open, and their roots are compared with the
/// root of the decided batch (phases 3 and 4 of a recovery).</summary>
internal sealed class RunOpener(
    VolumePorts ports, SalusClientOptions options, MemberAsker asker, Accusations accusations)
{
    // Regions that are asked at once.
    public const int AtOnce = 32;

    private static readonly TimeSpan s_pause = TimeSpan.FromMilliseconds(200);

    // Between two looks at a region that has not opened yet: members answer late, and not at once.
    private static readonly TimeSpan s_lookPause = TimeSpan.FromMilliseconds(100);

    // A region that is recovered again needs stores that come back meanwhile.
    private static readonly TimeSpan s_recoveryPause = TimeSpan.FromSeconds(2);

    private readonly IVolumeLog _log = ports.Log;
    private readonly TimeProvider _time = ports.Time;

    /// <exception cref="VolumeException">Another writer has taken over; or regions lack something that is proven, or do
    /// not answer, for longer than the patience.</exception>
    public async Task<OpenedRun> OpenAsync(long token, Incarnation driver, CancellationToken cancellationToken)
    {
        var begun = _time.GetTimestamp();
        await PlacedAsync(begun, cancellationToken);
        while (true)
        {
            var start = await _log.BeginRunAsync(token, driver, cancellationToken);
            if (start.Refusal is { } refusal) throw new VolumeException(VolumeFault.LeaseLost, refusal + ".");
            if (await TryOpenAsync(start.Run, begun, cancellationToken) is { } opened) return opened;
        }
    }

    // Null: the regions have opened at a decision that they cannot show. Another run begins, with what has come back
    // since, or behind what an operator has given up.
    private async Task<OpenedRun?> TryOpenAsync(long run, long begun, CancellationToken cancellationToken)
    {
        var decision = await DecidedAsync(run, begun, cancellationToken);
        while (true)
        {
            var regions = await ForRegionsAsync(decision.Lasts.Length,
                region => StatusAsync(region, run, decision, begun, cancellationToken));
            if (RootOf(regions) != decision.VolumeRoot)
                regions = await WithoutLiarsAsync(run, decision, regions, cancellationToken);
            if (RootOf(regions) == decision.VolumeRoot || Planted.Is("others-stay-ahead"))
            {
                var why = await _log.OpenedAsync(run, decision.VolumeRoot, GenerationsOf(regions), cancellationToken);
                if (why is null) return new OpenedRun(run, decision, regions);
                // A region was replaced meanwhile: it has been compared with nothing.
                ThrowIfOver(await _log.RefreshAsync(cancellationToken), run);
            }
            else
            {
                SalusClientLog.RootsDiffer(ports.Logger, _log.Volume, decision.Batch.Number);
                // Half of the patience is for stores that are there and do not answer.
                var mayRead = _time.GetElapsedTime(begun) <= options.Patience / 2;
                if (!(mayRead && await RecoverAgainAsync(cancellationToken))
                    && await TryLackAsync(run, decision, regions, cancellationToken))
                {
                    await EndOfWaitAsync(run, begun, cancellationToken);
                    return null;
                }

                await Task.Delay(s_recoveryPause, _time, cancellationToken);
            }

            if (_time.GetElapsedTime(begun) > options.Patience)
            {
                throw new VolumeException(VolumeFault.Unverifiable, "The roots of the regions do not make the root of "
                    + $"batch {decision.Batch.Number}: bring back the stores that are away, or see 'corfu volume "
                    + "check'.");
            }
        }
    }

    /// <summary>By region; regions with nothing to ask are asked in groups.</summary>
    public static async Task<ImmutableArray<T>> ForRegionsAsync<T>(int regions, Func<int, Task<T>> ask)
    {
        var all = ImmutableArray.CreateBuilder<T>(regions);
        for (var first = 0; first < regions; first += AtOnce)
        {
            all.AddRange(await Task.WhenAll(
                Enumerable.Range(first, Math.Min(AtOnce, regions - first)).Select(ask)));
        }

        return all.MoveToImmutable();
    }

    private async Task PlacedAsync(long begun, CancellationToken cancellationToken)
    {
        while (!(await _log.RefreshAsync(cancellationToken)).IsPlaced)
        {
            if (_time.GetElapsedTime(begun) > options.Patience)
            {
                throw new VolumeException(VolumeFault.Unavailable,
                    "The volume's regions have no members yet: start as many nodes as the volume has copies.");
            }

            await Task.Delay(s_pause, _time, cancellationToken);
        }
    }

    private async Task<RunDecision> DecidedAsync(long run, long begun, CancellationToken cancellationToken)
    {
        var state = _log.State;
        using var impatience = new CancellationTokenSource(Timeout.InfiniteTimeSpan, _time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(impatience.Token, cancellationToken);
        var left = options.Patience - _time.GetElapsedTime(begun);
        impatience.CancelAfter(left > TimeSpan.Zero ? left : TimeSpan.Zero);
        var accused = _time.GetTimestamp();
        try
        {
            while (true)
            {
                if (state.Head.Run > run) ThrowIfOver(state, run);
                if (state.Head.Run == run && state.Head.Phase is RunPhase.Decided or RunPhase.Opened)
                    return state.Head.Decision!;
                if (_time.GetElapsedTime(accused) >= options.StallTime)
                {
                    AccuseSilent(state);
                    accused = _time.GetTimestamp();
                }

                state = await NextAsync(state, either.Token);
            }
        }
        catch (OperationCanceledException) when (impatience.IsCancellationRequested
            && !cancellationToken.IsCancellationRequested)
        {
            throw new VolumeException(VolumeFault.Unavailable, Waiting(_log.State));
        }
    }

    // The next state, or the same one when the stall time is over.
    private async Task<VolumeState> NextAsync(VolumeState state, CancellationToken cancellationToken)
    {
        using var stall = new CancellationTokenSource(options.StallTime, _time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(stall.Token, cancellationToken);
        try
        {
            return await _log.WaitAsync(state.Revision, either.Token);
        }
        catch (OperationCanceledException) when (stall.IsCancellationRequested
            && !cancellationToken.IsCancellationRequested)
        {
            return state;
        }
    }

    // A mute member holds up the report of its region, and no batch is there whose stall would show it.
    private void AccuseSilent(VolumeState state)
    {
        if (state.Head.Phase != RunPhase.Fencing) return;
        foreach (var (number, region) in state.Regions)
        {
            if (region.Report is null) Accuse(number, region.Current);
        }
    }

    // A region that is being recovered takes its time.
    private void Accuse(int region, RegionGeneration current)
    {
        if (current.Opening is not null)
            accusations.Accuse(region, current.Number, current.Members[0].Incarnation, SuspicionKind.Stall);
    }

    private static string Waiting(VolumeState state)
    {
        if (state.Head.Shortfall is { } shortfall)
        {
            return $"Region {string.Join(shortfall.Prefix is null ? ", " : " or ", shortfall.Regions)} lacks batches: "
                + $"{shortfall.Proven.Number} is proven "
                + $"committed, {shortfall.Shown} is there. Bring back the stores that are away; 'corfu volume recover "
                + "--accept-loss' gives the tail up.";
        }

        var silent = state.Regions.Where(static region => region.Value.Report is null)
            .Select(static region => region.Key);
        return $"Region {string.Join(", ", silent.Take(8))} does not report: see 'corfu volume status' for the stores "
            + "that it needs.";
    }

    // Waits until each region has opened.
    private async Task<RegionBeginning> StatusAsync(
        int region, long run, RunDecision decision, long begun, CancellationToken cancellationToken)
    {
        var accused = _time.GetTimestamp();
        while (true)
        {
            var question = new StatusQuestion(
                _log.State.Key(region), run, 0, status => Fits(status, decision, region));
            var end = await asker.AskOnceAsync(question, cancellationToken);
            if (end.Response is { } status) return new RegionBeginning(status.Last, status.Root, end.Generation);
            if (_time.GetElapsedTime(begun) > options.Patience)
            {
                throw new VolumeException(VolumeFault.Unavailable, $"Region {region} does not open run {run}: see "
                    + "'corfu volume status' for the stores that it needs.");
            }

            if (question.IsLacking)
            {
                await ReplaceAsync(await _log.RefreshAsync(cancellationToken), region, cancellationToken);
                await Task.Delay(s_recoveryPause, _time, cancellationToken);
            }

            await Task.Delay(s_lookPause, _time, cancellationToken);
            var state = await _log.RefreshAsync(cancellationToken);
            ThrowIfOver(state, run);
            if (_time.GetElapsedTime(accused) < options.StallTime) continue;
            Accuse(region, state.Regions[region].Current);
            accused = _time.GetTimestamp();
        }
    }

    // The decision names the last batches of regions whose logs have them. One that rolls back, or that has all its
    // batches in a checkpoint, finds its own.
    private static bool Fits(RegionStatusResponse status, RunDecision decision, int region) =>
        Planted.Is("others-stay-ahead") || (status.Last.Number <= decision.Batch.Number
            && (decision.Lasts[region] is not { IsNone: false } last || last == status.Last));

    private static Hash128 RootOf(ImmutableArray<RegionBeginning> regions)
    {
        var top = new VolumeTop(regions.Length);
        for (var region = 0; region < regions.Length; region++) top.Set(region, regions[region].Root);
        return top.Root;
    }

    // A member may tell a wrong root: the others of its region are asked, and each answer is tried in its place.
    private async Task<ImmutableArray<RegionBeginning>> WithoutLiarsAsync(long run, RunDecision decision,
        ImmutableArray<RegionBeginning> regions, CancellationToken cancellationToken)
    {
        for (var region = 0; region < regions.Length; region++)
        {
            var told = regions[region];
            var end = await asker.AskOnceAsync(new StatusQuestion(_log.State.Key(region), run, 0,
                status => Fits(status, decision, region) && status.Root != told.Root), cancellationToken);
            if (end.Response is not { } other) continue;
            var tried = regions.SetItem(region, new RegionBeginning(other.Last, other.Root, end.Generation));
            if (RootOf(tried) == decision.VolumeRoot) return tried;
        }

        return regions;
    }

    private static ImmutableArray<long> GenerationsOf(ImmutableArray<RegionBeginning> regions) =>
        [.. regions.Select(static region => region.Generation.Value)];

    // Records that the regions lack something of which no report tells (S21). False: no member tells a history, or a
    // region has changed since.
    private async Task<bool> TryLackAsync(long run, RunDecision decision, ImmutableArray<RegionBeginning> regions,
        CancellationToken cancellationToken)
    {
        var state = await _log.RefreshAsync(cancellationToken);
        ThrowIfOver(state, run);
        var ends = await ForRegionsAsync(regions.Length, region => asker.AskOnceAsync(new HistoryQuestion(
            state.Key(region), run, regions[region], state.Regions[region].Checkpoints), cancellationToken));
        if (ends.Any(static end => end.Response is null)) return false;
        var (shown, lacking) = ShownPrefix.Of([.. ends.Select(static end => end.Response!)],
            [.. state.Regions.Values.Select(static region => region.Checkpoints)], state.Head.Stable, decision.Batch);
        if (shown is not { } prefix) return false;
        // An admitted generation has been compared by the writer before, and has been there since.
        var suspects = lacking.RemoveAll(region => state.Regions[region].Current.IsAdmitted);
        var why = await _log.LackAsync(run, suspects.IsEmpty ? lacking : suspects, prefix,
            [.. ends.Select(static end => end.Generation.Value)], cancellationToken);
        if (why is not null) return false;
        SalusClientLog.Short(ports.Logger, _log.Volume, decision.Batch.Number, prefix.Batch.Number);
        return true;
    }

    // Ends when stores have come back, or an operator has given up the tail.
    private async Task EndOfWaitAsync(long run, long begun, CancellationToken cancellationToken)
    {
        var state = await _log.RefreshAsync(cancellationToken);
        var there = StoresOf(state);
        while (state.Head.Run == run && state.Head.Phase == RunPhase.Waiting && StoresOf(state) <= there)
        {
            if (_time.GetElapsedTime(begun) > options.Patience)
                throw new VolumeException(VolumeFault.Unavailable, Waiting(state));
            state = await NextAsync(state, cancellationToken);
        }

        ThrowIfOver(state, run);
        if (state.Head.Phase == RunPhase.Waiting) await RecoverAgainAsync(cancellationToken);
    }

    // Regions that were read from few stores, while others are there.
    private async Task<bool> RecoverAgainAsync(CancellationToken cancellationToken)
    {
        var state = await _log.RefreshAsync(cancellationToken);
        var again = state.Regions.Keys.Where(region => UnreadOf(state, region) > 0).ToList();
        foreach (var region in again) await ReplaceAsync(state, region, cancellationToken);
        return again.Count > 0;
    }

    private int StoresOf(VolumeState state) => state.Regions.Keys.Sum(region => UnreadOf(state, region));

    // Stores of the generation before that are there now and were not read. A region that was admitted since has been
    // compared.
    private int UnreadOf(VolumeState state, int region)
    {
        var known = state.Regions[region];
        if (known.Current is not { Opening: { } opening, IsAdmitted: false }) return 0;
        var there = known.Anchor.Members.Count(
            member => _log.Nodes.Find(member.Store) is { State: BookedState.Live });
        return Math.Max(0, there - opening.StoresRead);
    }

    private async Task ReplaceAsync(VolumeState state, int region, CancellationToken cancellationToken)
    {
        var current = state.Regions[region].Current;
        if (current.Opening is not null)
            await _log.ReplaceAsync(region, current.Number.Value, current.Members, cancellationToken);
    }

    private static void ThrowIfOver(VolumeState state, long run)
    {
        if (state.Head.Run != run)
            throw new VolumeException(VolumeFault.LeaseLost, "Another process has taken the volume over.");
    }
}
