using System.Collections.Immutable;
using System.Text;
using Xunit;

namespace Corfu.Conformance;

/// <summary>Promises of every <see cref="ICorfuLog"/>, run against each implementation.</summary>
public abstract partial class LogConformance
{
    private static readonly StreamId A = StreamId.FromName("a");
    private static readonly StreamId B = StreamId.FromName("b");
    private static readonly StreamId C = StreamId.FromName("c");

    // A record that an object's stream may hold: Tango's [2, runtime, sequence, [[update, object, mutator, nil,
    // arguments]]].
    private static readonly byte[] s_update = [0x94, 2, 1, 1, 0x91, 0x95, 1, 0xcd, 1, 0, 1, 0xc0, 0xc4, 0];

    /// <summary>The log under test, empty.</summary>
    protected abstract Task<ICorfuLog> OpenAsync();

    /// <summary>Whether appends tell the stream headers of their entries.</summary>
    protected virtual bool TellsHeaders => true;

    /// <summary>Another view of the same log, as another process has it.</summary>
    protected abstract Task<ICorfuLog> OpenAnotherAsync();

    /// <summary>Takes a position for the streams and abandons it.</summary>
    protected abstract Task<LogPosition> LeaveHoleAsync(ImmutableArray<StreamId> streams);

    private static ReadOnlyMemory<byte> Bytes(string text) => Encoding.UTF8.GetBytes(text);

    private static string Text(LogEntry? entry) => Encoding.UTF8.GetString(entry!.Payload.Span);

    private static async Task<List<string>> PlayAsync(IStreamCursor cursor)
    {
        await cursor.SyncAsync();
        var played = new List<string>();
        while (await cursor.ReadNextAsync() is { } entry) played.Add(Text(entry));
        return played;
    }

    [Fact]
    public async Task Append_is_read_back_by_every_client_with_streams_and_origin()
    {
        var log = await OpenAsync();
        var result = await log.AppendAsync(Bytes("x"), [A, B]);
        Assert.True(result.IsAppended);
        Assert.Equal(result.Position, result.Require());
        var read = (await (await OpenAnotherAsync()).ReadManyAsync([result.Position]))[0];
        Assert.True(read.IsData);
        Assert.Equal("x", Text(read.Entry));
        Assert.Equal(result.Origin, read.Entry!.Origin);
        Assert.Equal(result.Position, read.Entry.Position);
        Assert.Equal([A, B], read.Entry.Streams.Select(s => s.Stream));
    }

    [Fact]
    public async Task Append_tells_the_headers_that_a_read_of_the_entry_returns()
    {
        var log = await OpenAsync();
        List<LogPosition> before = [];
        for (var i = 0; i < StreamHeader.MaxBackpointers + 2; i++)
        {
            if (i == 2) before.Insert(0, await LeaveHoleAsync([A]));
            var result = await log.AppendAsync(Bytes("x"), [B, A]);
            var read = (await log.ReadManyAsync([result.Position], ReadDetail.Headers))[0];
            Assert.Equal(TellsHeaders, !result.Headers.IsDefault);
            if (TellsHeaders)
            {
                Assert.Equal(read.Entry!.Streams.AsEnumerable(), result.Headers);
                Assert.Equal(before.Take(StreamHeader.MaxBackpointers), result.Headers[1].Backpointers);
            }

            before.Insert(0, result.Position);
        }
    }

    /// <summary>Raw streams and objects shared their ids: a raw append stopped the object of the stream.</summary>
    [Fact]
    public async Task Raw_streams_and_objects_have_separate_ranges()
    {
        var log = await OpenAsync();
        StreamId directory = new(1), firstObject = new(StreamId.FirstObjectValue);
        StreamId lastObject = new(StreamId.FirstRawValue - 1), firstRaw = new(StreamId.FirstRawValue);
        foreach (var id in new[] { directory, firstObject, lastObject })
        {
            var refused = await Assert.ThrowsAsync<StreamRangeException>(
                async () => await log.AppendAsync(Bytes("raw"), [A, id]));
            Assert.Equal(id, refused.Stream);
        }

        await Assert.ThrowsAsync<StreamRangeException>(
            async () => await log.AppendToObjectsAsync(Bytes("x"), [firstObject, firstRaw]));
        Assert.Equal(0, (await log.CheckAsync([])).Tail.Offset);

        var appended = await log.AppendToObjectsAsync(s_update, [firstObject, lastObject]);
        Assert.Equal(0, appended.Require().Offset);
        Assert.Equal(1, (await log.AppendAsync(Bytes("raw"), [firstRaw])).Require().Offset);
        var read = await log.ReadManyAsync([new(0), new(1)]);
        Assert.Equal([firstObject, lastObject], read[0].Entry!.Streams.Select(s => s.Stream));
        Assert.Equal([firstRaw], read[1].Entry!.Streams.Select(s => s.Stream));
    }

    [Fact]
    public async Task Append_that_names_a_stream_twice_is_refused_without_effect()
    {
        var log = await OpenAsync();
        ImmutableArray<StreamId> many = [.. Enumerable.Range(0, 40).Select(i => StreamId.FromName($"{i}"))];
        foreach (var streams in new[] { [A, B, A], many.Add(many[7]) })
        {
            await Assert.ThrowsAsync<ArgumentException>(async () => await log.AppendAsync(Bytes("x"), streams));
        }

        var check = await log.CheckAsync([A, B]);
        Assert.Equal(0, check.Tail.Offset);
        Assert.All(check.Streams, stream => Assert.Empty(stream.Positions));
        Assert.True((await log.AppendAsync(Bytes("x"), [A, B])).IsAppended);
        Assert.True((await log.AppendAsync(Bytes("x"), many)).IsAppended);
    }

    [Fact]
    public async Task Details_of_a_read_are_as_much_as_was_asked_for()
    {
        var log = await OpenAsync();
        var appended = await log.AppendAsync(Bytes("text"), [A]);
        foreach (var detail in Enum.GetValues<ReadDetail>())
        {
            var read = (await log.ReadManyAsync([appended.Position], detail))[0];
            Assert.True(read.IsData);
            Assert.Equal(detail == ReadDetail.State, read.Entry is null);
            if (read.Entry is not { } entry) continue;
            Assert.True(entry.TryGetStream(A, out _));
            Assert.Equal(detail == ReadDetail.Full ? "text" : "", Text(entry));
        }
    }

    /// <summary>A page trimmed on its own says whose it was; one below the trim mark does not.</summary>
    [Fact]
    public async Task Append_is_resolved_by_the_tombstone_until_the_prefix_is_trimmed()
    {
        var log = await OpenAsync();
        var own = await log.AppendAsync(Bytes("0"), [A]);
        var other = await log.AppendAsync(Bytes("1"), [A]);
        var hole = await LeaveHoleAsync([A]);
        await log.FillAsync(hole);
        foreach (var position in new[] { own.Position, other.Position, hole }) await log.TrimAsync(position);
        var doubts = new[] { own, own with { Position = other.Position }, own with { Position = hole } };
        for (var i = 0; i < doubts.Length; i++) doubts[i] = doubts[i] with { Outcome = AppendOutcome.Unknown };
        var found = new List<AppendOutcome>();
        foreach (var doubt in doubts) found.Add(await log.ResolveAsync(doubt));
        Assert.Equal([AppendOutcome.Appended, AppendOutcome.NotAppended, AppendOutcome.NotAppended], found);

        await log.TrimPrefixAsync(hole.Next);
        foreach (var doubt in doubts) Assert.Equal(AppendOutcome.Unknown, await log.ResolveAsync(doubt));
        Assert.Null((await log.ReadManyAsync([own.Position]))[0].Entry);
    }

    [Fact]
    public async Task Positions_rise_with_acknowledgement_and_no_two_are_equal()
    {
        var (one, two) = (await OpenAsync(), await OpenAnotherAsync());
        var last = new LogPosition(0);
        for (var i = 0; i < 20; i++)
        {
            var results =
                await Task.WhenAll(Enumerable.Range(0, 5)
                    .Select(j => (j % 2 == 0 ? one : two).AppendAsync(Bytes($"{i}"), [A]).AsTask()));
            Assert.Equal(5, results.Select(r => r.Position).Distinct().Count());
            Assert.All(results, r => Assert.True(r.Position >= last));
            last = results.Max(r => r.Position).Next;
        }
    }

    [Fact]
    public async Task Check_sees_every_append_acknowledged_before()
    {
        var (one, two) = (await OpenAsync(), await OpenAnotherAsync());
        Assert.Equal(0, (await two.CheckAsync([A])).Tail.Offset);
        for (var i = 0; i < 10; i++)
        {
            var appended = await one.AppendAsync(Bytes("x"), i % 2 == 0 ? [A] : [A, B]);
            var check = await two.CheckAsync([B, A, C]);
            Assert.True(check.Tail > appended.Position);
            Assert.Equal([B, A, C], check.Streams.Select(s => s.Stream));
            Assert.Equal(appended.Position, check.Streams[1].Positions[0]);
            Assert.Equal(Math.Min(i + 1, StreamHeader.MaxBackpointers), check.Streams[1].Positions.Length);
            Assert.Empty(check.Streams[2].Positions);
        }
    }

    [Fact]
    public async Task Backpointers_are_the_streams_previous_positions_newest_first()
    {
        var log = await OpenAsync();
        var positions = new List<LogPosition>();
        for (var i = 0; i < 12; i++)
        {
            await log.AppendAsync(Bytes("other"), [B]);
            positions.Add((await log.AppendAsync(Bytes("x"), [A])).Position);
        }

        var read = await log.ReadManyAsync([.. positions], ReadDetail.Headers);
        for (var i = 0; i < positions.Count; i++)
        {
            Assert.True(read[i].Entry!.TryGetStream(A, out var header));
            Assert.True(read[i].Entry!.Payload.IsEmpty);
            Assert.Equal(positions.Take(i).Reverse().Take(StreamHeader.MaxBackpointers), header.Backpointers);
        }
    }

    [Fact]
    public async Task Results_come_in_request_order_and_duplicates_are_answered()
    {
        var log = await OpenAsync();
        for (var i = 0; i < 10; i++) await log.AppendAsync(Bytes($"{i}"), []);
        var read = await log.ReadManyAsync([new(7), new(2), new(2), new(9), new(10)]);
        Assert.Equal(["7", "2", "2", "9"], read.Take(4).Select(r => Text(r.Entry)));
        Assert.Equal(PageState.Unwritten, read[4].State);
        Assert.Empty(await log.ReadManyAsync([]));
    }

    [Fact]
    public async Task A_hole_is_seen_by_an_observer_and_closed_by_a_reader()
    {
        var log = await OpenAsync();
        await log.AppendAsync(Bytes("0"), [A]);
        var hole = await LeaveHoleAsync([A]);
        await log.AppendAsync(Bytes("2"), [A]);
        Assert.Equal(PageState.Unwritten, (await log.ReadManyAsync([hole], mode: ReadMode.Observe))[0].State);
        var read = await log.ReadManyAsync([new(0), hole, new(2)]);
        Assert.Equal([PageState.Data, PageState.Junk, PageState.Data], read.Select(r => r.State));
        Assert.True(read[1].Entry!.IsJunk);
        Assert.Equal(PageState.Junk,
            (await (await OpenAnotherAsync()).ReadManyAsync([hole], mode: ReadMode.Observe))[0].State);
    }

    [Fact]
    public async Task Fill_closes_a_hole_keeps_a_value_and_refuses_ungranted_positions()
    {
        var log = await OpenAsync();
        var written = await log.AppendAsync(Bytes("0"), [A]);
        var hole = await LeaveHoleAsync([A]);
        Assert.Equal(PageState.Junk, (await log.FillAsync(hole)).State);
        Assert.Equal("0", Text((await log.FillAsync(written.Position)).Entry));
        await Assert.ThrowsAsync<PositionNotGrantedException>(async () => await log.FillAsync(new LogPosition(2)));
    }

    [Fact]
    public async Task A_stream_is_played_across_holes_and_entries_of_many_streams_once()
    {
        var log = await OpenAsync();
        var expected = new List<string>();
        for (var i = 0; i < 60; i++)
        {
            if (i % 7 == 3)
            {
                await LeaveHoleAsync([A, B]);
                continue;
            }

            await log.AppendAsync(Bytes($"{i}"), i % 3 == 0 ? [A, B] : i % 3 == 1 ? [A] : [C]);
            if (i % 3 != 2) expected.Add($"{i}");
        }

        var cursor = new StreamCursor(await OpenAnotherAsync());
        cursor.Add(A, LogPosition.Zero);
        cursor.Add(B, LogPosition.Zero);
        Assert.Equal(expected, await PlayAsync(cursor));
        Assert.Empty(await PlayAsync(cursor));
    }

    [Fact]
    public async Task A_trimmed_prefix_reads_as_trimmed_and_the_rest_as_before()
    {
        var log = await OpenAsync();
        for (var i = 0; i < 10; i++) await log.AppendAsync(Bytes($"{i}"), [A]);
        await log.TrimPrefixAsync(new LogPosition(6));
        var read = await (await OpenAnotherAsync())
            .ReadManyAsync([.. Enumerable.Range(0, 10).Select(i => new LogPosition(i))]);
        for (var i = 0; i < 10; i++) Assert.Equal(i < 6 ? PageState.Trimmed : PageState.Data, read[i].State);
        await Assert.ThrowsAsync<PositionNotGrantedException>(
            async () => await log.TrimPrefixAsync(new LogPosition(11)));
    }

    [Fact]
    public async Task A_single_trim_leaves_the_headers_and_never_the_payload()
    {
        var log = await OpenAsync();
        for (var i = 0; i < 4; i++) await log.AppendAsync(Bytes($"{i}"), [A]);
        await log.TrimAsync(new LogPosition(2));
        var read = (await log.ReadManyAsync([new LogPosition(2)]))[0];
        Assert.Equal(PageState.Trimmed, read.State);
        Assert.True(read.Entry!.TryGetStream(A, out var header));
        Assert.Equal([new LogPosition(1), new LogPosition(0)], header.Backpointers);
        Assert.True(read.Entry.Payload.IsEmpty);
    }

    [Fact]
    public async Task A_payload_beyond_the_limit_is_refused_and_takes_no_position()
    {
        var log = await OpenAsync();
        await Assert.ThrowsAsync<EntryTooLargeException>(
            async () => await log.AppendAsync(new byte[log.MaxPayload + 1], [A]));
        Assert.Equal(0, (await log.CheckAsync([A])).Tail.Offset);
        Assert.True((await log.AppendAsync(new byte[1000], [])).IsAppended);
    }

    [Fact]
    public async Task Call_cancelled_beforehand_has_no_effect()
    {
        var log = await OpenAsync();
        var cancelled = new CancellationToken(true);
        await Assert.ThrowsAnyAsync<OperationCanceledException>(
            async () => await log.AppendAsync(Bytes("x"), [A], cancelled));
        Assert.Equal(0, (await log.CheckAsync([A])).Tail.Offset);
    }
}
