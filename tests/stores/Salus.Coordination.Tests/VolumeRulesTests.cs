using Salus.Coordination.Rules;
using Salus.Coordination.Tests.Support;
using static Salus.Coordination.Tests.Support.TestVolume;

namespace Salus.Coordination.Tests;

public sealed class VolumeRulesTests
{
    private TestVolume _volume = new();

    [Fact]
    public void Run_is_begun_by_the_newest_holder_of_the_lock()
    {
        Assert.NotNull(VolumeRules.BeginRun(VolumeState.Empty, 1, Driver).Refusal);
        _volume.MustNot(VolumeRules.BeginRun(_volume.State, 1, default), "incarnation");
        _volume.Must(VolumeRules.BeginRun(_volume.State, 5, Driver));
        _volume.MustNot(VolumeRules.BeginRun(_volume.State, 4, Driver), "taken over");
        _volume.MustNot(VolumeRules.BeginRun(_volume.State, 5, Name(9)), "taken over");
        _volume.Must(VolumeRules.BeginRun(_volume.State, 5, Driver));
        Assert.Equal((2L, RunPhase.Fencing), (_volume.State.Head.Run, _volume.State.Head.Phase));
    }

    [Fact]
    public void Report_is_one_of_the_run_and_the_generation()
    {
        _volume.Begin();
        _volume.MustNot(_volume.Report(0, new RegionReport(7, null, null, [])), "at run 1");
        var report = new RegionReport(1, null, null, []);
        _volume.MustNot(VolumeRules.Report(_volume.State, 0, new Epoch(2), report,
            _volume.Sign(0, (key, generation) => Statement.Report(key, generation, report.Digest))), "at generation 1");
        _volume.MustNot(VolumeRules.Report(_volume.State, 0, Epoch.First, report,
            _volume.Sign(1, (key, generation) => Statement.Report(key, generation, report.Digest))), "certificate");
        var forged = _volume.Proof(0, Batch(1, 3)) with { Batch = Batch(1, 4) };
        _volume.MustNot(_volume.Report(0, forged), "proof");
        _volume.Must(_volume.Report(0));
        Assert.Same(_volume.State, _volume.Report(0).State);
        _volume.MustNot(_volume.Report(0, _volume.Proof(0, Batch(1, 3))), "otherwise");
        Assert.Equal(RunPhase.Fencing, _volume.State.Head.Phase);
    }

    [Fact]
    public void Last_report_decides_for_everyone()
    {
        _volume.Begin();
        _volume.Must(_volume.Report(0, _volume.Proof(0, Batch(1, 1)), Reported(1, 1, 0), Reported(1, 2, 0, 1)));
        _volume.Must(_volume.Report(1, null, null, Reported(1, 2, 0, 1), Reported(1, 3, 0, 1)));
        var decision = _volume.State.Head.Decision!;
        Assert.Equal((RunPhase.Decided, Batch(1, 2), Root(2)),
            (_volume.State.Head.Phase, decision.Batch, decision.VolumeRoot));
        Assert.Equal([Batch(1, 2), Batch(1, 2)], decision.Lasts.Select(last => last!.Value));
        _volume.MustNot(_volume.Report(0), "Decided");
    }

    /// <summary>S12: the replaced region's log may show less, and its report counts no more.</summary>
    [Fact]
    public void Replacement_drops_the_report()
    {
        _volume.Begin();
        _volume.Must(_volume.Report(0));
        _volume.Must(_volume.Replace(0, 0, 5));
        _volume.Must(_volume.Report(1));
        Assert.Equal(RunPhase.Fencing, _volume.State.Head.Phase);
        _volume.MustNot(_volume.Report(0), "not recovered");
        _volume.Must(_volume.Recover(0, 7));
        _volume.Must(_volume.Report(0));
        Assert.Equal(RunPhase.Decided, _volume.State.Head.Phase);
    }

    [Fact]
    public void Opening_needs_the_root_and_the_generations_that_were_compared()
    {
        _volume.Begin();
        _volume.MustNot(VolumeRules.Opened(_volume.State, 1, default, [1, 1]), "Fencing");
        _volume.Must(_volume.Report(0, null, null, Reported(1, 1, 0)));
        _volume.Must(_volume.Report(1));
        _volume.MustNot(_volume.Opened(Root(9)), "roots");
        _volume.MustNot(VolumeRules.Opened(_volume.State, 1, Root(1), [1]), "all regions");
        _volume.MustNot(VolumeRules.Opened(_volume.State, 2, Root(1), [1, 1]), "at run 1");
        _volume.Must(_volume.Replace(1, 10, 15));
        _volume.MustNot(VolumeRules.Opened(_volume.State, 1, Root(1), [1, 1]), "another generation");
        _volume.MustNot(_volume.Opened(), "another generation");
        _volume.Must(_volume.Recover(1, 7));
        _volume.Must(_volume.Opened());
        Assert.True(_volume[1].Current.IsAdmitted);
        Assert.Equal(Batch(1, 1), _volume.State.Head.Bar!.Batch);
        Assert.Same(_volume.State, _volume.Opened().State);
    }

    [Fact]
    public void Note_is_proven_and_never_falls()
    {
        _volume.Begin();
        _volume.MustNot(_volume.Note(1, 0), "Fencing");
        _volume = Opened();
        _volume.Must(_volume.Note(10, 5));
        _volume.MustNot(_volume.Note(9, 5), "newer");
        _volume.MustNot(_volume.Note(11, 4), "newer");
        _volume.MustNot(_volume.Note(11, 12), "above the batch");
        var forged = _volume.Proof(0, Batch(1, 11)) with { Leader = 1 };
        _volume.MustNot(VolumeRules.Note(_volume.State, 1, forged, Root(11), 5), "not proven");
        _volume.MustNot(VolumeRules.Note(
            _volume.State, 1, _volume.Proof(0, Batch(2, 11)), Root(11), 5), "not proven");
        _volume.MustNot(VolumeRules.Note(
            _volume.State, 2, _volume.Proof(0, Batch(2, 11)), Root(11), 5), "at run 1");
    }

    /// <summary>S20: 12 is proven by the note, and the regions show 10.</summary>
    [Fact]
    public void Run_waits_for_a_region_below_a_proof()
    {
        Wait();
        var shortfall = _volume.State.Head.Shortfall!;
        Assert.Equal((12L, 10L), (shortfall.Proven.Number, shortfall.Shown));
        Assert.Equal([1], shortfall.Regions);
        // The region comes back with what it lacked.
        _volume.Must(_volume.Replace(1, 10, 15));
        Assert.Equal(RunPhase.Fencing, _volume.State.Head.Phase);
        _volume.Must(_volume.Recover(1, 7, Batch(1, 11)));
        _volume.Must(_volume.Report(1, null, null, Reported(1, 11, 0, 1)));
        Assert.Equal(Batch(1, 12), _volume.State.Head.Decision!.Batch);
    }

    /// <summary>S21: the operator's record lowers the prefix, everywhere and for ever.</summary>
    [Fact]
    public void Loss_is_the_operators_record()
    {
        _volume.Begin();
        _volume.MustNot(VolumeRules.AcceptLoss(_volume.State, 1, Batch(1, 0), default, "me", 1), "Fencing");
        Wait();
        _volume.MustNot(Lose(Batch(1, 11), Root(11)), "up to 10 alone");
        _volume.MustNot(Lose(Batch(1, 4), Root(4)), "stable point");
        _volume.MustNot(Lose(Batch(1, 10), Root(9)), "another name or root");
        _volume.MustNot(Lose(Batch(2, 10), Root(10)), "another name or root");
        _volume.MustNot(Lose(Batch(1, 10), Root(10), ""), "name");
        _volume.Must(_volume.Publish(0, File(9, 1, 11)));
        _volume.Must(Lose(Batch(1, 10), Root(10)));
        var head = _volume.State.Head;
        Assert.Equal((RunPhase.Decided, Batch(1, 10)), (head.Phase, head.Decision!.Batch));
        Assert.Equal(new VolumeLoss(2, Batch(1, 10), Batch(1, 12), "me", 1), Assert.Single(head.Losses));
        Assert.Empty(_volume[0].Checkpoints);
        // S21: its certificate may come late.
        _volume.MustNot(_volume.Publish(0, File(9, 1, 11)), "given up");
        Assert.Null(head.Shortfall);
        // A batch that was given up proves nothing to the next run.
        _volume.Begin();
        _volume.Must(_volume.Report(0, _volume.Proof(0, Batch(1, 12)), Reported(1, 12, 0)));
        _volume.Must(_volume.Report(1));
        Assert.Equal(Batch(1, 10), _volume.State.Head.Decision!.Batch);

        VolumeRuling Lose(BatchName kept, Hash128 root, string by = "me") =>
            VolumeRules.AcceptLoss(_volume.State, _volume.State.Head.Run, kept, root, by, 1);
    }

    /// <summary>S21: no report tells of the loss; the driver has compared the roots. The operator's record alone lowers
    /// the prefix.</summary>
    [Fact]
    public void Loss_shown_by_roots_is_the_operators_record_too()
    {
        _volume = Opened();
        _volume.Must(_volume.Note(12, 5));
        var prefix = new ShownBatch(Batch(1, 10), Root(10));
        _volume.MustNot(Lack(prefix), "Opened");
        _volume.Begin();
        foreach (var region in _volume.State.Regions.Keys) _volume.Must(_volume.Report(region));
        Assert.Equal(Batch(1, 12), _volume.State.Head.Decision!.Batch);
        _volume.MustNot(Lose(prefix), "Decided");
        _volume.MustNot(Lack(new ShownBatch(Batch(1, 12), Root(12))), "show batch 12");
        _volume.MustNot(Lack(new ShownBatch(Batch(1, 4), Root(4))), "stable point");
        _volume.MustNot(Lack(prefix, regions: [2]), "are named");
        _volume.MustNot(VolumeRules.Lack(_volume.State, 1, [1], prefix, [1, 1]), "another writer");
        _volume.MustNot(VolumeRules.Lack(_volume.State, 2, [1], prefix, [1, 2]), "another generation");
        _volume.Must(Lack(prefix));
        var waiting = _volume.State;
        Assert.Equal((RunPhase.Waiting, 12L, 10L), (
            waiting.Head.Phase, waiting.Head.Shortfall!.Proven.Number, waiting.Head.Shortfall.Shown));
        _volume.MustNot(Lose(new ShownBatch(Batch(1, 9), Root(9))), "behind 10 alone");
        _volume.MustNot(Lose(prefix with { VolumeRoot = Root(11) }), "behind 10 alone");
        _volume.MustNot(_volume.Opened(Root(10)), "Waiting");
        // A second writer finds out by itself: what the first one has found is over.
        _volume.Begin();
        _volume.MustNot(VolumeRules.AcceptLoss(_volume.State, 2, prefix.Batch, prefix.VolumeRoot, "me", 1), "at run 3");
        Assert.Null(_volume.State.Head.Shortfall);

        _volume.State = waiting;
        _volume.Must(_volume.Publish(0, File(9, 1, 11)));
        _volume.Must(Lose(prefix));
        Assert.Equal((RunPhase.Decided, prefix.Batch), (
            _volume.State.Head.Phase, _volume.State.Head.Decision!.Batch));
        Assert.Equal(new VolumeLoss(2, Batch(1, 10), Batch(1, 12), "me", 1), Assert.Single(_volume.State.Head.Losses));
        Assert.Empty(_volume[0].Checkpoints);
        // The tail comes back with an old copy: it counts for nothing.
        _volume.Begin();
        _volume.Must(_volume.Report(0, _volume.Proof(0, Batch(1, 12)), Reported(1, 12, 0, 1)));
        _volume.Must(_volume.Report(1, null, null, Reported(1, 11, 1), Reported(1, 12, 0, 1)));
        Assert.Equal((Batch(1, 10), Root(10)), (
            _volume.State.Head.Decision!.Batch, _volume.State.Head.Decision.VolumeRoot));

        VolumeRuling Lack(ShownBatch shown, params ImmutableArray<int> regions) => VolumeRules.Lack(
            _volume.State, _volume.State.Head.Run, regions.IsDefaultOrEmpty ? [1] : regions, shown, [1, 1]);

        VolumeRuling Lose(ShownBatch kept) => VolumeRules.AcceptLoss(
            _volume.State, _volume.State.Head.Run, kept.Batch, kept.VolumeRoot, "me", 1);
    }

    /// <summary>Stores come back while the run waits: the regions report again.</summary>
    [Fact]
    public void Region_that_is_replaced_ends_the_wait()
    {
        _volume = Opened();
        _volume.Must(_volume.Note(12, 5));
        _volume.Begin();
        foreach (var region in _volume.State.Regions.Keys) _volume.Must(_volume.Report(region));
        _volume.Must(VolumeRules.Lack(
            _volume.State, 2, [1], new ShownBatch(Batch(1, 10), Root(10)), [1, 1]));
        _volume.Must(_volume.Replace(1, 10, 15));
        Assert.Equal(RunPhase.Fencing, _volume.State.Head.Phase);
        _volume.MustNot(VolumeRules.AcceptLoss(_volume.State, 2, Batch(1, 10), Root(10), "me", 1), "Fencing");
    }

    /// <summary>The new generation has no report: accepting the loss stopped the object for good, at every
    /// process.</summary>
    [Fact]
    public void Loss_is_accepted_where_a_region_was_replaced_behind_the_decision()
    {
        _volume = Opened();
        _volume.Must(_volume.Note(12, 5));
        _volume.Begin();
        foreach (var region in _volume.State.Regions.Keys) _volume.Must(_volume.Report(region));
        _volume.Must(_volume.Replace(1, 10, 15));
        _volume.Must(_volume.Recover(1, 7, Batch(1, 10), run: 1));
        _volume.Must(VolumeRules.Lack(
            _volume.State, 2, [1], new ShownBatch(Batch(1, 10), Root(10)), [1, 2]));
        _volume.Must(VolumeRules.AcceptLoss(_volume.State, 2, Batch(1, 10), Root(10), "me", 1));
        // The region looks into its log for its last batch.
        Assert.Null(_volume.State.Head.Decision!.Lasts[1]);
    }

    [Fact]
    public void Suspicions_are_of_members_and_bounded()
    {
        var stall = new Suspicion(0, Epoch.First, Name(1), SuspicionKind.Stall, 0);
        _volume.MustNot(VolumeRules.Suspect(_volume.State, stall with { Member = Name(99) }), "no member");
        _volume.MustNot(VolumeRules.Suspect(_volume.State, stall with { Region = 9 }), "no region");
        _volume.MustNot(
            VolumeRules.Suspect(_volume.State, stall with { Generation = new Epoch(2) }), "at generation 1");
        for (var i = 0; i <= CoordinationLimits.MaxSuspicions; i++)
            _volume.Must(VolumeRules.Suspect(_volume.State, stall with { UnixMilliseconds = i }));
        Assert.Equal(CoordinationLimits.MaxSuspicions, _volume.State.Head.Suspicions.Length);
        Assert.Equal(1, _volume.State.Head.Suspicions[0].UnixMilliseconds);
    }

    private static TestVolume Opened()
    {
        var volume = new TestVolume();
        volume.Open();
        return volume;
    }

    // Batch 11 is of both regions, and region 1 has lost it.
    private void Wait()
    {
        _volume = Opened();
        _volume.Must(_volume.Note(12, 5));
        _volume.Begin();
        _volume.Must(_volume.Report(0, _volume.Proof(0, Batch(1, 9)), Reported(1, 9, 0),
            Reported(1, 10, 0), Reported(1, 11, 0, 1), Reported(1, 12, 0)));
        _volume.Must(_volume.Report(1));
        Assert.Equal(RunPhase.Waiting, _volume.State.Head.Phase);
    }
}
