using System.Text;
using Corfu.FaultRuns.Clients;
using Corfu.Store;

namespace Corfu.FaultRuns.Services.Clients;

/// <summary>Puts and reads a few keys. A value names its write.</summary>
internal sealed class StoreWorker(CorfuStore store, HistoryWriter history, string name)
{
    private const int Keys = 12;
    private const int Attempts = 5;

    private long _number;

    public async Task<bool> WriteAsync(Random random)
    {
        var id = $"{name}-{ServicesClient.Text(Interlocked.Increment(ref _number))}";
        string[] keys = [.. Enumerable.Range(0, random.Next(1, 4)).Select(_ => Key(random)).Distinct()];
        // Some stand in the record, others in entries of their own.
        var value = Encoding.UTF8.GetBytes($"{id} ".PadRight(random.Next(3) == 0 ? 3_000 : 40, '.'));
        // Before anything is sent, so that a kill leaves it in doubt.
        history.Line($"put\t{id}\t{HistoryWriter.Now}\t{string.Join(',', keys)}");
        try
        {
            var result = await store.TransactAsync(
                StoreTransaction.Empty.Then([.. keys.Select(key => new StorePut(key, value))]));
            Done(id, result.Revision);
            return true;
        }
        catch (StoreInDoubtException doubt)
        {
            await ResolveAsync(id, doubt);
            return false;
        }
        catch (Exception e) when (ServicesClient.IsExpected(e))
        {
            // Nothing of it took effect: that is what any other exception promises.
            history.Line($"void\t{id}");
            return false;
        }
    }

    public async Task<bool> ReadAsync(Random random)
    {
        var began = HistoryWriter.Now;
        string[] keys = [.. Enumerable.Range(0, 3).Select(_ => Key(random)).Distinct()];
        var found = await store.GetManyAsync([.. keys.Select(static key => (StoreKey)key)]);
        var told = found.Entries.ToDictionary(static entry => $"{entry.Key}", static entry => IdIn(entry.Value));
        history.Line($"get\t{began}\t{HistoryWriter.Now}\t{ServicesClient.Text(found.Revision)}\t"
            + string.Join(' ', keys.Select(key => $"{key}={told.GetValueOrDefault(key, "")}")));
        return true;
    }

    public static string IdIn(ReadOnlyMemory<byte> value) => Encoding.UTF8.GetString(value.Span).Split(' ')[0];

    private static string Key(Random random) => $"k{random.Next(Keys)}";

    private void Done(string id, long revision) =>
        history.Line($"done\t{id}\t{HistoryWriter.Now}\t{ServicesClient.Text(revision)}");

    private async Task ResolveAsync(string id, StoreInDoubtException doubt)
    {
        for (var attempt = 0; attempt < Attempts; attempt++)
        {
            try
            {
                var fate = await store.ResolveAsync(doubt);
                if (fate.Outcome == StoreOutcome.Done) Done(id, fate.Revision!.Value);
                if (fate.Outcome is StoreOutcome.NotWritten or StoreOutcome.NothingChanged) history.Line($"void\t{id}");
                if (fate.Outcome != StoreOutcome.Unknown) return;
            }
            catch (Exception e) when (ServicesClient.IsExpected(e))
            {
                // The log cannot be reached, for a while.
            }
        }
    }
}
