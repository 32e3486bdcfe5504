using Corfu.Simulation.Checkers;
using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Tango;
using Tango.Collections;

namespace Corfu.Simulation.Workload.Coordination;

/// <summary>Numbers slots by scanning all that there are.</summary>
internal sealed class SlotWorkload(CoordinationHistory history, ClusterMonitor monitor, Ledger ledger)
    : IWorkload<CoordinationClient>
{
    public IEnumerable<WorkloadAction<CoordinationClient>> Actions => [new(15, NumberAsync, writes: true)];

    public Task CheckAsync(CoordinationClient client) =>
        client.ReadChangesAsync(CoordinationClient.SlotsName, history.SlotChanges);

    /// <summary>An insert into the range that was scanned makes the number wrong.</summary>
    private async Task NumberAsync(CoordinationClient client, SimRandom random)
    {
        long payload = ledger.NextPayload();
        await client.Slots.CountAsync();
        await using TangoTransaction tx = client.Runtime.BeginTx();
        var taken = await client.Slots.ScanAsync(KeyRange.Prefix("s/"));
        await Task.Yield();
        await client.Slots.SetAsync($"s/{taken.Length:d5}/{payload}", "");
        TxOutcome outcome = await tx.EndTxAsync();
        monitor.Mark($"slot {(outcome.IsCommitted ? "numbered" : "not numbered")}");
        ledger.Done();
    }
}
