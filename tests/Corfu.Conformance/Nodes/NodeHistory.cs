using Craq;
using Craq.Protocol;

namespace Corfu.Conformance;

/// <summary>Random work of a node's chains: writes, deletes, batches, clears, chains that stay dirty for
/// long.</summary>
internal static class NodeHistory
{
    /// <param name="durable">Called when everything appended so far is durable.</param>
    public static async Task RunAsync(TestNode node, Random random, int records, Action? durable = null)
    {
        for (var i = 0; i < records; i++)
        {
            var chain = TestNode.Chain(random.Next(4));
            switch (random.Next(12))
            {
                case 0 when random.Next(20) == 0:
                    await node.WriteAsync(chain);
                    break;
                case < 4:
                    await node.WriteAsync(chain, TestNode.Delete(Key(random)));
                    break;
                case < 6:
                    await node.WriteAsync(chain,
                        [.. Enumerable.Range(0, random.Next(2, 6)).Select(_ => Key(random)).Distinct()
                            .Select(key => random.Next(4) == 0 ? TestNode.Delete(key) : Put(key, random))]);
                    break;
                default:
                    await node.WriteAsync(chain, Put(Key(random), random));
                    break;
            }

            if (random.Next(8) != 0) continue;
            await node.Store.WaitDurableAsync();
            durable?.Invoke();
            if (random.Next(2) == 0) Advance(node, TestNode.Chain(random.Next(4)), random);
        }
    }

    // Some of what is durable becomes clean, in one chain.
    private static void Advance(TestNode node, ChainId chain, Random random) => node.Locked(() =>
    {
        var held = node.Of(chain);
        var until = node.Store.DurableUntil;
        var isAll = random.Next(2) == 0;
        var versions = held.DurableVersions(until);
        if (versions.Count > 0) held.Advance(versions[isAll ? versions.Count - 1 : random.Next(versions.Count)]);
        return random.Next(3) == 0 && held.TryLogMark();
    });

    private static ObjectKey Key(Random random) => $"key {random.Next(40)}";

    private static ObjectWrite Put(ObjectKey key, Random random) =>
        TestNode.Put(key, random.Next(5) == 0 ? random.Next(3000) : random.Next(100), (uint)random.Next(1000));
}
