using System.Collections.Immutable;
using System.Text;
using Corfu.Client;
using Corfu.Protocol;

namespace Corfu.Backup.Tests;

internal static class Logs
{
    public static readonly StreamId Odd = StreamId.FromName("b");
    public static readonly StreamId Even = StreamId.FromName("a");

    public static readonly BackupOptions Small = new()
    {
        FileSize = 600,
        BatchPositions = 8,
        PollInterval = TimeSpan.FromMilliseconds(1),
        TrimInterval = TimeSpan.FromTicks(1),
        RetryDelay = TimeSpan.FromMilliseconds(5)
    };

    public static async Task AppendAsync(this CorfuClient client, int from, int count)
    {
        for (var i = from; i < from + count; i++)
            (await client.AppendAsync(Encoding.UTF8.GetBytes($"entry {i}"), [i % 2 == 0 ? Even : Odd])).Require();
    }

    /// <summary>A granted position that no client writes.</summary>
    public static async Task<LogPosition> LeaveHoleAsync(this TestCluster cluster, params StreamId[] streams)
    {
        var epoch = cluster.First.Epoch;
        return (await cluster.Transport.CallAsync(cluster.First.Sequencer, new TokenRequest(epoch, 1, [.. streams]),
            default)).First;
    }

    public static async Task<ImmutableArray<LogReadResult>> AllAsync(this CorfuClient client)
    {
        var tail = (await client.CheckAsync([])).Tail;
        return await client.ReadManyAsync([.. Enumerable.Range(0, (int)tail.Offset).Select(i => new LogPosition(i))],
            mode: ReadMode.Observe);
    }

    /// <summary>Everything but the epochs, which are each cluster's own.</summary>
    public static IEnumerable<string> Lines(this IEnumerable<LogReadResult> log) => log.Select(Line);

    private static string Line(LogReadResult page)
    {
        if (page.Entry is not { } e) return $"{page.Position.Offset} {page.State}";
        var streams =
            string.Join(' ',
                e.Streams.Select(s => $"{s.Stream}[{string.Join(',', s.Backpointers.Select(b => b.Offset))}]"));
        return $"{page.Position.Offset} {page.State} {e.Kind} {e.Origin} {e.WriterTime.ToUnixTimeMilliseconds()} "
            + $"{streams} {Convert.ToHexString(e.Payload.Span)}";
    }

    /// <summary>A log with everything in it: data of streams, a filled hole, trims of both kinds.</summary>
    public static async Task<CorfuClient> FillAsync(this TestCluster cluster, int count = 40)
    {
        var client = cluster.Client();
        await client.AppendAsync(0, count / 2);
        await client.FillAsync(await cluster.LeaveHoleAsync(Even));
        await client.AppendAsync(count / 2, count / 2);
        await client.TrimPrefixAsync(new LogPosition(3));
        await client.TrimAsync(new LogPosition(7));
        return client;
    }

    /// <summary>A log of which a stream is trimmed as a whole, another in part, and the third not at all.</summary>
    public static async Task<CorfuClient> TrimStreamsAsync(this TestCluster cluster)
    {
        var client = cluster.Client();
        await client.AppendAsync(0, 20);
        for (var i = 20; i < 40; i++)
            (await client.AppendAsync(Encoding.UTF8.GetBytes($"entry {i}"), [i < 26 ? Even : Late])).Require();
        await client.TrimPrefixAsync(new LogPosition(24));
        return client;
    }

    public static readonly StreamId Late = StreamId.FromName("c");

    /// <summary>R22: who opens them is told what is trimmed, as in the log that <see cref="TrimStreamsAsync"/> has
    /// made.</summary>
    public static async Task AssertTrimmedAsync(CorfuClient log)
    {
        var tails = (await log.CheckAsync([Even, Odd, Late, StreamId.FromName("d")])).Streams
            .Select(t => t.Positions.Select(p => p.Offset));
        Assert.Equal([[25, 24, 23, 22], [19, 17, 15, 13], [39, 38, 37, 36], []], tails);
        foreach (var stream in (StreamId[])[Even, Odd])
        {
            var walk = new StreamCursor(log, stream);
            await walk.SyncAsync();
            await Assert.ThrowsAsync<LogTrimmedException>(async () => await walk.ReadNextAsync());
        }
    }

    /// <summary>A stream by its backpointers, as Tango reads it.</summary>
    public static async Task<ImmutableArray<long>> WalkAsync(this CorfuClient client, StreamId stream, long from)
    {
        var walk = new StreamCursor(client, stream, new LogPosition(from));
        await walk.SyncAsync();
        var found = ImmutableArray.CreateBuilder<long>();
        while (await walk.ReadNextAsync() is { } entry) found.Add(entry.Position.Offset);
        return found.ToImmutable();
    }
}
