using Corfu.Conformance;
using Corfu.Protocol;

namespace Corfu.Unit.Tests;

public sealed class StreamTailTests
{
    [Fact]
    public async Task Tails_hold_the_positions_below_the_start_newest_first_and_frozen()
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
    public async Task Position_that_became_final_unread_is_not_pushed_out_by_later_ones()
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
    public async Task Trimmed_entry_stays_in_all_streams()
    {
        var unit = await CoreHarness.OpenAsync();
        unit.Write(1, streams: 300);
        unit.Trim(1);
        unit.Install(2, 10);
        Assert.Equal([1L], unit.Tails(300, 2));
    }

    private static StreamTail Tail(ulong stream, params long[] positions) =>
        new(new StreamId(stream), Entries.Positions(positions));

    private static ImportStreamTailsRequest Take(params StreamTail[] tails) => new(new Epoch(2), [.. tails]);

    [Fact]
    public async Task R22_stream_tails_of_another_replica_below_the_mark_are_taken_over()
    {
        var unit = await CoreHarness.OpenAsync(installed: 2, start: 20);
        unit.Complete(Entries.Data(15, 1, "copy", 0, 300), 2);
        unit.TrimPrefix(10, 2);
        Assert.Equal(Status.Ok, unit.Ask(Take(Tail(300, 9, 4, 2), Tail(301, 7), Tail(302))).Status);
        Assert.Equal([15L, 9, 4, 2], unit.Tails(300, 2));
        Assert.Equal([7L], unit.Tails(301, 2));
        Assert.Empty(unit.Tails(302, 2));

        // The newest positions count, from any source, and known ones are not written again.
        var end = unit.Store.AppendedUntil;
        unit.Ask(Take(Tail(300, 9, 1), Tail(301, 7)));
        Assert.Equal(end, unit.Store.AppendedUntil);
        unit.Ask(Take(Tail(300, 8), Tail(301, 8)));
        Assert.Equal([15L, 9, 8, 4], unit.Tails(300, 2));
        Assert.Equal([8L, 7], unit.Tails(301, 2));
    }

    [Fact]
    public async Task Positions_of_the_running_epoch_are_told_by_pages_alone()
    {
        var unit = await CoreHarness.OpenAsync(installed: 2, start: 20);
        Assert.Equal(Status.BadRequest, unit.Ask(Take(Tail(301, 7), Tail(300, 20, 4))).Status);
        Assert.Empty(unit.Tails(301, 2));
        Assert.Equal(Status.Sealed, unit.Ask(new ImportStreamTailsRequest(new Epoch(1), [Tail(300, 4)])).Status);
        Assert.Equal(Status.NotInstalled,
            unit.Ask(new ListStreamTailsRequest(new Epoch(3), new LogPosition(10), default)).Status);
    }

    /// <summary>Half-written entries of a head that is then lost had pushed the others out of its list, and out of what
    /// was copied.</summary>
    [Fact]
    public async Task A_full_list_is_told_whole()
    {
        var unit = await CoreHarness.OpenAsync();
        foreach (var position in new long[] { 3, 5, 6 }) unit.Write(position, streams: [300, 301]);
        for (var position = 10; position < 14; position++) unit.Write(position, streams: 300);
        unit.Write(14, streams: 301);
        unit.Install(2, 20);
        unit.TrimPrefix(8, 2);
        Assert.Equal(
            [Tail(300, 13, 12, 11, 10), Tail(301, 14, 6, 5, 3)],
            unit.Ask(new ListStreamTailsRequest(new Epoch(2), new LogPosition(8), default)).Tails);
        unit.Write(20, 2, streams: 302);
        unit.Install(3, 30);
        Assert.DoesNotContain(unit.Ask(new ListStreamTailsRequest(new Epoch(3), new LogPosition(8), default)).Tails,
            t => t.Stream.Value == 302);
    }

    [Fact]
    public async Task Lists_name_all_streams_below_a_position_some_at_a_time()
    {
        const int Streams = 10_000;
        var unit = await CoreHarness.OpenAsync();
        for (var i = 0; i < Streams; i++) unit.Write(i, streams: 300 + (ulong)i);
        unit.Write(Streams, streams: [300, 301, 299]);
        unit.Install(2, Streams + 1);
        unit.Write(Streams + 1, 2, streams: 300);
        var found = new List<StreamTail>();
        var at = default(StreamListCursor);
        for (var steps = 1; ; steps++)
        {
            var list = unit.Ask(new ListStreamTailsRequest(new Epoch(2), new LogPosition(Streams), at));
            Assert.True(list.Complete);
            Assert.InRange(list.Tails.Length, 0, MessageLimits.MaxItems);
            found.AddRange(list.Tails);
            at = list.Next;
            if (!list.IsLast) continue;
            Assert.InRange(steps, 3, 4);
            break;
        }

        Assert.Equal(Enumerable.Range(0, Streams).Select(i => Tail(300 + (ulong)i, i)), found);

        // A cursor of another run is of another order.
        var again =
            unit.Ask(new ListStreamTailsRequest(new Epoch(2), new LogPosition(Streams), at with { Run = at.Run + 1 }));
        Assert.Equal(300UL, again.Tails[0].Stream.Value);
        Assert.Empty(unit.Ask(new ListStreamTailsRequest(new Epoch(2), new LogPosition(Streams), at)).Tails);
        Assert.Empty(
            unit.Ask(new ListStreamTailsRequest(new Epoch(2), new LogPosition(Streams),
                at with { Next = int.MaxValue })).Tails);
    }
}
