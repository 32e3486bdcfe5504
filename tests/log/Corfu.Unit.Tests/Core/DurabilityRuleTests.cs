using Corfu.Conformance;
using Corfu.Protocol;

namespace Corfu.Unit.Tests;

/// <summary>R4: every answer waits for the newest record that it reflects.</summary>
public sealed class DurabilityRuleTests
{
    private static readonly Epoch One = new(1);

    [Fact]
    public async Task The_loser_waits_for_the_winners_record()
    {
        var unit = await CoreHarness.OpenAsync();
        var winner = unit.LsnOf(new WriteRequest(One, Entries.Data(1, sequence: 1)));
        Assert.Equal(unit.Store.AppendedUntil, winner);
        Assert.Equal(winner, unit.LsnOf(new WriteRequest(One, Entries.Data(1, sequence: 2))));
        Assert.Equal(winner, unit.LsnOf(new FillRequest(One, Entries.Junk(1))));
    }

    [Fact]
    public async Task Reads_of_every_detail_wait_for_the_pages_record()
    {
        var unit = await CoreHarness.OpenAsync();
        var write = unit.LsnOf(new WriteRequest(One, Entries.Data(1)));
        foreach (var detail in Enum.GetValues<ReadDetail>())
            Assert.Equal(write, unit.LsnOf(new ReadRequest(One, Entries.Positions(0, 1), detail)));
    }

    [Fact]
    public async Task A_read_of_another_page_does_not_wait()
    {
        var unit = await CoreHarness.OpenAsync();
        var before = unit.Store.AppendedUntil;
        unit.Write(1);
        Assert.True(unit.LsnOf(new ReadRequest(One, Entries.Positions(0), ReadDetail.Full)) <= before);
    }

    [Fact]
    public async Task Unwritten_is_not_answered_from_an_epoch_that_is_not_durable()
    {
        var unit = await CoreHarness.OpenAsync(installed: 0);
        var install = unit.LsnOf(new InstallRequest(Entries.Projection(1)));
        Assert.Equal(install, unit.LsnOf(new ReadRequest(One, Entries.Positions(0), ReadDetail.State)));
        Assert.Equal(install, unit.LsnOf(new ConfirmEpochRequest(One)));
        Assert.Equal(install, unit.LsnOf(new InstallRequest(Entries.Projection(1))));
    }

    [Fact]
    public async Task Seal_and_refused_requests_wait_for_the_seal_record_which_follows_all_writes()
    {
        var unit = await CoreHarness.OpenAsync();
        var write = unit.LsnOf(new WriteRequest(One, Entries.Data(1)));
        var seal = unit.LsnOf(new SealRequest(new Epoch(2)));
        Assert.True(seal > write);
        Assert.Equal(seal, unit.LsnOf(new SealRequest(new Epoch(2))));
        Assert.Equal(seal, unit.LsnOf(new WriteRequest(One, Entries.Data(2))));
    }

    [Fact]
    public async Task Trims_and_refused_requests_wait_for_the_trims_record()
    {
        var unit = await CoreHarness.OpenAsync();
        var trim = unit.LsnOf(new TrimRequest(One, new LogPosition(5), default));
        Assert.Equal(trim, unit.LsnOf(new TrimRequest(One, new LogPosition(5), default)));
        Assert.Equal(trim, unit.LsnOf(new WriteRequest(One, Entries.Data(5))));
        var prefix = unit.LsnOf(new TrimPrefixRequest(One, new LogPosition(3)));
        Assert.True(prefix > trim);
        Assert.Equal(prefix, unit.LsnOf(new TrimPrefixRequest(One, new LogPosition(2))));
        Assert.Equal(prefix, unit.LsnOf(new ReadRequest(One, Entries.Positions(9), ReadDetail.State)));
        Assert.Equal(prefix, unit.LsnOf(new WriteRequest(One, Entries.Data(1))));
    }

    [Fact]
    public async Task Stream_tails_and_info_wait_for_every_record_counted()
    {
        var unit = await CoreHarness.OpenAsync(installed: 2, start: 10);
        var copy = unit.LsnOf(new CompleteRequest(new Epoch(2), Entries.Data(3, 1, "x", 0, 300)));
        Assert.Equal(copy, unit.LsnOf(new StreamTailsRequest(new Epoch(2), [new StreamId(300)])));
        Assert.Equal(copy, unit.LsnOf(new UnitInfoRequest(new Epoch(2))));
        Assert.Equal(copy, unit.LsnOf(new SealRequest(new Epoch(2))));
    }

    [Fact]
    public async Task Import_of_stream_tails_is_answered_when_the_record_is_durable_also_the_second_time()
    {
        var unit = await CoreHarness.OpenAsync(installed: 2, start: 10);
        var two = new Epoch(2);
        var mark = unit.LsnOf(new TrimPrefixRequest(two, new LogPosition(5)));
        var take = new ImportStreamTailsRequest(two, [new StreamTail(new StreamId(300), Entries.Positions(4))]);
        var taken = unit.LsnOf(take);
        Assert.True(taken > mark);
        Assert.Equal(taken, unit.LsnOf(take));
        Assert.Equal(taken, unit.LsnOf(new StreamTailsRequest(two, [new StreamId(300)])));
        Assert.Equal(taken, unit.LsnOf(new ListStreamTailsRequest(two, new LogPosition(5), default)));
    }
}
