using Microsoft.Extensions.Logging;

namespace Salus.Runs;

/// <summary>Begins a run: the regions report, the log decides, the regions open, and their roots are compared with the
/// root of the decided batch (phases 3 and 4 of a recovery).</summary>
internal sealed class RunOpener(
    IVolumeLog log, MemberAsker asker, TimeProvider time, ILogger logger, TimeSpan patience)
{
    // Regions that are asked at once.
    public const int AtOnce = 32;

    private static readonly TimeSpan s_pause = TimeSpan.FromMilliseconds(200);

    // Between two looks at a region that has not opened yet: members answer late, and not at once.
    private static readonly TimeSpan s_lookPause = TimeSpan.FromMilliseconds(100);

    // A region that is recovered again needs stores that come back meanwhile.
    private static readonly TimeSpan s_recoveryPause = TimeSpan.FromSeconds(2);

    /// <exception cref="VolumeException">Another writer has taken over; or regions lack something that is proven, or do
    /// not answer, for longer than the patience.</exception>
    public async Task<OpenedRun> OpenAsync(long token, Incarnation driver, CancellationToken cancellationToken)
    {
        var begun = time.GetTimestamp();
        await PlacedAsync(begun, cancellationToken);
        var start = await log.BeginRunAsync(token, driver, cancellationToken);
        if (start.Refusal is { } refusal) throw new VolumeException(VolumeFault.LeaseLost, refusal + ".");
        var decision = await DecidedAsync(start.Run, begun, cancellationToken);
        while (true)
        {
            var regions = await ForRegionsAsync(decision.Lasts.Length,
                region => StatusAsync(region, start.Run, decision, begun, cancellationToken));
            if (RootOf(regions) != decision.VolumeRoot)
                regions = await WithoutLiarsAsync(start.Run, decision, regions, cancellationToken);
            if (RootOf(regions) == decision.VolumeRoot || Planted.Is("others-stay-ahead"))
            {
                var why = await log.OpenedAsync(start.Run, decision.VolumeRoot,
                    [.. regions.Select(static region => region.Generation.Value)], cancellationToken);
                if (why is null) return new OpenedRun(start.Run, decision, regions);
                // A region was replaced meanwhile: it has been compared with nothing.
                ThrowIfOver(await log.RefreshAsync(cancellationToken), start.Run);
            }
            else
            {
                SalusClientLog.RootsDiffer(logger, log.Volume, decision.Batch.Number);
                await RecoverAgainAsync(log.State.Regions.Keys, cancellationToken);
                await Task.Delay(s_recoveryPause, time, cancellationToken);
            }

            if (time.GetElapsedTime(begun) > patience)
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
        while (!(await log.RefreshAsync(cancellationToken)).IsPlaced)
        {
            if (time.GetElapsedTime(begun) > patience)
            {
                throw new VolumeException(VolumeFault.Unavailable,
                    "The volume's regions have no members yet: start as many nodes as the volume has copies.");
            }

            await Task.Delay(s_pause, time, cancellationToken);
        }
    }

    private async Task<RunDecision> DecidedAsync(long run, long begun, CancellationToken cancellationToken)
    {
        var state = log.State;
        using var impatience = new CancellationTokenSource(Timeout.InfiniteTimeSpan, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(impatience.Token, cancellationToken);
        var left = patience - time.GetElapsedTime(begun);
        impatience.CancelAfter(left > TimeSpan.Zero ? left : TimeSpan.Zero);
        try
        {
            while (true)
            {
                if (state.Head.Run > run) ThrowIfOver(state, run);
                if (state.Head.Run == run && state.Head.Phase is RunPhase.Decided or RunPhase.Opened)
                    return state.Head.Decision!;
                state = await log.WaitAsync(state.Revision, either.Token);
            }
        }
        catch (OperationCanceledException) when (impatience.IsCancellationRequested
            && !cancellationToken.IsCancellationRequested)
        {
            throw new VolumeException(VolumeFault.Unavailable, Waiting(log.State));
        }
    }

    private static string Waiting(VolumeState state)
    {
        if (state.Head.Shortfall is { } shortfall)
        {
            return $"Region {string.Join(", ", shortfall.Regions)} lacks batches: {shortfall.Proven.Number} is proven "
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
        while (true)
        {
            var question = new StatusQuestion(
                log.State.Key(region), run, 0, status => Fits(status, decision, region));
            var end = await asker.AskOnceAsync(question, cancellationToken);
            if (end.Response is { } status) return new RegionBeginning(status.Last, status.Root, end.Generation);
            if (time.GetElapsedTime(begun) > patience)
            {
                throw new VolumeException(VolumeFault.Unavailable, $"Region {region} does not open run {run}: see "
                    + "'corfu volume status' for the stores that it needs.");
            }

            if (question.IsLacking)
            {
                await RecoverAgainAsync([region], cancellationToken);
                await Task.Delay(s_recoveryPause, time, cancellationToken);
            }

            await Task.Delay(s_lookPause, time, cancellationToken);
            ThrowIfOver(await log.RefreshAsync(cancellationToken), run);
        }
    }

    // The decision names the last batches of regions whose logs have them. One that rolls back, or that has all its
    // batches in a checkpoint, finds its own.
    private static bool Fits(RegionStatusResponse status, RunDecision decision, int region) =>
        (status.Last.Number <= decision.Batch.Number || Planted.Is("others-stay-ahead"))
        && (decision.Lasts[region] is not { IsNone: false } last || last == status.Last);

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
            var end = await asker.AskOnceAsync(new StatusQuestion(log.State.Key(region), run, 0,
                status => Fits(status, decision, region) && status.Root != told.Root), cancellationToken);
            if (end.Response is not { } other) continue;
            var tried = regions.SetItem(region, new RegionBeginning(other.Last, other.Root, end.Generation));
            if (RootOf(tried) == decision.VolumeRoot) return tried;
        }

        return regions;
    }

    // Regions that were read from few stores: other stores may have come back since.
    private async Task RecoverAgainAsync(IEnumerable<int> regions, CancellationToken cancellationToken)
    {
        var state = await log.RefreshAsync(cancellationToken);
        foreach (var region in regions)
        {
            var current = state.Regions[region].Current;
            if (current.Opening is not { } opening || opening.StoresRead >= state.Head.Geometry!.Copies) continue;
            await log.ReplaceAsync(region, current.Number.Value, current.Members, cancellationToken);
        }
    }

    private static void ThrowIfOver(VolumeState state, long run)
    {
        if (state.Head.Run != run)
            throw new VolumeException(VolumeFault.LeaseLost, "Another process has taken the volume over.");
    }
}
