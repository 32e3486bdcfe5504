using Craq;

namespace Corfu.FaultRuns.Objects.Clients;

/// <summary>Reads all objects with a fresh client, strongly and more than once: the replicas of a chain take
/// turns.</summary>
internal static class StoreAudit
{
    private const int Rounds = 4;
    private const int KeysPerRead = 16;
    private const int Attempts = 6;

    /// <param name="objects">A file with a line for each object: chain, tab, key.</param>
    public static async Task<int> RunAsync(string nodes, string objects, string file)
    {
        using var log = new CallLog(file);
        await using var client = await StoreClient.ConnectAsync(nodes, new CraqClientOptions());
        var calls = new StoreCalls(client, log, "audit");
        var byChain = File.ReadAllLines(objects).Select(line => line.Split('\t'))
            .ToLookup(words => words[0], words => words[1]);
        var isComplete = true;
        for (var round = 0; round < Rounds; round++)
        {
            foreach (var chain in byChain)
            {
                foreach (var keys in chain.Order(StringComparer.Ordinal).Chunk(KeysPerRead))
                    isComplete &= await IsReadAsync(calls, chain.Key, keys);
            }
        }

        Console.WriteLine($"audited {isComplete}");
        return isComplete ? 0 : 1;
    }

    private static async Task<bool> IsReadAsync(StoreCalls calls, string chain, string[] keys)
    {
        for (var attempt = 0; attempt < Attempts; attempt++)
        {
            if ((await calls.ReadAsync(chain, keys, ReadPromise.Strong)).Fate == ObjectFate.Done) return true;
        }

        return false;
    }
}
