using Salus.Coordination.Rules;
using Salus.Coordination.Tests.Support;
using Tango;
using Tango.Formatting;
using Tango.Testing;
using static Salus.Coordination.Tests.Support.TestVolume;

namespace Salus.Coordination.Tests;

/// <summary>The volume as an object of a log that two processes play.</summary>
public sealed class SalusVolumeTests : IAsyncDisposable
{
    private readonly TangoTestHost _host = new();

    public ValueTask DisposeAsync() => _host.DisposeAsync();

    [Fact]
    public async Task Processes_agree_on_the_whole_life_of_a_volume()
    {
        var (one, two) = (await OpenAsync(), await OpenAsync());
        // Follows the object under the rules alone; signs for the members.
        var model = new TestVolume();
        Assert.Null(await RunAsync(one.CreateAsync(Id, model.State.Head.Geometry!)));
        Assert.Null(await RunAsync(two.PlaceAsync(0, new PlacedRegions([Members(0, 1), Members(10, 11)]))));
        var start = await RunAsync(one.BeginRunAsync(5, Driver));
        Assert.Equal(new RunStart(1, null), start);
        Assert.NotNull((await RunAsync(two.BeginRunAsync(4, Driver))).Refusal);
        model.Must(VolumeRules.BeginRun(model.State, 5, Driver));

        var batch = Reported(1, 1, 0, 1);
        var report = new RegionReport(1, null, null, [batch]);
        Assert.Null(await RunAsync(one.ReportAsync(0, 1, report, Report(model, 0, report))));
        model.Must(model.Report(0, report));
        Assert.NotNull(await RunAsync(two.ReportAsync(1, 1, report, Report(model, 0, report))));
        Assert.Null(await RunAsync(two.ReportAsync(1, 1, report, Report(model, 1, report))));
        model.Must(model.Report(1, report));
        Assert.Equal(batch.Name, (await RunAsync(one.StateAsync())).Head.Decision!.Batch);
        Assert.Null(await RunAsync(one.OpenedAsync(1, batch.VolumeRoot, [1, 1])));
        model.Must(model.Opened());

        Assert.Null(await RunAsync(two.ReplaceAsync(1, 1, Members(10, 15))));
        model.Must(model.Replace(1, 10, 15));
        var opening = new RegionOpening(7, Hash(7), 1, batch.Name, 2);
        Assert.Null(await RunAsync(two.RecoveredAsync(1, 2, opening, model.Sign(1,
            (key, generation) => Statement.Opening(key, generation, 7, Hash(7), batch.Name)))));
        model.Must(model.Recover(1, 7, batch.Name));
        Assert.Null(await RunAsync(one.AdmitAsync(1, 2, 1)));
        model.Must(RegionRules.Admit(model.State, 1, new Epoch(2), 1));
        Assert.Null(await RunAsync(two.FillAsync(1, 2, Name(15))));
        model.Must(RegionRules.Fill(model.State, 1, new Epoch(2), Name(15)));

        var proof = model.Proof(1, Batch(1, 9));
        Assert.Null(await RunAsync(one.RecordSnapshotAsync(1, "snap", Batch(1, 9), Root(9), proof)));
        model.Must(SnapshotRules.Record(model.State, 1, "snap", Batch(1, 9), Root(9), proof));
        var file = File(1, 1, 9);
        Assert.Null(await RunAsync(two.PublishAsync(0, 1, file,
            model.Sign(0, (key, generation) => Statement.Checkpoint(key, generation, file)))));
        model.Must(model.Publish(0, file));
        Assert.Null(await RunAsync(one.NoteAsync(1, proof, Root(9), 1)));
        model.Must(VolumeRules.Note(model.State, 1, proof, Root(9), 1));
        var suspicion = new Suspicion(1, new Epoch(2), Name(15), SuspicionKind.WrongAnswer, 1);
        Assert.Null(await RunAsync(two.SuspectAsync(suspicion)));
        model.Must(VolumeRules.Suspect(model.State, suspicion));
        Assert.NotNull(await RunAsync(one.AcceptLossAsync(1, Batch(1, 1), Root(1), "me", 1)));
        await AgreeAsync(model, one, two);

        Assert.Null(await RunAsync(two.DeleteSnapshotAsync("snap")));
        model.Must(SnapshotRules.Delete(model.State, "snap"));
        // A process that begins later plays the same.
        await AgreeAsync(model, one, two, await OpenAsync());
    }

    [Fact]
    public async Task Replacements_of_one_generation_are_recorded_once()
    {
        var (one, two) = (await OpenAsync(), await OpenAsync());
        var model = new TestVolume();
        Assert.Null(await RunAsync(one.CreateAsync(Id, model.State.Head.Geometry!)));
        Assert.Null(await RunAsync(one.PlaceAsync(0, new PlacedRegions([Members(0, 1), Members(10, 11)]))));
        var first = one.ReplaceAsync(0, 1, Members(0, 5)).AsTask();
        var second = two.ReplaceAsync(0, 1, Members(1, 6)).AsTask();
        await _host.Time.AdvanceUntilAsync(Task.WhenAll(first, second));
        Assert.Single([await first, await second], static refusal => refusal is null);
        var state = await RunAsync(one.WaitForStateAsync(2));
        Assert.Equal(new Epoch(2), state.Regions[0].Current.Number);
        Assert.True((await RunAsync(two.StateAsync())).Revision == state.Revision);
    }

    [Fact]
    public async Task Volume_has_a_name_that_is_taken_once()
    {
        var (one, two) = (await DirectoryAsync(), await DirectoryAsync());
        var geometry = VolumeGeometry.Create(1 << 20);
        Assert.Null(await RunAsync(one.AddAsync("disk", Id, geometry)));
        Assert.Contains("another name", await RunAsync(two.AddAsync("disk", Id, geometry)), StringComparison.Ordinal);
        Assert.NotNull(await RunAsync(two.AddAsync("", Id, geometry)));
        var entry = (await RunAsync(two.FindAsync("disk")))!;
        Assert.Equal(new VolumeEntry(Id, geometry, VolumeStage.Creating), entry);
        Assert.True(await RunAsync(two.TryChangeAsync("disk", entry, VolumeStage.Ready)));
        Assert.False(await RunAsync(one.TryChangeAsync("disk", entry, VolumeStage.Deleting)));
        Assert.Equal(VolumeStage.Ready, Assert.Single(await RunAsync(one.ListAsync())).Value.Stage);
        Assert.True(await RunAsync(one.RemoveAsync("disk")));
        Assert.Null(await RunAsync(two.FindAsync("disk")));
    }

    private static Certificate Report(TestVolume model, int region, RegionReport report) =>
        model.Sign(region, (key, generation) => Statement.Report(key, generation, report.Digest));

    private async Task AgreeAsync(TestVolume model, params SalusVolume[] volumes)
    {
        foreach (var volume in volumes)
        {
            var state = await RunAsync(volume.StateAsync());
            Assert.Equal(Bytes(model.State.Head), Bytes(state.Head));
            Assert.Equal(model.State.Regions.Keys, state.Regions.Keys);
            foreach (var region in state.Regions.Keys) Assert.Equal(Bytes(model[region]), Bytes(state.Regions[region]));
        }
    }

    private static byte[] Bytes<T>(T value) => TangoFormatters.ToBytes(value).ToArray();

    private Task<SalusVolume> OpenAsync() =>
        RunAsync(_host.Start().Runtime.OpenAsync<SalusVolume>(SalusVolume.NameOf(Id), OpenMode.Create));

    private Task<VolumeDirectory> DirectoryAsync() => RunAsync(VolumeDirectory.OpenAsync(_host.Start().Runtime));

    private async Task<T> RunAsync<T>(ValueTask<T> call)
    {
        var task = call.AsTask();
        await _host.Time.AdvanceUntilAsync(task);
        return await task;
    }
}
