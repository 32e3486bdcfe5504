using System.Collections.Immutable;
using Corfu.Client;
using Tango;
using Tango.Collections;

namespace Corfu.Load;

/// <summary>Workloads of a cluster through the client, as a service would have.</summary>
internal static class ClusterWorkloads
{
    public static async Task<IWorkload> OpenAsync(WorkloadKind kind, string target, WorkloadSetting setting,
        Sessions sessions) => kind switch
        {
            WorkloadKind.Append => new AppendWorkload(await sessions.ClientAsync(target)),
            WorkloadKind.Check => new CheckWorkload(await sessions.ClientAsync(target)),
            WorkloadKind.Read => new ReadWorkload(await sessions.ClientAsync(target), setting.Batch),
            WorkloadKind.MultiAppend => new MultiAppendWorkload(await sessions.ClientAsync(target), setting.Streams),
            WorkloadKind.Transaction => await TransactionWorkload.OpenAsync(await sessions.RuntimeAsync(target)),
            WorkloadKind.ObjectRead => new ObjectReadWorkload(await RegisterAsync(target, setting, sessions)),
            WorkloadKind.ObjectUpdate => new ObjectUpdateWorkload(await RegisterAsync(target, setting, sessions)),
            WorkloadKind.DictionarySet => new DictionarySetWorkload(
                await (await sessions.RuntimeAsync(target)).OpenAsync<TangoDictionary<string, byte[]>>(
                    setting.Object, OpenMode.Create)),
            WorkloadKind.KeyTransaction =>
                await KeyTransactionWorkload.OpenAsync(
                    await sessions.RuntimeAsync(target, setting.Decisions), setting),
            WorkloadKind.LedgerAppend => await LedgerWorkload.OpenAsync(
                await sessions.ClientAsync(target), await sessions.RuntimeAsync(target)),
            WorkloadKind.StorePut or WorkloadKind.StoreGet => await StoreWorkload.OpenAsync(
                kind, setting, await sessions.ClientAsync(target), await sessions.RuntimeAsync(target)),
            WorkloadKind.MachineCommand => await MachineWorkload.OpenAsync(
                setting.Object, await sessions.ClientAsync(target)),
            _ => throw new ArgumentOutOfRangeException(nameof(kind), kind, "No workload of a cluster."),
        };

    private static async Task<TangoRegister<long>> RegisterAsync(string target, WorkloadSetting setting,
        Sessions sessions) =>
        await (await sessions.RuntimeAsync(target)).OpenAsync<TangoRegister<long>>(setting.Object, OpenMode.Create);

    // The sessions own the clients.
    private abstract class Workload : IWorkload
    {
        public abstract Func<int, ValueTask> Prepare(int callers, int size);

        public ValueTask DisposeAsync() => default;
    }

    private sealed class AppendWorkload(CorfuClient client) : Workload
    {
        public override Func<int, ValueTask> Prepare(int callers, int size)
        {
            var payload = new byte[size];
            return async _ => (await client.AppendAsync(payload, [])).Require();
        }
    }

    private sealed class MultiAppendWorkload(CorfuClient client, int streams) : Workload
    {
        private const int AllStreams = 1024;

        public override Func<int, ValueTask> Prepare(int callers, int size)
        {
            var payload = new byte[size];
            var random = Enumerable.Range(0, callers).Select(caller => new Random(caller)).ToArray();
            return async caller =>
            {
                var first = random[caller].Next(AllStreams);
                ImmutableArray<StreamId> chosen = [.. Enumerable.Range(first, streams)
                    .Select(stream => new StreamId(StreamId.FirstRawValue + (ulong)(stream % AllStreams)))];
                (await client.AppendAsync(payload, chosen)).Require();
            };
        }
    }

    private sealed class CheckWorkload(CorfuClient client) : Workload
    {
        public override Func<int, ValueTask> Prepare(int callers, int size) =>
            async _ => await client.CheckAsync(ImmutableArray<StreamId>.Empty);
    }

    private sealed class ObjectReadWorkload(TangoRegister<long> register) : Workload
    {
        public override Func<int, ValueTask> Prepare(int callers, int size) => async _ => await register.ReadAsync();
    }

    private sealed class ObjectUpdateWorkload(TangoRegister<long> register) : Workload
    {
        public override Func<int, ValueTask> Prepare(int callers, int size) =>
            async caller => await register.WriteAsync(caller);
    }

    private sealed class DictionarySetWorkload(TangoDictionary<string, byte[]> dictionary) : Workload
    {
        public override Func<int, ValueTask> Prepare(int callers, int size)
        {
            var value = new byte[size];
            string[] keys = [.. Enumerable.Range(0, callers).Select(caller => $"{Environment.ProcessId}-{caller}")];
            return async caller => await dictionary.SetAsync(keys[caller], value);
        }
    }
}
