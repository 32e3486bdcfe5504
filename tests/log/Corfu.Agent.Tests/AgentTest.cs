using System.Collections.Immutable;
using System.Text;
using Corfu.Client;
using Corfu.Client.Tests.Cluster;

namespace Corfu.Agent.Tests;

internal static class AgentTest
{
    public static byte[] Bytes(long i) => Encoding.UTF8.GetBytes($"{i}");

    public static ClusterOperations OperationsOf(TestCluster cluster, CorfuClient client) =>
        new(client.Cluster, cluster.Transport, TimeProvider.System);

    public static Rebuilder Rebuilder(TestCluster cluster, CorfuClient client, RebuildOptions? options = null) =>
        new(client.Cluster, cluster.Transport, TimeProvider.System,
            options: options ?? new RebuildOptions { Batch = 16, RetryDelay = TimeSpan.FromMilliseconds(1) });

    public static async Task AppendAsync(CorfuClient client, int from, int count,
        params ImmutableArray<StreamId> streams)
    {
        for (var i = from; i < from + count; i++)
            Assert.Equal(i, (await client.AppendAsync(Bytes(i), streams)).Position.Offset);
    }

    public static async Task AssertWholeAsync(CorfuClient client, int count)
    {
        var read = await client.ReadManyAsync([.. Enumerable.Range(0, count).Select(i => new LogPosition(i))]);
        for (var i = 0; i < count; i++) Assert.Equal(Bytes(i), read[i].Entry?.Payload.ToArray());
    }
}
