namespace Salus.Coordination.Rules;

/// <summary>When the regions of a volume change. Pure: every replica decides alike.</summary>
internal static class RegionRules
{
    public static VolumeRuling Create(VolumeState state, VolumeId id, VolumeGeometry geometry)
    {
        if (state.Head.Geometry is { } known)
        {
            return state.Head.Id == id && known == geometry
                ? Verdict.Same(state)
                : Verdict.Refuse(state, "the volume has been made otherwise: take another name");
        }

        return Verdict.Head(state, state.Head with { Id = id, Geometry = geometry });
    }

    /// <summary>The first members of regions that follow each other.</summary>
    public static VolumeRuling Place(VolumeState state, int first, ImmutableArray<ImmutableArray<RegionMember>> members)
    {
        if (state.Head.Geometry is not { } geometry) return Verdict.Refuse(state, "the volume is not made yet");
        if (members.IsDefaultOrEmpty || members.Length > CoordinationLimits.MaxPlaced)
            return Verdict.Refuse(state, $"one record places 1 to {CoordinationLimits.MaxPlaced} regions");
        if (first != state.Regions.Count || first + members.Length > geometry.Regions)
        {
            return Verdict.Refuse(state,
                $"{state.Regions.Count} of {geometry.Regions} regions are placed: go on there");
        }

        var regions = state.Regions.ToBuilder();
        for (var i = 0; i < members.Length; i++)
        {
            if (FaultOf(members[i], geometry) is { } fault)
                return Verdict.Refuse(state, $"region {first + i}: {fault}");
            var opening = new RegionOpening(0, default, 0, default, geometry.Copies);
            regions.Add(first + i, new RegionState(new RegionGeneration(Epoch.First,
                [.. members[i].Select(static member => member with { IsFilled = true })], opening, IsAdmitted: true),
                [], [], null));
        }

        return new(state with { Revision = state.Revision + 1, Regions = regions.ToImmutable() }, null);
    }

    /// <summary>Begins the next generation. Whether the one before has ended is for the new members to find
    /// out (S8).</summary>
    /// <param name="generation">The one that the proposer has seen.</param>
    public static VolumeRuling Replace(
        VolumeState state, int region, Epoch generation, ImmutableArray<RegionMember> members)
    {
        if (!Verdict.Find(state, region, generation, out var known, out var refusal)) return refusal;
        if (FaultOf(members, state.Head.Geometry!) is { } fault) return Verdict.Refuse(state, fault);
        var past = Retention.Needed(known.Past.Add(known.Current), state.Head.Stable);
        if (past.Length >= CoordinationLimits.MaxGenerations)
        {
            return Verdict.Refuse(state, $"region {region} has {past.Length} generations above the stable point, the "
                + "most: mount the volume, so that the stable point moves on");
        }

        var next = new RegionGeneration(known.Current.Number.Next, [.. members.Select(member => member with
        {
            IsFilled = known.Current.Find(member.Incarnation)?.IsFilled ?? false,
        })], null, IsAdmitted: false);
        // The report was the old generation's: the new one knows what the log shows, and reports that.
        var head = state.Head.Phase == RunPhase.Waiting
            ? state.Head with { Phase = RunPhase.Fencing, Shortfall = null }
            : state.Head;
        return Verdict.Set(state with { Head = head }, region,
            known with { Current = next, Past = past, Report = null });
    }

    /// <summary>The new generation has ended the old one, has its log and has opened.</summary>
    public static VolumeRuling Recovered(
        VolumeState state, int region, Epoch generation, RegionOpening opening, Certificate certificate)
    {
        // Behind a newer Replace the generation has been given up: what it has read may be less than what counts (S6).
        if (!Verdict.Find(state, region, generation, out var known, out var refusal)) return refusal;
        if (known.Current.Opening is { } there)
        {
            return there == opening
                ? Verdict.Same(state)
                : Verdict.Refuse(state, $"generation {generation.Value} of region {region} has opened elsewhere");
        }

        var statement = Statement.Opening(
            state.Key(region), generation, opening.Index, opening.Chain, opening.Last);
        if (!certificate.Proves(statement, known.Current.Set))
            return Verdict.Refuse(state, "the certificate is not one of the generation's members over this opening");
        if (opening.Index <= known.Newest.Index || opening.Last.Number < known.Newest.Batch)
        {
            return Verdict.Refuse(state, $"the opening is below checkpoint {known.Newest.Number} of the region: begin "
                + "from that checkpoint");
        }

        if (opening.Run > state.Head.Run)
            return Verdict.Refuse(state, $"the volume is at run {state.Head.Run}, not at {opening.Run}");
        if (opening.StoresRead is < 0 or > CoordinationLimits.MaxStores)
            return Verdict.Refuse(state, $"a recovery reads 0 to {CoordinationLimits.MaxStores} stores");
        return Verdict.Set(state, region, known with { Current = known.Current with { Opening = opening } });
    }

    /// <summary>The driver has compared the region with its own history (S11).</summary>
    public static VolumeRuling Admit(VolumeState state, int region, Epoch generation, long run)
    {
        if (!Verdict.Find(state, region, generation, out var known, out var refusal)) return refusal;
        if (Verdict.FaultOf(state, run, RunPhase.Opened) is { } fault) return Verdict.Refuse(state, fault);
        if (known.Current.Opening is null)
        {
            return Verdict.Refuse(state,
                $"generation {generation.Value} of region {region} is not recovered yet: wait for it");
        }

        return known.Current.IsAdmitted
            ? Verdict.Same(state)
            : Verdict.Set(state, region, known with { Current = known.Current with { IsAdmitted = true } });
    }

    /// <summary>A member's store has all files of the region.</summary>
    public static VolumeRuling Fill(VolumeState state, int region, Epoch generation, Incarnation member)
    {
        if (!Verdict.Find(state, region, generation, out var known, out var refusal)) return refusal;
        if (known.Current.Find(member) is not { } there) return Verdict.Refuse(state, $"{member} is no member");
        if (there.IsFilled) return Verdict.Same(state);
        var members = known.Current.Members.Replace(there, there with { IsFilled = true });
        return Verdict.Set(state, region, known with { Current = known.Current with { Members = members } });
    }

    /// <summary>A checkpoint that all members have durably: the region's floor from here on (S10).</summary>
    public static VolumeRuling Publish(
        VolumeState state, int region, Epoch generation, CheckpointName checkpoint, Certificate certificate)
    {
        if (!Verdict.Find(state, region, generation, out var known, out var refusal)) return refusal;
        if (!known.Current.IsAdmitted)
        {
            return Verdict.Refuse(state,
                $"generation {generation.Value} of region {region} is not admitted: it cuts nothing");
        }

        if (known.Checkpoints.Contains(checkpoint)) return Verdict.Same(state);
        if (!certificate.Proves(Statement.Checkpoint(state.Key(region), generation, checkpoint), known.Current.Set))
            return Verdict.Refuse(state, "the certificate is not one of the generation's members over this checkpoint");
        // A certificate may come behind the record of a loss, which has removed such checkpoints (S21).
        if (state.Head.Bar?.Voids(new BatchName(checkpoint.Run, checkpoint.Batch, default)) == true)
            return Verdict.Refuse(state, $"batch {checkpoint.Batch} of run {checkpoint.Run} has been given up");
        var newest = known.Newest;
        if (checkpoint.Number <= newest.Number || checkpoint.Index <= newest.Index || checkpoint.Batch < newest.Batch)
            return Verdict.Refuse(state, $"checkpoint {newest.Number} of region {region} is newer");
        var kept = Retention.Kept(known.Checkpoints.Add(checkpoint), state.Head);
        if (kept.Length > CoordinationLimits.MaxCheckpoints)
        {
            return Verdict.Refuse(state, $"region {region} keeps {CoordinationLimits.MaxCheckpoints} checkpoints, the "
                + "most: delete snapshots, or cut the regions that hold the stable point back");
        }

        return SnapshotRules.Complete(Verdict.Set(state, region, known with { Checkpoints = kept }).State);
    }

    private static string? FaultOf(ImmutableArray<RegionMember> members, VolumeGeometry geometry)
    {
        if (members.IsDefault || members.Length != geometry.Copies)
            return $"a region of this volume has {geometry.Copies} members";
        if (members.Any(static member => member.Incarnation.IsNone || member.Store.Value == Guid.Empty))
            return "a member has a store and an incarnation";
        return members.DistinctBy(static member => member.Incarnation).Count() == members.Length
            && members.DistinctBy(static member => member.Store).Count() == members.Length
                ? null
                : "the members of a region differ in their processes and stores";
    }
}
