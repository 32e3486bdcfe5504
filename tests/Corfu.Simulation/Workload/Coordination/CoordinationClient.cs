using Corfu.Simulation.Cluster;
using Corfu.Simulation.Workload.Objects;
using Microsoft.Extensions.Logging;
using Tango;
using Tango.Collections;

namespace Corfu.Simulation.Workload.Coordination;

/// <summary>The objects of one client that coordinates with others: a lock and what it guards, a queue and what was
/// done of it, and numbered slots.</summary>
internal sealed class CoordinationClient
{
    public const string LockName = "lock";
    public const string GuardedName = "guarded";
    public const string QueueName = "queue";
    public const string DoneName = "done";
    public const string SlotsName = "slots";

    private CoordinationClient(SimClientNode node, TangoOptions options, ILogger logger)
    {
        (Number, Time) = (node.Number, node.Process!.Time);
        Runtime = new TangoRuntime(
            node.Log!, node.OpenCursor, Time, node.Entropy, options, logger, TangoClient.LoopsHere());
    }

    public int Number { get; }

    public TimeProvider Time { get; }

    public TangoRuntime Runtime { get; }

    public TangoLock Lock { get; private set; } = null!;

    public TangoRegister<string> Guarded { get; private set; } = null!;

    public TangoWorkQueue<string> Queue { get; private set; } = null!;

    public TangoList<string> Done { get; private set; } = null!;

    public TangoSortedDictionary<string, string> Slots { get; private set; } = null!;

    /// <param name="isGroup">Whether all are one group: else guarded transactions have decision records.</param>
    public static async Task<CoordinationClient> OpenAsync(
        SimClientNode node, bool isGroup, TangoOptions options, ILogger logger)
    {
        var client = new CoordinationClient(node, options, logger);
        TangoRuntime runtime = client.Runtime;
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

    /// <summary>Adds all updates of an object that the log has.</summary>
    public async Task ReadChangesAsync<T>(string name, List<TangoChange<T>> changes)
        where T : TangoObject, ITangoObject<T>
    {
        await Runtime.SyncAsync();
        LogPosition end = Runtime.Log.PlayedTo;
        var prompt = new FeedOptions { ProgressEvery = 1 };
        await foreach (TangoChange<T> change in Runtime.History.ChangesAsync<T>(name, LogPosition.Zero, prompt))
        {
            if (change.Kind == TangoChangeKind.Update) changes.Add(change);
            else if (change.Place.Position >= end) return;
        }
    }
}
