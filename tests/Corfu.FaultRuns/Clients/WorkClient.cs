using System.Collections.Immutable;
using Corfu.Client;
using Corfu.Client.Layout;
using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.FaultRuns.Clients;

/// <summary>
/// A workload process: appenders, readers, checkers and a follower of one stream, until it is told to end. It prints,
/// twice a second, since when each of them has made no progress.
/// </summary>
internal sealed class WorkClient(CorfuClient client, HistoryWriter history, string name, int seed)
{
    private const int Appenders = 3;

    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(25);
    private static readonly TimeSpan Report = TimeSpan.FromMilliseconds(500);

    // When each activity began the last operation that succeeded: appends, reads, checks, the stream.
    private readonly long[] _progress = new long[4];
    private int _number;
    private long _tail;

    public static async Task<int> RunAsync(string connect, string name, int seed, string file)
    {
        using var history = new HistoryWriter(file);
        using var stop = new CancellationTokenSource();
        await using var client = await ConnectAsync(connect);
        var worker = new WorkClient(client, history, name, seed);
        _ = Task.Run(async () =>
        {
            while (await Console.In.ReadLineAsync() is { } line && line != "stop")
            {
            }

            stop.Cancel();
        });
        await worker.WorkAsync(stop.Token);
        return 0;
    }

    /// <summary>As often as it takes: a client may be started in the middle of a fault.</summary>
    public static async Task<CorfuClient> ConnectAsync(string connect)
    {
        for (var attempt = 0; ; attempt++)
        {
            try
            {
                return await CorfuClient.ConnectAsync(connect,
                    new CorfuClientOptions
                    { Tcp = new TcpTransportOptions { RequestTimeout = TimeSpan.FromSeconds(3) } });
            }
            catch (CorfuException) when (attempt < 60)
            {
                await Task.Delay(500);
            }
        }
    }

    private async Task WorkAsync(CancellationToken stop)
    {
        List<Task> tasks = [ReportAsync(stop)];
        for (var i = 0; i < Appenders; i++) tasks.Add(RepeatAsync(new Random(seed + i), 0, AppendAsync, stop));
        tasks.Add(RepeatAsync(new Random(seed + 10), 1, ReadAsync, stop));
        tasks.Add(RepeatAsync(new Random(seed + 11), 2, CheckAsync, stop));
        tasks.Add(FollowAsync(new Random(seed + 12), stop));
        await Task.WhenAll(tasks);
        history.Line("end");
    }

    private async Task ReportAsync(CancellationToken stop)
    {
        while (!stop.IsCancellationRequested)
        {
            Console.WriteLine($"progress {string.Join(' ', _progress.Select(p => Volatile.Read(ref p)))}");
            await Quietly(() => Task.Delay(Report, stop));
        }
    }

    private async Task RepeatAsync(Random random, int activity, Func<Random, Task<bool>> operation,
        CancellationToken stop)
    {
        while (!stop.IsCancellationRequested)
        {
            var began = HistoryWriter.Now;
            try
            {
                if (await operation(random)) Volatile.Write(ref _progress[activity], began);
            }
            catch (Exception e) when (IsExpected(e))
            {
                history.Line($"trouble\t{began}\t{HistoryWriter.Now}\t{e.GetType().Name}: {e.Message}");
            }
            catch (Exception e)
            {
                history.Line($"unexpected\t{began}\t{HistoryWriter.Now}\t{e.ToString().Replace('\n', ' ')}");
            }

            await Quietly(() => Task.Delay(Pause * (0.5 + random.NextDouble()), stop));
        }
    }

    private async Task<bool> AppendAsync(Random random)
    {
        var id = $"{name}-{Interlocked.Increment(ref _number)}";
        var began = HistoryWriter.Now;
        history.Line($"append\t{id}\t{began}");
        AppendResult result;
        try
        {
            result = await client.AppendAsync(EntryText.Make(id), [EntryText.StreamOf(id)]);
        }
        catch (Exception e) when (IsExpected(e))
        {
            // Nothing of it is in the log: that is what an exception promises.
            history.Line($"refused\t{id}\t{HistoryWriter.Now}\t{e.Message}");
            return false;
        }

        for (var attempt = 0; result.Outcome == AppendOutcome.Unknown && attempt < 3; attempt++)
        {
            history.Line($"unknown\t{id}\t{HistoryWriter.Now}");
            try
            {
                result = result with { Outcome = await client.ResolveAsync(result) };
            }
            catch (Exception e) when (IsExpected(e))
            {
                history.Line($"trouble\t{began}\t{HistoryWriter.Now}\tresolving {id}: {e.Message}");
            }
        }

        var word = result.Outcome switch
        {
            AppendOutcome.Appended => "appended",
            AppendOutcome.NotAppended => "refused",
            _ => "unknown"
        };
        history.Line($"{word}\t{id}\t{HistoryWriter.Now}\t{result.Position.Offset}\t{result.Position.Epoch.Value}");
        if (result.IsAppended) Known(result.Position.Offset + 1);
        return result.IsAppended;
    }

    private async Task<bool> ReadAsync(Random random)
    {
        var tail = Volatile.Read(ref _tail);
        if (tail == 0) return true;
        var newest = random.Next(2) == 0;
        var first = newest ? Math.Max(0, tail - random.Next(1, 32)) : random.NextInt64(tail);
        ImmutableArray<LogPosition> positions = [.. Enumerable.Range(0, random.Next(1, 16))
            .Select(i => new LogPosition(first + i)).Where(p => p.Offset < tail)];
        var began = HistoryWriter.Now;
        var results = await client.ReadManyAsync(positions);
        var ended = HistoryWriter.Now;
        foreach (var result in results)
            history.Line($"read\t{began}\t{ended}\t{result.Position.Offset}\t{Describe(result)}");
        return true;
    }

    public static string Describe(LogReadResult result) => result.State switch
    {
        PageState.Data => $"data {EntryText.NameOf(result.Entry!.Payload.Span) ?? "damaged"}",
        PageState.Junk => "junk",
        var state => state.ToString().ToLowerInvariant(),
    };

    private async Task<bool> CheckAsync(Random random)
    {
        var began = HistoryWriter.Now;
        var check = await client.CheckAsync([]);
        history.Line($"check\t{began}\t{HistoryWriter.Now}\t{check.Tail.Offset}");
        Known(check.Tail.Offset);
        return true;
    }

    // Uses one cursor for the life of the process: the entries that it delivers up to its position must be exactly the
    // stream.
    private async Task FollowAsync(Random random, CancellationToken stop)
    {
        var stream = EntryText.Stream(random.Next(EntryText.Streams));
        var cursor = new StreamCursor(client, stream);
        await RepeatAsync(random, 3, async _ =>
        {
            var began = HistoryWriter.Now;
            await cursor.SyncAsync();
            while (await cursor.ReadNextAsync() is { } entry)
                history.Line(
                    $"play\t{stream.Value}\t{entry.Position.Offset}\t"
                    + $"{EntryText.NameOf(entry.Payload.Span) ?? "damaged"}");
            history.Line($"synced\t{stream.Value}\t{cursor.Position.Offset}\t{began}\t{HistoryWriter.Now}");
            return true;
        }, stop);
    }

    private void Known(long tail)
    {
        var known = Volatile.Read(ref _tail);
        while (tail > known && Interlocked.CompareExchange(ref _tail, tail, known) != known)
            known = Volatile.Read(ref _tail);
    }

    /// <summary>Whether a fault may cause the exception, which ends with the fault.</summary>
    public static bool IsExpected(Exception e) =>
        e is LogUnavailableException or LayoutUnavailableException or TransportException or ReconfigurationException
        || e is CorfuStatusException { Status: Status.NoSpace or Status.Failed or Status.Overloaded };

    private static async Task Quietly(Func<Task> wait)
    {
        try
        {
            await wait();
        }
        catch (OperationCanceledException)
        {
            // The end of the run.
        }
    }
}
