using System.Collections.Immutable;
using Corfu.Client;
using Corfu.Protocol;
using Tango;
using Tango.Collections;

namespace Corfu.Load;

/// <summary>What is done to a cluster through the client, as a service would.</summary>
internal static class ClusterWorkloads
{
    public static async Task<IWorkload> OpenAsync(WorkloadKind kind, string target)
    {
        var client = await CorfuClient.ConnectAsync(target);
        return kind switch
        {
            WorkloadKind.Append => new AppendWorkload(client),
            WorkloadKind.Check => new CheckWorkload(client),
            WorkloadKind.Transaction => await TransactionWorkload.OpenAsync(client),
            _ => throw new ArgumentOutOfRangeException(nameof(kind), kind, "No workload of a cluster."),
        };
    }

    private sealed class AppendWorkload(CorfuClient client) : IWorkload
    {
        public Func<int, ValueTask> Prepare(int callers, int size)
        {
            var payload = new byte[size];
            return async _ => (await client.AppendAsync(payload, [])).Require();
        }

        public ValueTask DisposeAsync() => client.DisposeAsync();
    }

    private sealed class CheckWorkload(CorfuClient client) : IWorkload
    {
        public Func<int, ValueTask> Prepare(int callers, int size) =>
            async _ => await client.CheckAsync(ImmutableArray<StreamId>.Empty);

        public ValueTask DisposeAsync() => client.DisposeAsync();
    }
}
