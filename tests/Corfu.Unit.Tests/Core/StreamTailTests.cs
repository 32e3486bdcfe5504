using Corfu.Conformance;
using Corfu.Protocol;

namespace Corfu.Unit.Tests;

public sealed class StreamTailTests
{
    [Fact]
    public async Task Tails_are_those_below_the_start_newest_first_and_frozen()
    {
        var unit = await CoreHarness.OpenAsync();
        foreach (var position in new long[] { 4, 2, 9, 7, 0, 5 }) unit.Write(position, streams: 300);
        Assert.Empty(unit.Tails(300));
        unit.Install(2, 10);
        Assert.Equal([9L, 7, 5, 4], unit.Tails(300, 2));
        unit.Write(12, 2, streams: 300);
        Assert.Equal([9L, 7, 5, 4], unit.Tails(300, 2));
        unit.Install(3, 13);
        Assert.Equal([12L, 9, 7, 5], unit.Tails(300, 3));
        Assert.Empty(unit.Tails(301, 3));
    }

    [Fact]
    public async Task What_became_final_while_nobody_looked_is_not_pushed_out_by_what_came_after()
    {
        var unit = await CoreHarness.OpenAsync();
        for (var position = 1; position <= 4; position++) unit.Write(position, streams: 300);
        unit.Write(5, streams: 301);
        unit.Install(2, 10);
        for (var position = 11; position <= 14; position++) unit.Write(position, 2, streams: 300);
        Assert.Equal([4L, 3, 2, 1], unit.Tails(300, 2));
        unit.Install(3, 15);
        unit.Install(4, 20);
        Assert.Equal([14L, 13, 12, 11], unit.Tails(300, 4));
        Assert.Equal([5L], unit.Tails(301, 4));
    }

    [Fact]
    public async Task Junk_is_not_indexed_even_with_headers()
    {
        var unit = await CoreHarness.OpenAsync();
        unit.Write(1, streams: 300);
        unit.Fill(2, 1, 300);
        unit.Install(2, 10);
        Assert.Equal([1L], unit.Tails(300, 2));
    }

    [Fact]
    public async Task Entries_of_several_streams_count_in_each()
    {
        var unit = await CoreHarness.OpenAsync();
        unit.Write(1, streams: [300, 301]);
        unit.Write(2, streams: [301]);
        unit.Install(2, 10);
        Assert.Equal([1L], unit.Tails(300, 2));
        Assert.Equal([2L, 1], unit.Tails(301, 2));
    }

    [Fact]
    public async Task Copies_below_the_start_join_the_frozen_list_once()
    {
        var unit = await CoreHarness.OpenAsync(installed: 2, start: 10);
        foreach (var position in new long[] { 3, 8, 3, 1, 5, 2 })
            unit.Complete(Entries.Data(position, 1, "copy", 0, 300), 2);
        Assert.Equal([8L, 5, 3, 2], unit.Tails(300, 2));
    }

    [Fact]
    public async Task A_trimmed_entry_stays_in_its_streams()
    {
        var unit = await CoreHarness.OpenAsync();
        unit.Write(1, streams: 300);
        unit.Trim(1);
        unit.Install(2, 10);
        Assert.Equal([1L], unit.Tails(300, 2));
    }
}
