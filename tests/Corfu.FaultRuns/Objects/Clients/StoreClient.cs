using Corfu.Client;
using Craq;

namespace Corfu.FaultRuns.Objects.Clients;

/// <summary>
/// A workload process: writes, transactions, strong reads and weaker ones, until it is told to end. It prints, twice a
/// second, what it has done, and when each activity began its last success in each chain.
/// </summary>
internal sealed class StoreClient(CraqClient client, CallLog log, string name, int seed)
{
    private const int Writers = 2;
    private const int SessionSteps = 30;

    private static readonly TimeSpan s_pause = TimeSpan.FromMilliseconds(25);
    private static readonly TimeSpan s_report = TimeSpan.FromMilliseconds(500);

    // An impatient client learns of unknown outcomes, a patient one waits for the chain.
    private static readonly TimeSpan[] s_patience =
        [TimeSpan.FromSeconds(10), TimeSpan.FromSeconds(2), TimeSpan.FromSeconds(5)];

    private readonly StoreCalls _calls = new(client, log, name);
    private readonly long[] _writes = new long[StoreKeys.Chains];
    private readonly long[] _strong = new long[StoreKeys.Chains];
    private readonly long[] _weak = new long[StoreKeys.Chains];
    private readonly long[] _transactions = new long[StoreKeys.Groups];

    public static async Task<int> RunAsync(string nodes, string name, int seed, string file)
    {
        using var log = new CallLog(file);
        using var stop = new CancellationTokenSource();
        await using var client = await ConnectAsync(
            nodes, new CraqClientOptions { OperationTimeout = s_patience[seed % s_patience.Length] });
        _ = Task.Run(async () =>
        {
            while (await Console.In.ReadLineAsync() is { } line && line != "stop")
            {
            }

            stop.Cancel();
        });
        await new StoreClient(client, log, name, seed).WorkAsync(stop.Token);
        return 0;
    }

    /// <summary>As often as it takes: a client may be started in the middle of a fault.</summary>
    public static async Task<CraqClient> ConnectAsync(string nodes, CraqClientOptions options)
    {
        for (var attempt = 0; ; attempt++)
        {
            try
            {
                return await CraqClient.ConnectAsync(nodes, options);
            }
            catch (CorfuException) when (attempt < 60)
            {
                await Task.Delay(500);
            }
        }
    }

    private async Task WorkAsync(CancellationToken stop)
    {
        var workload = new StoreWorkload(_calls);
        for (var chain = 0; chain < StoreKeys.Chains; chain++)
        {
            while (!stop.IsCancellationRequested && !await workload.SetUpAsync(chain)) await Task.Delay(s_pause, stop);
        }

        List<Task> tasks = [ReportAsync(stop)];
        for (var i = 0; i < Writers; i++)
            tasks.Add(RepeatAsync(new Random(seed + i), _writes, workload.WriteAsync, stop));
        tasks.Add(RepeatAsync(new Random(seed + 10), _transactions, workload.TransactAsync, stop));
        tasks.Add(RepeatAsync(new Random(seed + 11), _strong, workload.ReadStrongAsync, stop));
        var (session, step, own) = (NewSession(0), 0, 0);
        tasks.Add(RepeatAsync(new Random(seed + 12), _weak, (random, chain) =>
        {
            // A session stays in one chain for most of its steps.
            if (++step % SessionSteps == 0) (session, own) = (NewSession(step), random.Next(StoreKeys.Chains));
            return workload.ReadWeakAsync(random, chain, session);
        }, stop, chain => step % 3 == 0 ? own : chain));
        await Task.WhenAll(tasks);
    }

    private StoreSession NewSession(int number) => new($"{name}-session-{number}", new CraqSession());

    private async Task ReportAsync(CancellationToken stop)
    {
        while (!stop.IsCancellationRequested)
        {
            var (writes, reads, unknown, refused) = _calls.Counts;
            Console.WriteLine($"counts {writes} {reads} {unknown} {refused}");
            Console.WriteLine($"progress {string.Join(' ', new[] { _writes, _strong, _weak, _transactions }
                .SelectMany(times => times).Select(time => time))}");
            await Quietly(s_report, stop);
        }
    }

    private static async Task RepeatAsync(Random random, long[] progress, Func<Random, int, Task<bool>> operation,
        CancellationToken stop, Func<int, int>? place = null)
    {
        // Chains take turns, so that a stalled one shows within a few operations.
        for (var next = random.Next(progress.Length); !stop.IsCancellationRequested; next++)
        {
            var began = CallLog.Now;
            var index = next % progress.Length;
            if (place is not null) index = place(index);
            if (await operation(random, index)) Volatile.Write(ref progress[index], began);
            await Quietly(s_pause * (0.5 + random.NextDouble()), stop);
        }
    }

    private static async Task Quietly(TimeSpan time, CancellationToken stop)
    {
        try
        {
            await Task.Delay(time, stop);
        }
        catch (OperationCanceledException)
        {
            // The end of the run.
        }
    }
}
