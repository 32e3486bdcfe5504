using Corfu.Client;
using Tango;
using Tango.Collections;

namespace Corfu.Load;

/// <summary>Writes a large dictionary, makes its checkpoint, and opens it as a new process would.</summary>
internal static class ObjectOpening
{
    private const string Name = "live";
    private const int InFlight = 4096;

    // The checkpoint is made on demand, and playback must find the history.
    private static readonly TangoOptions s_options = new() { Checkpoints = null };

    public static async Task WriteAsync(string cluster, int updates, int keys, int size,
        CancellationToken cancellationToken = default)
    {
        await using var client = await CorfuClient.ConnectAsync(cluster);
        await using var runtime = new TangoRuntime(client, s_options);
        var live = await runtime.OpenWriteOnlyAsync<TangoDictionary<long, string>>(Name, OpenMode.Create);
        for (var next = 0; next < updates; next += InFlight)
        {
            cancellationToken.ThrowIfCancellationRequested();
            await Task.WhenAll(Enumerable.Range(next, Math.Min(InFlight, updates - next))
                .Select(i => live.SetAsync(i % keys, $"{i} ".PadRight(size, '.')).AsTask()));
        }
    }

    /// <returns>Payload bytes of its entries.</returns>
    public static async Task<long> CheckpointAsync(string cluster)
    {
        await using var client = await CorfuClient.ConnectAsync(cluster);
        await using var runtime = new TangoRuntime(client, s_options);
        var live = await runtime.OpenAsync<TangoDictionary<long, string>>(Name, OpenMode.Create);
        var before = (await client.CheckAsync([])).Tail;
        await runtime.Checkpoints.WriteAsync(live);
        var bytes = 0L;
        for (var position = before; position < (await client.CheckAsync([])).Tail; position = position.Next)
            bytes += (await client.ReadManyAsync([position]))[0].Entry?.Payload.Length ?? 0;
        return bytes;
    }

    // The directory is open before: the object alone counts.
    public static async Task<ObjectRound> OpenAsync(string cluster, int expected)
    {
        await using var client = await CorfuClient.ConnectAsync(cluster);
        await using var runtime = new TangoRuntime(client, s_options);
        await runtime.Directory.ListAsync();
        var memory = GC.GetTotalMemory(forceFullCollection: true);
        var busy = Environment.CpuUsage.TotalTime;
        var started = TimeProvider.System.GetTimestamp();
        var live = await runtime.OpenAsync<TangoDictionary<long, string>>(Name, OpenMode.Create);
        var count = await live.CountAsync();
        var seconds = TimeProvider.System.GetElapsedTime(started).TotalSeconds;
        busy = Environment.CpuUsage.TotalTime - busy;
        if (count != expected) throw new InvalidDataException($"It has {count} entries, not {expected}.");
        memory = GC.GetTotalMemory(forceFullCollection: true) - memory;
        GC.KeepAlive(live);
        return new ObjectRound(seconds, busy.TotalSeconds, memory);
    }
}
