using Corfu.Simulation.Kernel;
using Tango;
using Tango.Collections;
using Tango.Runtime;

namespace Corfu.Simulation.Workload;

// Registers that are created, used and deleted under the same names again and again. To the model each is a key of its
// own, by its id, and its deletion is a write: nothing of the old object may be seen in the new one.
public sealed partial class TangoWorkload
{
    private const double ShareOfTemporary = 0.1;
    private static readonly string[] s_temporary = ["t0", "t1"];

    // By name: the ids that opens have returned.
    private readonly Dictionary<string, HashSet<ObjectId>> _incarnations = [];

    // Deleted by a call that was acknowledged.
    private readonly HashSet<ObjectId> _gone = [];

    private async Task UseTemporaryAsync(int client, TangoClient tango, SimRandom random)
    {
        string name = random.Pick(s_temporary);
        double dice = random.NextDouble();
        try
        {
            if (dice < 0.15) await DeleteTemporaryAsync(tango, name);
            else if (dice < 0.3 || !tango.Temporary.ContainsKey(name)) await OpenTemporaryAsync(tango, name);
            else if (dice < 0.5)
            {
                TangoRegister<string> handle = tango.Temporary[name];
                await ReadDeletableAsync(client, tango, handle, () => handle.ReadAsync());
            }
            else await WriteTemporaryAsync(client, tango, tango.Temporary[name], random);
        }
        catch (TangoObjectDeletedException)
        {
            monitor.Mark("deleted object refused");
            if (tango.Temporary.Remove(name, out TangoRegister<string>? gone)
                && !tango.Runtime.Services.Playback.Hosted.IsOpen(IdOf(gone)))
                monitor.Mark("deleted object left memory");
        }
        catch (TangoDirectoryException)
        {
            monitor.Mark("name was free or deleted meanwhile");
        }
        catch (Exception e) when (e is TangoInDoubtException || IsLogsRefusal(e))
        {
            monitor.Mark("deletion or creation in doubt");
        }
    }

    private async Task OpenTemporaryAsync(TangoClient tango, string name)
    {
        ObjectId[] gone = [.. _gone];
        TangoRegister<string> handle = await tango.Runtime.OpenAsync<TangoRegister<string>>(name, OpenMode.Create);
        if (gone.Contains(IdOf(handle)))
            monitor.Found(CheckerNames.Deleted, $"{IdOf(handle)} was deleted before, and '{name}' is opened as it");
        if (!_incarnations.TryGetValue(name, out HashSet<ObjectId>? ids)) _incarnations[name] = ids = [];
        if (ids.Add(IdOf(handle)) && ids.Count > 1) monitor.Mark("name of a deleted object used again");
        tango.Temporary[name] = handle;
    }

    // A name has one object at a time: whatever is deleted now, those that are known are gone when it is.
    private async Task DeleteTemporaryAsync(TangoClient tango, string name)
    {
        ObjectId[] known = [.. _incarnations.GetValueOrDefault(name, [])];
        await tango.Runtime.Directory.DeleteAsync(name);
        _gone.UnionWith(known);
        monitor.Mark("object deleted");
    }

    private async Task ReadDeletableAsync(
        int client, TangoClient tango, TangoObject handle, Func<ValueTask<string?>> read)
    {
        bool isGone = _gone.Contains(IdOf(handle));
        await ReadAsync(client, KeyOf(handle), read);
        if (isGone)
            monitor.Found(CheckerNames.Deleted,
                $"client {client} reads {IdOf(handle)}, which was deleted before, at {tango.Runtime.Log.PlayedTo}");
    }

    private async Task WriteTemporaryAsync(
        int client, TangoClient tango, TangoRegister<string> handle, SimRandom random)
    {
        var op = new TxAttempt(_recorder, client);
        await using TangoTransaction tx = tango.Runtime.BeginTx();
        string key = random.Pick(s_keys);
        if (random.Chance(0.5)) op.Read(KeyOf(handle), await handle.ReadAsync());
        if (random.Chance(0.5)) op.Read(key, await tango.ReadAsync(key));
        if (random.Chance(0.5)) await tango.WriteAsync(key, op.Write(key, 0));
        await handle.WriteAsync(op.Write(KeyOf(handle), 0));
        op.Started(tx);
        op.Decided(await tx.EndTxAsync());
    }

    private static ObjectId IdOf(TangoObject handle) => ((ObjectHost)handle.Host).Entry.Id;

    private static string KeyOf(TangoObject temporary) => TxHistory.KeyOfTemporary(IdOf(temporary).Value);
}
