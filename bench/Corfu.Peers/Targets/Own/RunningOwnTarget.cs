using Corfu.Client;
using Corfu.Hosting;
using Tango;
using Tango.Collections;

namespace Corfu.Peers;

/// <summary>A cluster of processes, and a runtime in this one that hosts the dictionary.</summary>
internal sealed class RunningOwnTarget : IRunningTarget
{
    private readonly ProcessCluster _processes;
    private readonly string _folder;
    private readonly CorfuClient _client;
    private readonly TangoRuntime _runtime;

    private RunningOwnTarget(ProcessCluster processes, string folder, ClusterState state, CorfuClient client,
        TangoRuntime runtime, IReadOnlyList<Operation> operations)
    {
        (_processes, _folder, _client, _runtime) = (processes, folder, client, runtime);
        Operations = operations;
        ProcessIds = [.. state.Nodes.Select(node => node.ProcessId).OfType<int>().Distinct()];
    }

    public IReadOnlyList<Operation> Operations { get; }

    public IReadOnlyList<int> ProcessIds { get; }

    public string Log => "";

    public static async Task<IRunningTarget> OpenAsync(ProcessCluster processes, string folder, ClusterState state,
        LoadShape load, CancellationToken cancellationToken)
    {
        var client = await CorfuClient.ConnectAsync(state.ConnectionString, cancellationToken: cancellationToken);
        var runtime = new TangoRuntime(client);
        try
        {
            var dictionary = await runtime.OpenAsync<TangoDictionary<string, byte[]>>("peers/values", OpenMode.Create,
                cancellationToken: cancellationToken);
            var keys = Values.Keys(load);
            var value = Values.Value(load);
            await dictionary.SetAsync(Values.ReadKey, value, cancellationToken);
            return new RunningOwnTarget(processes, folder, state, client, runtime,
            [
                new Operation(Operation.Append, true, async _ => (await client.AppendAsync(value, [])).Require()),
                new Operation(Operation.Write, true, caller => dictionary.SetAsync(keys[caller], value)),
                new Operation(Operation.Read, false, async _ =>
                {
                    var found = await dictionary.TryGetAsync(Values.ReadKey);
                    Values.Require(found.Value?.Length ?? 0, load);
                }),
            ]);
        }
        catch
        {
            await runtime.DisposeAsync();
            await client.DisposeAsync();
            throw;
        }
    }

    public async ValueTask DisposeAsync()
    {
        try
        {
            await _runtime.DisposeAsync();
            await _client.DisposeAsync();
        }
        finally
        {
            await _processes.DownAsync(_folder);
        }
    }
}
