using System.Text;
using Corfu.Protocol;

namespace Corfu.Client.Tests.Streams;

public class StreamCursorTests
{
    private readonly ScriptedLog _log = new();

    private static readonly StreamId A = new(300), B = new(301);

    private protected static async Task<List<string>> PlayAsync(IStreamCursor cursor, bool sync = true)
    {
        if (sync) await cursor.SyncAsync();
        var played = new List<string>();
        while (await cursor.ReadNextAsync() is { } entry) played.Add(Encoding.UTF8.GetString(entry.Payload.Span));
        return played;
    }

    private protected virtual StreamCursorOptions Limits => new();

    private StreamCursor Cursor(StreamCursorOptions? options = null, params StreamId[] streams)
    {
        var cursor = new StreamCursor(_log, options ?? Limits);
        foreach (var stream in streams) cursor.Add(stream, LogPosition.Zero);
        return cursor;
    }

    private static string[] Numbers(string prefix, int from, int count) =>
        [.. Enumerable.Range(from, count).Select(i => $"{prefix}{i}")];

    [Fact]
    public async Task Streams_are_merged_in_log_order_and_shared_entries_delivered_once()
    {
        _log.Append("a0", 300);
        _log.Append("x", 999);
        _log.Append("ab", 300, 301);
        _log.Append("b0", 301);
        Assert.Equal(["a0", "ab", "b0"], await PlayAsync(Cursor(null, A, B)));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(7)]
    [InlineData(40)]
    public async Task Sparse_and_dense_streams_are_walked_completely(int distance)
    {
        for (var i = 0; i < 300; i++)
        {
            _log.Append($"a{i}", 300);
            for (var j = 1; j < distance; j++) _log.Append("x", 999);
        }

        Assert.Equal(Numbers("a", 0, 300), await PlayAsync(Cursor(null, A)));
    }

    [Fact]
    public async Task Later_sync_delivers_only_new_entries()
    {
        var cursor = Cursor(null, A);
        for (var i = 0; i < 20; i++) _log.Append($"a{i}", 300);
        Assert.Equal(Numbers("a", 0, 20), await PlayAsync(cursor));
        Assert.Empty(await PlayAsync(cursor));
        for (var i = 20; i < 55; i++) _log.Append($"a{i}", 300);
        Assert.Equal(Numbers("a", 20, 35), await PlayAsync(cursor));
        Assert.Equal(55, cursor.Position.Offset);
    }

    [Fact]
    public async Task Cursor_without_a_new_sync_delivers_no_entry_beyond_the_synced_tail()
    {
        var cursor = Cursor(null, A);
        _log.Append("a0", 300);
        await cursor.SyncAsync();
        _log.Append("a1", 300);
        Assert.Equal(["a0"], await PlayAsync(cursor, sync: false));
        Assert.Equal(["a1"], await PlayAsync(cursor));
    }

    [Fact]
    public async Task A_backlog_beyond_the_memory_limit_is_played_in_pieces()
    {
        var options = Limits with { MaxPositions = 16, WalkWindow = 8, MaxBatch = 4 };
        var cursor = Cursor(options, A, B);
        var expected = new List<string>();
        for (var i = 0; i < 500; i++)
        {
            _log.Append($"e{i}", i % 5 == 0 ? [300, 301] : i % 2 == 0 ? [300UL] : [301UL]);
            expected.Add($"e{i}");
        }

        await cursor.SyncAsync();
        for (var i = 0; i < 10; i++)
            Assert.Equal($"e{i}", Encoding.UTF8.GetString((await cursor.ReadNextAsync())!.Payload.Span));
        for (var i = 500; i < 900; i++)
        {
            _log.Append($"e{i}", 300);
            expected.Add($"e{i}");
        }

        Assert.Equal(expected.Skip(10), await PlayAsync(cursor));
    }

    [Fact]
    public async Task Junk_with_headers_is_stepped_over()
    {
        for (var i = 0; i < 30; i++)
        {
            if (i % 3 == 0) _log.Append($"a{i}", 300);
            else _log.Junk(_log.Grant(300), bare: false);
        }

        Assert.Equal(Enumerable.Range(0, 10).Select(i => $"a{i * 3}"), await PlayAsync(Cursor(null, A)));
    }

    [Fact]
    public async Task Cursor_given_a_stream_below_the_position_goes_back_without_repeating_other_streams()
    {
        _log.Append("a0", 300);
        _log.Append("b0", 301);
        _log.Append("ab", 300, 301);
        _log.Append("a1", 300);
        var cursor = Cursor(null, A);
        Assert.Equal(["a0", "ab", "a1"], await PlayAsync(cursor));
        cursor.Add(B, LogPosition.Zero);
        Assert.Equal(LogPosition.Zero, cursor.Position);
        Assert.Null(await cursor.ReadNextAsync());
        _log.Append("a2", 300);
        Assert.Equal(["b0", "ab", "a2"], await PlayAsync(cursor));
    }

    [Fact]
    public async Task Stream_added_from_a_checkpoint_skips_entries_below()
    {
        for (var i = 0; i < 10; i++) _log.Append($"a{i}", 300);
        var cursor = new StreamCursor(_log, Limits);
        cursor.Add(A, new LogPosition(6));
        Assert.Equal(["a6", "a7", "a8", "a9"], await PlayAsync(cursor));
    }

    [Fact]
    public async Task R22_a_trimmed_entry_is_reported_and_never_skipped()
    {
        for (var i = 0; i < 10; i++) _log.Append($"a{i}", 300);
        _log.TrimBelow(new LogPosition(4));
        var cursor = Cursor(null, A);
        await Assert.ThrowsAsync<LogTrimmedException>(() => PlayAsync(cursor));
        await Assert.ThrowsAsync<LogTrimmedException>(() => PlayAsync(cursor));
        cursor.Add(A, new LogPosition(4));
        Assert.Equal(Numbers("a", 4, 6), await PlayAsync(cursor));
    }

    [Fact]
    public async Task R10_positions_learnt_in_an_ended_epoch_are_learnt_anew()
    {
        var cursor = Cursor(null, A);
        _log.Append("a0", 300);
        var start = _log.Grant(999);
        _log.Grant(300);
        _log.Gate = new TaskCompletionSource();
        await cursor.SyncAsync();

        // The next epoch grants the same positions the other way round.
        _log.NewEpoch(start);
        _log.Append("a1", 300);
        _log.Append("x", 999);
        _log.Append("a2", 300);
        _log.Gate.SetResult();
        Assert.Equal(["a0", "a1", "a2"], await PlayAsync(cursor, sync: false));
    }

    [Fact]
    public async Task R10_the_position_never_passes_a_position_that_a_later_epoch_may_grant()
    {
        var cursor = Cursor(null, A);
        _log.Append("a0", 300);
        var start = _log.Grant(999);
        _log.Grant(999);
        Assert.Equal(["a0"], await PlayAsync(cursor));
        Assert.Equal(start, cursor.Position);
        _log.NewEpoch(start);
        _log.Append("a1", 300);
        Assert.Equal(["a1"], await PlayAsync(cursor));
    }

    [Fact]
    public async Task A_position_that_is_not_granted_any_more_ends_the_play_until_the_next_sync()
    {
        var cursor = Cursor(null, A);
        _log.Append("a0", 300);
        var start = _log.Grant(300);
        _log.Gate = new TaskCompletionSource();
        await cursor.SyncAsync();
        _log.NewEpoch(start);
        _log.Gate.SetResult();
        Assert.Equal(["a0"], await PlayAsync(cursor, sync: false));
        Assert.Equal(start, cursor.Position);
        _log.Append("a1", 300);
        Assert.Equal(["a1"], await PlayAsync(cursor));
    }

    [Fact]
    public async Task Close_to_the_tail_one_read_serves_the_walk_and_the_playback()
    {
        var cursor = Cursor(null, A);
        for (var i = 0; i < 100; i++) _log.Append($"a{i}", 300);
        await PlayAsync(cursor);
        var before = _log.Reads;
        for (var i = 0; i < 50; i++) _log.Append($"b{i}", 300);
        Assert.Equal(Numbers("b", 0, 50), await PlayAsync(cursor));
        Assert.True(_log.Reads - before <= 3, $"{_log.Reads - before} reads");
    }
}
