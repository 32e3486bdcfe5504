namespace Salus.Coordination.Rules;

/// <summary>Runs, and what proves how far they got. Pure: every replica decides alike.</summary>
internal static class VolumeRules
{
    /// <summary>A writer takes over, or begins again after a refusal.</summary>
    /// <param name="token">The lock's: a writer with a lower token than the newest has lost the lock.</param>
    public static VolumeRuling BeginRun(VolumeState state, long token, Incarnation driver)
    {
        var head = state.Head;
        if (!state.IsPlaced) return Verdict.Refuse(state, "the volume is still being made: wait, or make it anew");
        if (driver.IsNone) return Verdict.Refuse(state, "a driver has an incarnation");
        if (token < head.Token || (token == head.Token && driver != head.Driver))
            return Verdict.Refuse(state, "another writer has taken over since: take the lock again");
        var regions = state.Regions.ToImmutableSortedDictionary(
            static region => region.Key, static region => region.Value with { Report = null });
        return Verdict.Head(state with { Regions = regions }, head with
        {
            Run = head.Run + 1,
            Token = token,
            Driver = driver,
            Phase = RunPhase.Fencing,
            Shortfall = null,
        });
    }

    /// <summary>A region's word to the run; with the last one, the run is decided for everyone.</summary>
    public static VolumeRuling Report(
        VolumeState state, int region, Epoch generation, RegionReport report, Certificate certificate)
    {
        if (!Verdict.Find(state, region, generation, out var known, out var refusal)) return refusal;
        // A repetition, which may come behind the decision.
        if (report.Run == state.Head.Run && known.Report is { } there && there.Equals(report))
            return Verdict.Same(state);
        if (Verdict.FaultOf(state, report.Run, RunPhase.Fencing) is { } fault)
            return Verdict.Refuse(state, fault);
        if (known.Current.Opening is null)
            return Verdict.Refuse(state, $"generation {generation.Value} of region {region} is not recovered yet");
        if (known.Report is not null)
        {
            return Verdict.Refuse(state,
                $"region {region} has reported otherwise: a fenced region does not change");
        }

        if (!certificate.Proves(
            Statement.Report(state.Key(region), generation, report.Digest), known.Current.Set))
            return Verdict.Refuse(state, "the certificate is not one of the generation's members over this report");
        if (report.Committed is { } proof && !state.Proves(proof))
        {
            // Below the stable point its generation may be forgotten, and the note proves more.
            if (proof.Batch.Number > state.Head.Stable)
                return Verdict.Refuse(state, "the report's proof is not one of its leader's members");
        }

        var reported = Verdict.Set(state, region, known with { Report = report }).State;
        return reported.Regions.Values.All(static other => other.Report is not null)
            ? new(Decide(reported), null)
            : new(reported, null);
    }

    /// <summary>All regions have opened at the decision, and their roots make its root.</summary>
    /// <param name="generations">By region: those that the driver has compared. All of them are admitted.</param>
    public static VolumeRuling Opened(VolumeState state, long run, Hash128 root, ImmutableArray<long> generations)
    {
        if (state.Head.Run == run && state.Head.Phase == RunPhase.Opened) return Verdict.Same(state);
        if (Verdict.FaultOf(state, run, RunPhase.Decided) is { } fault) return Verdict.Refuse(state, fault);
        if (root != state.Head.Decision!.VolumeRoot)
        {
            return Verdict.Refuse(state, "the regions' roots do not make the root of the decided batch: recover "
                + "those again that were read from few stores");
        }

        if (FaultOf(state, generations) is { } otherwise) return Verdict.Refuse(state, otherwise);
        var regions = state.Regions.ToBuilder();
        foreach (var (region, known) in state.Regions)
        {
            if (!known.Current.IsAdmitted)
                regions[region] = known with { Current = known.Current with { IsAdmitted = true } };
        }

        return Verdict.Head(state with { Regions = regions.ToImmutable() },
            state.Head with { Phase = RunPhase.Opened, Bar = state.Head.Decision });
    }

    /// <summary>All regions have opened at the decision, and their roots do not make its root: they lack batches of
    /// which no report tells. The run waits for stores, or for an operator (S21).</summary>
    /// <param name="regions">Regions that may lack something.</param>
    /// <param name="prefix">The last batch whose root the regions' roots make.</param>
    /// <param name="generations">By region: those that the driver has compared.</param>
    public static VolumeRuling Lack(VolumeState state, long run, ImmutableArray<int> regions, ShownBatch prefix,
        ImmutableArray<long> generations)
    {
        if (Verdict.FaultOf(state, run, RunPhase.Decided) is { } fault) return Verdict.Refuse(state, fault);
        var decided = state.Head.Decision!.Batch;
        if (prefix.Batch.Number >= decided.Number)
            return Verdict.Refuse(state, $"the regions show batch {decided.Number}, at which the run begins");
        if (prefix.Batch.Number < state.Head.Stable || state.Head.Bar?.Voids(prefix.Batch) == true)
            return Verdict.Refuse(state, $"no region can return below the stable point, {state.Head.Stable}");
        if (regions.IsDefaultOrEmpty || regions.Any(region => !state.Regions.ContainsKey(region)))
            return Verdict.Refuse(state, "the regions that lack something are named");
        if (FaultOf(state, generations) is { } otherwise) return Verdict.Refuse(state, otherwise);
        var shortfall = new RunShortfall(regions, decided, prefix.Batch.Number) { Prefix = prefix };
        return Verdict.Head(state, state.Head with { Phase = RunPhase.Waiting, Shortfall = shortfall });
    }

    /// <summary>The driver tells how far it is: proof for the next mount, and the stable point.</summary>
    public static VolumeRuling Note(VolumeState state, long run, CommitProof proof, Hash128 root, long stable)
    {
        if (Verdict.FaultOf(state, run, RunPhase.Opened) is { } fault) return Verdict.Refuse(state, fault);
        if (proof.Batch.Run != run || !state.Proves(proof))
            return Verdict.Refuse(state, "the batch is not proven committed in this run");
        if (stable > proof.Batch.Number) return Verdict.Refuse(state, "the stable point is above the batch");
        var before = state.Head.Note;
        if (before is not null && (proof.Batch.Number < before.Batch.Number || stable < before.Stable))
            return Verdict.Refuse(state, "a newer note is there");
        var next = Verdict.Head(state, state.Head with { Note = new DriverNote(proof.Batch, root, stable) }).State;
        return new(stable > state.Head.Stable ? Retention.Trim(next) : next, null);
    }

    /// <summary>An operator gives up what the regions cannot show (S21).</summary>
    /// <param name="kept">The batch that stays; its root is one that the regions reproduce.</param>
    public static VolumeRuling AcceptLoss(
        VolumeState state, long run, BatchName kept, Hash128 root, string by, long unixMilliseconds)
    {
        if (Verdict.FaultOf(state, run, RunPhase.Waiting) is { } fault) return Verdict.Refuse(state, fault);
        var shortfall = state.Head.Shortfall!;
        if (!CoordinationLimits.IsName(by))
            return Verdict.Refuse(state, $"an operator's name has 1 to {CoordinationLimits.MaxName} bytes");
        if (kept.Number > shortfall.Shown)
            return Verdict.Refuse(state, $"the regions show the batches up to {shortfall.Shown} alone");
        if (kept.Number < state.Head.Stable || state.Head.Bar?.Voids(kept) == true)
        {
            return Verdict.Refuse(state,
                $"no region can return below the stable point, {state.Head.Stable}");
        }

        if (shortfall.Prefix is { } prefix && prefix != new ShownBatch(kept, root))
            return Verdict.Refuse(state, $"the regions' roots make the volume's root behind {shortfall.Shown} alone");
        var there = kept.IsNone || shortfall.Prefix is not null
            ? (kept, kept.IsNone ? default : root)
            : CommittablePrefix.Find(ReportsOf(state), kept.Number, state.Head.Bar) is { } listed
                ? (listed.Name, listed.VolumeRoot)
                : (kept, root);
        if (there != (kept, root))
            return Verdict.Refuse(state, $"the regions know batch {kept.Number} under another name or root");
        if (state.Head.Losses.Length >= CoordinationLimits.MaxLosses)
            return Verdict.Refuse(state, "the volume has lost too often: copy it to a new volume");
        var decision = new RunDecision(run, kept, root, LastsOf(state, kept));
        var regions = state.Regions.ToBuilder();
        foreach (var (region, known) in state.Regions)
        {
            // All regions return to one batch, those that have more as well.
            var left = known.Checkpoints.RemoveAll(checkpoint => checkpoint.Batch > kept.Number);
            if (left.Length < known.Checkpoints.Length) regions[region] = known with { Checkpoints = left };
        }

        return Verdict.Head(state with { Regions = regions.ToImmutable() }, state.Head with
        {
            Phase = RunPhase.Decided,
            Shortfall = null,
            Decision = decision,
            Bar = decision,
            Note = new DriverNote(kept, root, state.Head.Stable),
            Snapshots = state.Head.Snapshots.RemoveAll(snapshot => snapshot.Marker.Number > kept.Number),
            Losses = state.Head.Losses.Add(new VolumeLoss(run, kept, shortfall.Proven, by, unixMilliseconds)),
        });
    }

    /// <summary>An accusation, which the agent acts upon.</summary>
    public static VolumeRuling Suspect(VolumeState state, Suspicion suspicion)
    {
        if (!Verdict.Find(state, suspicion.Region, suspicion.Generation, out var known, out var refusal))
            return refusal;
        if (known.Current.Find(suspicion.Member) is null)
            return Verdict.Refuse(state, $"{suspicion.Member} is no member");
        // A recovery takes its time: what waits for it accuses no member, or the next one would begin from the start.
        if (known.Current.Opening is null)
            return Verdict.Refuse(state, $"region {suspicion.Region} is being recovered: wait for it");
        var all = state.Head.Suspicions.Add(suspicion);
        if (all.Length > CoordinationLimits.MaxSuspicions) all = all.RemoveAt(0);
        return Verdict.Head(state, state.Head with { Suspicions = all });
    }

    // A generation that was replaced meanwhile has been compared with nothing (S11).
    private static string? FaultOf(VolumeState state, ImmutableArray<long> generations)
    {
        if (generations.IsDefault || generations.Length != state.Regions.Count)
            return "the generations of all regions are named";
        foreach (var (region, known) in state.Regions)
        {
            if (known.Current.Number.Value != generations[region] || known.Current.Opening is null)
                return $"region {region} has another generation since: compare it again";
        }

        return null;
    }

    private static VolumeState Decide(VolumeState state)
    {
        var prefix = CommittablePrefix.Of(ReportsOf(state), EvidenceOf(state), state.Head.Bar);
        var head = prefix.Shortfall is { } shortfall
            ? state.Head with { Phase = RunPhase.Waiting, Shortfall = shortfall }
            : state.Head with
            {
                Phase = RunPhase.Decided,
                Decision = new RunDecision(
                    state.Head.Run, prefix.Batch, prefix.Root, LastsOf(state, prefix.Batch)),
            };
        return state with { Head = head };
    }

    private static ImmutableArray<RegionReport> ReportsOf(VolumeState state) =>
        [.. state.Regions.Values.Select(static region => region.Report!)];

    // Everything on Tango that proves how far the volume was committed (S20); the reports have the rest.
    private static IEnumerable<Evidence> EvidenceOf(VolumeState state)
    {
        if (state.Head.Note is { } note) yield return new Evidence(note.Batch, note.VolumeRoot, null);
        if (state.Head.Decision is { } decision) yield return new Evidence(decision.Batch, decision.VolumeRoot, null);
        foreach (var (region, known) in state.Regions)
        {
            var newest = known.Newest;
            if (newest.Batch > 0)
                yield return new Evidence(new BatchName(newest.Run, newest.Batch, default), null, region);
        }
    }

    private static ImmutableArray<BatchName?> LastsOf(VolumeState state, BatchName batch)
    {
        var lasts = ImmutableArray.CreateBuilder<BatchName?>(state.Regions.Count);
        foreach (var known in state.Regions.Values)
        {
            // A generation that has replaced another one behind the decision has none.
            if (known.Report is not { } report)
            {
                lasts.Add(null);
                continue;
            }

            var last = report.Last?.Name ?? default;
            foreach (var above in report.Above)
            {
                if (above.Name.Number <= batch.Number && state.Head.Bar?.Voids(above.Name) != true) last = above.Name;
            }

            // A region that has more than stays, or whose last batch is void, looks for its last one in its log.
            lasts.Add(last.Number <= batch.Number && state.Head.Bar?.Voids(last) != true ? last : null);
        }

        return lasts.MoveToImmutable();
    }
}
