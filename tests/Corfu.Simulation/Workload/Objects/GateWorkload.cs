using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Tango;

namespace Corfu.Simulation.Workload.Objects;

/// <summary>Calls that the object may refuse (R23).</summary>
internal sealed class GateWorkload(ClusterMonitor monitor, TxRecorder recorder, RecordedCalls calls) : ITangoWorkload
{
    public IEnumerable<WorkloadAction<TangoClient>> Actions =>
    [
        new(3, (client, _) => PassAsync(client), writes: true),
        new(1, (client, _) => calls.ReadAsync(client, TangoClient.GateKey)),
    ];

    private Task PassAsync(TangoClient client)
    {
        var op = new TxAttempt(recorder, client.Number);
        string ticket = op.Write(TangoClient.GateKey, 0);
        long number = WrittenValue.NumberOf(ticket);
        Stumbles.Spare(number);
        return op.CallAsync(async () =>
        {
            try
            {
                await client.Gate.PassAsync(number, ticket);
                return 0;
            }
            catch (TangoRejectedException)
            {
                monitor.Mark("update refused");
                return 1;
            }
        });
    }
}
