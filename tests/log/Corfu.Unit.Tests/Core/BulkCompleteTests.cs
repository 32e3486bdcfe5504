using Corfu.Conformance;
using Corfu.Protocol;

namespace Corfu.Unit.Tests;

/// <summary>Many copies in one request: each is judged as if it had come alone, and the answer speaks for all of
/// them.</summary>
public class BulkCompleteTests
{
    private static readonly Epoch Two = new(2);

    private static CompleteManyRequest Many(params byte[][] entries) =>
        new(Two, [.. entries.Select(e => (ReadOnlyMemory<byte>)e)]);

    [Fact]
    public async Task Each_entry_has_a_separate_outcome()
    {
        var unit = await CoreHarness.OpenAsync(installed: 2, start: 100);
        unit.Complete(Entries.Data(1), 2);
        unit.Complete(Entries.Junk(2), 2);
        unit.Trim(3, 2);
        unit.TrimPrefix(1, 2);
        var response =
            unit.Ask(Many(Entries.Data(0), Entries.Data(1), Entries.Data(2), Entries.Data(3), Entries.Data(4),
                Entries.Data(4), [1, 2, 3], Entries.Data(5, 3), Entries.Junk(6)));
        Assert.Equal(Status.Ok, response.Status);
        Assert.Equal(
            [Status.Trimmed, Status.AlreadyWritten, Status.AlreadyWritten, Status.Trimmed, Status.Ok,
                Status.AlreadyWritten, Status.BadRequest, Status.BadRequest, Status.Ok],
            response.Outcomes.Select(o => o.Status));
        Assert.Equal([EntryKind.Data, EntryKind.Junk, EntryKind.Data],
            response.Outcomes.Where(o => o.Status == Status.AlreadyWritten).Select(o => o.Stored));
        Assert.Equal(PageState.Data, unit.Page(4, epoch: 2).State);
        Assert.Equal(PageState.Junk, unit.Page(6, epoch: 2).State);
        Assert.Equal(PageState.Unwritten, unit.Page(5, epoch: 2).State);
    }

    [Fact]
    public async Task R4_the_answer_waits_for_the_newest_record_that_any_outcome_reflects()
    {
        var unit = await CoreHarness.OpenAsync(installed: 2, start: 100);
        var bulk = unit.LsnOf(Many(Entries.Data(1), Entries.Data(2), Entries.Data(3)));
        Assert.Equal(bulk, unit.LsnOf(new ReadRequest(Two, Entries.Positions(3), ReadDetail.State)));
        var later = unit.LsnOf(new CompleteRequest(Two, Entries.Data(4)));
        Assert.True(later > bulk);
        Assert.Equal(later, unit.LsnOf(Many(Entries.Data(4), Entries.Data(1))));
        Assert.Equal(bulk, unit.LsnOf(Many(Entries.Data(3))));
    }

    [Fact]
    public async Task The_epoch_is_checked_once_for_all()
    {
        var unit = await CoreHarness.OpenAsync(installed: 2, start: 100);
        unit.Seal(3);
        var refused = unit.Ask(Many(Entries.Data(1)));
        Assert.Equal(Status.Sealed, refused.Status);
        Assert.Empty(refused.Outcomes);
        Assert.Equal(Status.NotInstalled, unit.Ask(new CompleteManyRequest(new Epoch(4), [Entries.Data(1)])).Status);
    }

    [Theory]
    [InlineData(0, Status.NoSpace, 0)]
    [InlineData(2, Status.Ok, 2)]
    public async Task Answer_without_room_ends_early(int room, Status status, int outcomes)
    {
        var store = new FaultyStore { Room = room };
        var core = await UnitCore.OpenAsync(store, new UnitCoreOptions { Cluster = Entries.Cluster });
        core.Handle(new InstallRequest(Entries.Projection(2, 100)));
        var response =
            Assert.IsType<CompleteManyResponse>(
                core.Handle(Many(Entries.Data(1), Entries.Data(2), Entries.Data(3))).Response);
        Assert.Equal(status, response.Status);
        Assert.Equal(outcomes, response.Outcomes.Length);
        Assert.All(response.Outcomes, o => Assert.Equal(Status.Ok, o.Status));
    }
}
