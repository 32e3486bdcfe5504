using Corfu.Conformance;
using Corfu.Protocol;

namespace Corfu.Unit.Tests;

/// <summary>Sealing and installing (TOCS 2.5, R13, R14), and which epochs a unit serves.</summary>
public sealed class EpochTests
{
    /// <summary>A wrong number must not seal a unit for ever: it could only be thrown away (R2).</summary>
    [Fact]
    public async Task Install_far_above_the_known_epochs_is_refused()
    {
        var unit = await CoreHarness.OpenAsync();
        Assert.Equal(Status.BadRequest, unit.Install(2 + MessageLimits.EpochReach));
        Assert.Equal(Status.BadRequest, unit.Install(long.MaxValue));
        Assert.Equal(Status.Ok, unit.Write(0).Status);
        Assert.Equal(Status.Ok, unit.Install(1 + MessageLimits.EpochReach));
    }

    [Fact]
    public async Task New_unit_serves_no_request_before_the_first_install()
    {
        var unit = await CoreHarness.OpenAsync(installed: 0);
        Assert.Equal(Status.NotInstalled, unit.Write(0).Status);
        Assert.Equal(Status.NotInstalled, unit.Confirm(1));
        Assert.Equal(Status.Sealed, unit.Confirm(0));
        Assert.Equal(Status.Ok, unit.Install(1));
        Assert.Equal(Status.Ok, unit.Write(0).Status);
    }

    [Fact]
    public async Task A_seal_refuses_all_verbs_of_lower_epochs()
    {
        var unit = await CoreHarness.OpenAsync();
        unit.Write(0);
        Assert.Equal(Status.Ok, unit.Seal(2).Status);
        Assert.Equal(Status.Sealed, unit.Write(1).Status);
        Assert.Equal(Status.Sealed, unit.Fill(1).Status);
        Assert.Equal(Status.Sealed, unit.Complete(Entries.Data(1)).Status);
        Assert.Equal(Status.Sealed, unit.Trim(0));
        Assert.Equal(Status.Sealed, unit.TrimPrefix(1));
        Assert.Equal(Status.Sealed, unit.Confirm(1));
        Assert.Equal(Status.Sealed, unit.Read(ReadDetail.Full, 1, 0).Status);
        Assert.Equal(Status.Sealed, unit.Ask(new StreamTailsRequest(new Epoch(1), [])).Status);
        Assert.Equal(new Epoch(2), unit.Write(1).Epoch);
    }

    [Fact]
    public async Task Sealed_unit_waits_for_the_install_of_the_epoch()
    {
        var unit = await CoreHarness.OpenAsync();
        unit.Seal(2);
        Assert.Equal(Status.NotInstalled, unit.Write(1, 2).Status);
        Assert.Equal(Status.NotInstalled, unit.Confirm(2));
        Assert.Equal(Status.Ok, unit.Install(2));
        Assert.Equal(Status.Ok, unit.Write(1, 2).Status);
        Assert.Equal(Status.Ok, unit.Confirm(2));
    }

    [Fact]
    public async Task R14_every_answer_of_an_epoch_waits_for_the_install()
    {
        var unit = await CoreHarness.OpenAsync();
        unit.Write(0);
        unit.LsnOf(new SealRequest(new Epoch(2)));
        var install = unit.LsnOf(new InstallRequest(Entries.Projection(2, 1)));
        Assert.Equal(install, unit.LsnOf(new ReadRequest(new Epoch(2), Entries.Positions(0), ReadDetail.State)));
        Assert.Equal(install, unit.LsnOf(new StreamTailsRequest(new Epoch(2), [])));
        Assert.Equal(install, unit.LsnOf(new ConfirmEpochRequest(new Epoch(2))));
        Assert.True(unit.LsnOf(new WriteRequest(new Epoch(2), Entries.Data(1, 2, "payload", 0, []))) > install);
    }

    // A trim makes lists complete that damaged headers below it had made incomplete.
    [Fact]
    public async Task R4_stream_tails_wait_for_the_trims_underneath()
    {
        var unit = await CoreHarness.OpenAsync();
        unit.Write(20);
        var trim = unit.LsnOf(new TrimPrefixRequest(new Epoch(1), new LogPosition(6)));
        Assert.Equal(trim, unit.LsnOf(new StreamTailsRequest(new Epoch(1), [])));
    }

    [Fact]
    public async Task Sealing_again_answers_the_same_and_a_lower_seal_is_refused()
    {
        var unit = await CoreHarness.OpenAsync();
        unit.Write(41);
        unit.Seal(2);
        var first = unit.Seal(3);
        Assert.Equal(first, unit.Seal(3));
        Assert.Equal(42, first.End.Offset);
        Assert.Equal(Status.Sealed, unit.Seal(2).Status);
        Assert.Equal(new Epoch(3), unit.Seal(2).Epoch);
    }

    [Fact]
    public async Task Install_is_idempotent_skips_epochs_and_never_goes_back()
    {
        var unit = await CoreHarness.OpenAsync();
        Assert.Equal(Status.Ok, unit.Install(1));
        Assert.Equal(Status.Ok, unit.Install(7, 100));
        Assert.Equal(Status.Ok, unit.Install(7, 100));
        Assert.Equal(Status.Sealed, unit.Install(6));
        Assert.Equal(Status.Sealed, unit.Confirm(6));
        Assert.Equal(Status.NotInstalled, unit.Confirm(8));
        Assert.Equal(Status.Ok, unit.Confirm(7));
    }

    [Fact]
    public async Task Install_below_a_seal_is_refused()
    {
        var unit = await CoreHarness.OpenAsync();
        unit.Seal(2);
        unit.Seal(3);
        Assert.Equal(Status.Sealed, unit.Install(2));
        Assert.Equal(Status.Ok, unit.Install(3));
    }

    /// <summary>R13: one wrong number must not seal a unit beyond every epoch that will be decided.</summary>
    [Theory]
    [InlineData(3)]
    [InlineData(1_000_000)]
    [InlineData(long.MaxValue)]
    public async Task R13_a_unit_seals_one_epoch_at_a_time(long epoch)
    {
        var unit = await CoreHarness.OpenAsync();
        Assert.Equal(Status.NotInstalled, unit.Seal(epoch).Status);
        Assert.Equal(Status.Ok, unit.Write(0).Status);
        Assert.Equal(Status.Ok, unit.Seal(2).Status);
    }

    /// <summary>R14: after a million epochs away it installs the current one, and is sealed for the next.</summary>
    [Fact]
    public async Task R14_a_unit_that_was_away_is_sealed_after_an_install()
    {
        var unit = await CoreHarness.OpenAsync();
        Assert.Equal(Status.NotInstalled, unit.Seal(1_000_001).Status);
        Assert.Equal(Status.Ok, unit.Install(1_000_000));
        Assert.Equal(Status.Ok, unit.Seal(1_000_001).Status);
    }

    /// <summary>R2: a spare must be sealed as well before it joins, and stays one if it does not.</summary>
    [Fact]
    public async Task R2_a_projection_that_does_not_name_the_unit_moves_the_seal_alone()
    {
        var unit = await CoreHarness.OpenAsync(installed: 0,
            options: new UnitCoreOptions { Id = new NodeId(Guid.AllBitsSet), Cluster = Entries.Cluster });
        Assert.Equal(Status.NotInstalled, unit.Seal(8).Status);
        Assert.Equal(Status.Ok, unit.Install(7));
        var info = unit.Ask(new UnitInfoRequest(Epoch.None));
        Assert.Equal((Epoch.None, new Epoch(7)), (info.Installed, info.SealedBelow));
        Assert.Equal(Status.NotInstalled, unit.Confirm(7));
        Assert.Equal(Status.Ok, unit.Seal(8).Status);
    }

    [Fact]
    public async Task Another_clusters_projection_is_refused()
    {
        var mine = new ClusterId(new Guid("cccccccc-0000-0000-0000-00000000000f"));
        var unit = await CoreHarness.OpenAsync(installed: 0, options: new UnitCoreOptions { Cluster = mine });
        Assert.Equal(Status.BadRequest, unit.Install(1));
        Assert.Equal(Status.Ok, unit.Ask(new InstallRequest(Entries.Projection(1, cluster: mine))).Status);

        var nobodys = await CoreHarness.OpenAsync(installed: 0, options: new UnitCoreOptions());
        Assert.Equal(Status.BadRequest, nobodys.Install(1));
    }

    [Fact]
    public async Task End_counts_data_junk_and_trims_and_never_falls()
    {
        var unit = await CoreHarness.OpenAsync();
        Assert.Equal(0, unit.Seal(1).End.Offset);
        unit.Write(3);
        Assert.Equal(4, unit.Seal(1).End.Offset);
        unit.Fill(7);
        Assert.Equal(8, unit.Seal(1).End.Offset);
        unit.Trim(11);
        Assert.Equal(12, unit.Seal(1).End.Offset);
        unit.TrimPrefix(20);
        Assert.Equal(20, unit.Seal(1).End.Offset);
        unit.Write(15);
        Assert.Equal(20, unit.Seal(1).End.Offset);
    }

    [Fact]
    public async Task Info_is_answered_at_any_epoch()
    {
        var unit = await CoreHarness.OpenAsync();
        unit.Write(3);
        unit.Seal(2);
        var info = unit.Ask(new UnitInfoRequest(Epoch.None));
        Assert.Equal(Status.Ok, info.Status);
        Assert.Equal(new Epoch(2), info.SealedBelow);
        Assert.Equal(new Epoch(1), info.Installed);
        Assert.Equal(4, info.End.Offset);
        Assert.Equal(1, info.Pages);
    }

    [Fact]
    public async Task Requests_of_other_roles_are_unsupported()
    {
        var unit = await CoreHarness.OpenAsync();
        Assert.Equal(Status.Unsupported, unit.Core.Handle(new SequencerInfoRequest(new Epoch(1))).Response!.Status);
    }
}
