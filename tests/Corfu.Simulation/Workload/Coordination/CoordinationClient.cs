using Microsoft.Extensions.Logging;
using Tango;
using Tango.Collections;

namespace Corfu.Simulation.Workload;

/// <summary>The objects of one client that coordinates with others: a lock and what it guards, a queue and what was
/// done of it, and numbered slots.</summary>
public sealed class CoordinationClient
{
    public const string LockName = "lock";
    public const string GuardedName = "guarded";
    public const string QueueName = "queue";
    public const string DoneName = "done";
    public const string SlotsName = "slots";

    private CoordinationClient(TangoRuntime runtime) => Runtime = runtime;

    public TangoRuntime Runtime { get; }

    public TangoLock Lock { get; private set; } = null!;

    public TangoRegister<string> Guarded { get; private set; } = null!;

    public TangoWorkQueue<string> Queue { get; private set; } = null!;

    public TangoList<string> Done { get; private set; } = null!;

    public TangoSortedDictionary<string, string> Slots { get; private set; } = null!;

    /// <param name="isGroup">Whether all are one group: else guarded transactions have decision records.</param>
    public static async Task<CoordinationClient> OpenAsync(
        ICorfuLog log, Func<IStreamCursor> openCursor, TimeProvider time, IEntropy entropy, bool isGroup,
        TangoOptions options, ILogger logger)
    {
        var runtime = new TangoRuntime(log, openCursor, time, entropy, options, logger, TangoClient.LoopsHere());
        var client = new CoordinationClient(runtime);
        if (isGroup)
        {
            await runtime.OpenGroupAsync("coordination", group =>
            {
                client.Lock = group.Add<TangoLock>(LockName);
                client.Guarded = group.Add<TangoRegister<string>>(GuardedName);
                client.Queue = group.Add<TangoWorkQueue<string>>(QueueName);
                client.Done = group.Add<TangoList<string>>(DoneName);
                client.Slots = group.Add<TangoSortedDictionary<string, string>>(SlotsName);
            });
            return client;
        }

        client.Lock = await runtime.OpenAsync<TangoLock>(LockName, OpenMode.Create);
        client.Guarded = await runtime.OpenAsync<TangoRegister<string>>(GuardedName, OpenMode.Create);
        client.Queue = await runtime.OpenAsync<TangoWorkQueue<string>>(QueueName, OpenMode.Create);
        client.Done = await runtime.OpenAsync<TangoList<string>>(DoneName, OpenMode.Create);
        client.Slots = await runtime.OpenAsync<TangoSortedDictionary<string, string>>(SlotsName, OpenMode.Create);
        return client;
    }
}
