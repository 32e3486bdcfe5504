using System.Collections.Concurrent;
using Corfu.Client;
using Corfu.Hosting;
using Tango;
using Tango.Collections;

namespace Corfu.FaultRuns.Contexts;

/// <summary>
/// Callers whose contexts end or block make the first calls of a process; four callers on the thread pool follow. None
/// of these may wait for a guest's context, and nothing that was acknowledged to them may be missing.
/// </summary>
public sealed class ContextRun(int guests, TextWriter output)
{
    private const int Callers = 4;
    private const int Rounds = 25;

    // A call that hangs does so for ever.
    private static readonly TimeSpan s_limit = TimeSpan.FromSeconds(60);

    private static readonly Guest[] s_kinds =
    [
        new Guest.EndingLoop(), new Guest.BlockingLoop(), new Guest.ExclusiveScheduler(), new Guest.EndingActivation(),
    ];

    public async Task<int> RunAsync(CancellationToken stop)
    {
        await using var cluster = await EmbeddedCluster.StartAsync(
            new EmbeddedClusterOptions { Units = 2, Replicas = 2 });
        var (hung, lost) = (0, 0);
        foreach (var kind in s_kinds)
        {
            var acknowledged = new ConcurrentBag<string>();
            var hanging = 0;
            for (var i = 0; i < guests && hanging == 0; i++)
            {
                stop.ThrowIfCancellationRequested();
                hanging = await TryAsync(cluster, kind, $"{Array.IndexOf(s_kinds, kind)}/{i}", acknowledged);
            }

            var missing = await CountMissingAsync(cluster, acknowledged);
            output.WriteLine($"{kind.Name}: acknowledged {acknowledged.Count} hung {hanging} lost {missing}");
            hung += hanging;
            lost += missing;
        }

        output.WriteLine($"contexts {s_kinds.Length} hung={hung} lost={lost}");
        return hung + lost == 0 ? 0 : 1;
    }

    /// <returns>How many callers wait for ever.</returns>
    private static async Task<int> TryAsync(
        EmbeddedCluster cluster, Guest guest, string prefix, ConcurrentBag<string> acknowledged)
    {
        var client = await cluster.ConnectAsync();
        var runtime = new TangoRuntime(client);
        var words = await runtime.OpenAsync<TangoDictionary<string, string>>("words", OpenMode.Create);
        var release = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var own = await guest.EnterAsync(() => CallAsync(runtime, words, $"{prefix}/guest"), release.Task);
        List<Task> calls =
        [
            .. Enumerable.Range(0, Callers).Select(caller => Task.Run(async () =>
            {
                for (var round = 0; round < Rounds; round++)
                {
                    var key = $"{prefix}/{caller}/{round}";
                    await CallAsync(runtime, words, key);
                    acknowledged.Add(key);
                }
            })),
        ];
        var hung = await CountHungAsync(calls);
        release.SetResult();
        if (own is not null) hung += await CountHungAsync([own]);
        // A call that hangs would hold up the end, too.
        if (hung > 0) return hung;
        await runtime.DisposeAsync();
        await client.DisposeAsync();
        return 0;
    }

    /// <summary>Uses what callers share: openings, positions, sending, playback, checks.</summary>
    private static async Task CallAsync(
        TangoRuntime runtime, TangoDictionary<string, string> words, string key)
    {
        await words.SetAsync(key, "set");
        var outcome = await runtime.RunTransactionAsync(
            async _ => await words.SetAsync(key, (await words.TryGetAsync(key)).Value + " twice"));
        outcome.ThrowIfNotCommitted();
        await runtime.OpenAsync<TangoCounter>("counter", OpenMode.Create);
    }

    private static async Task<int> CountHungAsync(IReadOnlyList<Task> calls)
    {
        await Task.WhenAny(Task.WhenAll(calls), Task.Delay(s_limit));
        foreach (var failed in calls.Where(static call => call.IsFaulted)) await failed;
        return calls.Count(static call => !call.IsCompleted);
    }

    private static async Task<int> CountMissingAsync(EmbeddedCluster cluster, IEnumerable<string> acknowledged)
    {
        await using var client = await cluster.ConnectAsync();
        await using var runtime = new TangoRuntime(client);
        var words = await runtime.OpenAsync<TangoDictionary<string, string>>("words", OpenMode.Create);
        var found = await words.SnapshotAsync();
        return acknowledged.Count(key => found.GetValueOrDefault(key) != "set twice");
    }
}
