using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Tango;
using Tango.Collections;

namespace Corfu.Simulation.Workload.Objects;

/// <summary>
/// Registers that are created, used and deleted under the same names again and again. To the model each is a key of its
/// own, by its id, and its deletion is a write: nothing of the old object may be seen in the new one.
/// </summary>
internal sealed class TemporaryWorkload(
    ClusterMonitor monitor, TxRecorder recorder, RecordedCalls calls, DeletedObjects deleted) : ITangoWorkload
{
    public static readonly string[] Names = ["t0", "t1"];

    // By name: the ids that opens have returned.
    private readonly Dictionary<string, HashSet<ObjectId>> _incarnations = [];

    public IEnumerable<Detour> Detours => [new(0.1, static client => !client.IsOld, UseAsync)];

    private async Task UseAsync(TangoClient client, SimRandom random)
    {
        string name = random.Pick(Names);
        double dice = random.NextDouble();
        try
        {
            if (dice < 0.15) await DeleteAsync(client, name);
            else if (dice < 0.3 || !client.Temporary.ContainsKey(name)) await OpenAsync(client, name);
            else if (dice < 0.5)
            {
                TangoRegister<string> handle = client.Temporary[name];
                await calls.ReadDeletableAsync(client, handle, () => handle.ReadAsync());
            }
            else await WriteAsync(client, client.Temporary[name], random);
        }
        catch (TangoObjectDeletedException)
        {
            monitor.Mark("deleted object refused");
            if (client.Temporary.Remove(name, out TangoRegister<string>? gone)
                && !client.Runtime.Services.Playback.Hosted.IsOpen(DeletedObjects.IdOf(gone)))
                monitor.Mark("deleted object left memory");
        }
        catch (TangoDirectoryException)
        {
            monitor.Mark("name was free or deleted meanwhile");
        }
        catch (Exception e) when (e is TangoInDoubtException || LogRefusal.Is(e))
        {
            monitor.Mark("deletion or creation in doubt");
        }
    }

    private async Task OpenAsync(TangoClient client, string name)
    {
        IReadOnlySet<ObjectId> before = deleted.Now();
        TangoRegister<string> handle = await client.Runtime.OpenAsync<TangoRegister<string>>(name, OpenMode.Create);
        ObjectId id = DeletedObjects.IdOf(handle);
        if (before.Contains(id))
            monitor.Found(CheckerNames.Deleted, $"{id} was deleted before, and '{name}' is opened as it");
        if (!_incarnations.TryGetValue(name, out HashSet<ObjectId>? ids)) _incarnations[name] = ids = [];
        if (ids.Add(id) && ids.Count > 1) monitor.Mark("name of a deleted object used again");
        client.Temporary[name] = handle;
    }

    // A name has one object at a time: those that are known when a deletion begins are gone when it is acknowledged.
    private async Task DeleteAsync(TangoClient client, string name)
    {
        ObjectId[] known = [.. _incarnations.GetValueOrDefault(name, [])];
        await client.Runtime.Directory.DeleteAsync(name);
        deleted.Add(known);
        monitor.Mark("object deleted");
    }

    private async Task WriteAsync(TangoClient client, TangoRegister<string> handle, SimRandom random)
    {
        var op = new TxAttempt(recorder, client.Number);
        await using TangoTransaction tx = client.Runtime.BeginTx();
        string key = random.Pick(TangoClient.SharedKeys);
        string own = DeletedObjects.KeyOf(handle);
        if (random.Chance(0.5)) op.Read(own, await handle.ReadAsync());
        if (random.Chance(0.5)) op.Read(key, await client.ReadAsync(key));
        if (random.Chance(0.5)) await client.WriteAsync(key, op.Write(key, 0));
        await handle.WriteAsync(op.Write(own, 0));
        op.Started(tx);
        op.Decided(await tx.EndTxAsync());
    }
}
