using Tango;
using Tango.Collections;

namespace Corfu.Load;

/// <summary>Measurements of <c>memory</c>, in one runtime.</summary>
internal sealed class MemoryRun(TangoRuntime runtime)
{
    private const int AtOnce = 64;
    private const double Megabyte = 1 << 20;

    // The second half of a run may add so much: what the directory keeps of deletions until the log is trimmed, and
    // buffers. With all that is deleted kept, it would be 100 MB; with a version of each item, 8.
    private const double BoundOfHalf = 4;

    // Bytes of one deleted object's state.
    private const int ObjectSize = 20_000;

    // Values of the large member beside which feeds are read: a copy for each feed would be 1,000 MB.
    private const int LargeValues = 64;
    private const int LargeValueSize = 320_000;
    private const double BoundOfFeeds = 16;

    private static readonly TimeSpan s_timeToLive = TimeSpan.FromMinutes(5);

    /// <summary>Objects are opened, filled and deleted.</summary>
    public async Task<MemoryGrowth> DeleteAsync(int count, CancellationToken cancellationToken)
    {
        // Memory that the first object needs is no growth.
        await DeleteAsync("first", 0, AtOnce, cancellationToken);
        return await HalvesAsync(
            (from, to) => DeleteAsync("object", from, to, cancellationToken), count, cancellationToken);
    }

    /// <summary>Items go through all queues in turn: each is added, received and completed.</summary>
    public async Task<MemoryGrowth> WorkAsync(int queues, int items, CancellationToken cancellationToken)
    {
        var opened = new TangoWorkQueue<int>[queues];
        await ForAsync(0, queues, async i => opened[i] = await runtime.OpenAsync<TangoWorkQueue<int>>(
            $"queue {i}", OpenMode.Create, cancellationToken), cancellationToken);
        return await HalvesAsync(
            (from, to) => ForAsync(from, to, i => PassAsync(opened[i % queues], i, cancellationToken),
                cancellationToken),
            items, cancellationToken);
    }

    /// <summary>Feeds of a small object are followed, whose group has a large one.</summary>
    public async Task<MemoryGrowth> FollowAsync(int feeds, CancellationToken cancellationToken)
    {
        TangoCounter small = null!;
        TangoDictionary<int, byte[]> large = null!;
        await runtime.OpenGroupAsync("group", group =>
        {
            small = group.Add<TangoCounter>("small");
            large = group.Add<TangoDictionary<int, byte[]>>("large");
        }, cancellationToken);
        for (var i = 0; i < LargeValues; i++)
            await large.SetAsync(i, new byte[LargeValueSize], cancellationToken);
        await runtime.Checkpoints.WriteAsync(small, cancellationToken);
        var before = await MeasureAsync(cancellationToken);
        var followed = new List<IAsyncEnumerator<TangoChange<TangoCounter>>>();
        try
        {
            for (var i = 0; i < feeds; i++)
            {
                var feed = runtime.History.ChangesAsync<TangoCounter>("small", cancellationToken: cancellationToken)
                    .GetAsyncEnumerator(cancellationToken);
                followed.Add(feed);
                // The feed starts when it is first asked.
                var next = feed.MoveNextAsync().AsTask();
                while (!next.IsCompleted)
                {
                    await small.IncrementAsync(1, cancellationToken);
                    await Task.WhenAny(next, Task.Delay(10, cancellationToken));
                }

                await next;
            }

            var grown = await MeasureAsync(cancellationToken) - before;
            return new MemoryGrowth(grown, grown, BoundOfFeeds);
        }
        finally
        {
            foreach (var feed in followed) await feed.DisposeAsync();
        }
    }

    private async Task DeleteAsync(string name, int from, int to, CancellationToken cancellationToken) =>
        await ForAsync(from, to, async i =>
        {
            var one = await runtime.OpenAsync<TangoDictionary<int, byte[]>>(
                $"{name} {i}", OpenMode.Create, cancellationToken);
            await one.SetAsync(0, new byte[ObjectSize], cancellationToken);
            await runtime.Directory.DeleteAsync($"{name} {i}", cancellationToken);
        }, cancellationToken);

    private static async ValueTask PassAsync(
        TangoWorkQueue<int> queue, int item, CancellationToken cancellationToken)
    {
        await queue.EnqueueAsync(item, cancellationToken);
        // Another caller may have taken it, and left its own.
        await using var delivery = await queue.TryReceiveAsync(s_timeToLive, cancellationToken);
        if (delivery is not null) await queue.CompleteAsync(delivery, cancellationToken);
    }

    private async Task<MemoryGrowth> HalvesAsync(
        Func<int, int, Task> pass, int count, CancellationToken cancellationToken)
    {
        var before = await MeasureAsync(cancellationToken);
        await pass(0, count / 2);
        var half = await MeasureAsync(cancellationToken);
        await pass(count / 2, count);
        var after = await MeasureAsync(cancellationToken);
        return new MemoryGrowth(after - before, after - half, BoundOfHalf);
    }

    /// <summary>In MB, when everything is played.</summary>
    private async Task<double> MeasureAsync(CancellationToken cancellationToken)
    {
        // A deleted object leaves at the end of a cycle.
        for (var i = 0; i < 2; i++) await runtime.SyncAsync(cancellationToken);
        for (var i = 0; i < 3; i++)
        {
            GC.Collect(GC.MaxGeneration, GCCollectionMode.Forced, blocking: true, compacting: true);
            GC.WaitForPendingFinalizers();
        }

        return GC.GetTotalMemory(forceFullCollection: true) / Megabyte;
    }

    private static Task ForAsync(
        int from, int to, Func<int, ValueTask> body, CancellationToken cancellationToken) => Parallel.ForAsync(
            from, to, new ParallelOptions { MaxDegreeOfParallelism = AtOnce, CancellationToken = cancellationToken },
            (i, _) => body(i));
}
