using System.Text;
using Corfu.Client;
using Corfu.Client.Tests.Streams;
using Corfu.Protocol;

namespace Corfu.Client.Tests;

/// <summary>One test per claim of the papers that the client implements; the claim is cited.</summary>
public class PaperTests
{
    private static async Task<List<string>> PlayAsync(LogStream stream)
    {
        await stream.SyncAsync();
        var played = new List<string>();
        while (await stream.ReadNextAsync() is { } entry) played.Add(Encoding.UTF8.GetString(entry.Payload.Span));
        return played;
    }

    /// <summary>Tango 5: "striding backward on the log, issuing N/K reads to build the list for a stream with N entries".</summary>
    [Fact]
    public async Task Tango5_a_stream_of_n_entries_is_walked_with_n_over_k_reads()
    {
        const int n = 200;
        var log = new ScriptedLog();
        for (var i = 0; i < n; i++)
        {
            log.Append($"{i}", 300);
            for (var j = 0; j < 30; j++) log.Append("other", 301);
        }

        var cursor = new StreamCursor(log);
        cursor.Add(new StreamId(300), LogPosition.Zero);
        await cursor.SyncAsync();
        var batches = StreamCursorOptions.Default.ReadAhead;
        Assert.InRange(log.Reads, 1, n / StreamHeader.MaxBackpointers + batches);
    }

    /// <summary>Tango 5: when all K backpointers lead to junk, "a client ... resorts to scanning the log backwards to find an earlier valid entry".</summary>
    [Fact]
    public async Task Tango5_when_all_backpointers_are_bare_junk_the_log_is_scanned_backwards()
    {
        var log = new ScriptedLog { BareJunk = true };
        for (var i = 0; i < 5; i++) log.Append($"{i}", 300);
        for (var i = 0; i < 150; i++) log.Append("other", 301);
        for (var i = 0; i < 10; i++) log.Grant(300);
        for (var i = 5; i < 8; i++) log.Append($"{i}", 300);
        Assert.Equal(["0", "1", "2", "3", "4", "5", "6", "7"], await PlayAsync(new LogStream(log, new StreamId(300))));
    }

    /// <summary>Tango 5: sync "brings the linked list up-to-date"; readnext then follows it.</summary>
    [Fact]
    public async Task Tango5_readnext_follows_sync()
    {
        var log = new ScriptedLog();
        var stream = new LogStream(log, new StreamId(300));
        await stream.AppendAsync("a"u8.ToArray());
        Assert.Null(await stream.ReadNextAsync());
        Assert.Equal(["a"], await PlayAsync(stream));
    }
}
