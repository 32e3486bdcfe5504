using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Tango;

namespace Corfu.Simulation.Workload.Objects;

/// <summary>Samples whole views: two clients at one position show the same.</summary>
internal sealed class ViewWorkload(TxHistory history, ClusterMonitor monitor, CohortSamples cohorts) : ITangoWorkload
{
    public IEnumerable<WorkloadAction<TangoClient>> Actions => [new(4, (client, _) => SampleAsync(client))];

    /// <summary>Samples all cohorts right after the opening: a loaded state shows best before much has been played on
    /// it.</summary>
    public async Task SetUpAsync(TangoClient client)
    {
        try
        {
            await cohorts.TakeAsync(client);
        }
        catch (Exception e) when (e is LogUnavailableException or TangoTrimmedException or TangoObjectStoppedException)
        {
            monitor.Mark("operation given up");
        }
    }

    public Task CheckAsync(TangoClient client) => SampleAsync(client);

    private async Task SampleAsync(TangoClient client)
    {
        string? annex = client.AnnexKey;
        await using TangoTransaction tx = client.Runtime.BeginTx();
        string cells = Show(await client.CellsObject.SnapshotAsync());
        string bank = Show(await client.BankObject.SnapshotAsync());
        string? r0 = await client.Registers[0].ReadAsync();
        Add(TangoClient.Cells, cells);
        Add(TangoClient.Bank, bank);
        Add("r0", r0);
        Add(TangoClient.GateKey, await client.Gate.LastAsync());
        if (annex is not null) Add(annex, await client.ReadAsync(annex));
        foreach (string solo in client.HostedSolos) Add(solo, await client.ReadAsync(solo));
        await cohorts.TakeAsync(client);

        // A read of an object that had stopped may move the snapshot, and what was read before is true there too (R17).
        void Add(string what, string? shown) =>
            history.Views.Add(new ViewSample(client.Number, tx.SnapshotEnd!.Value.Offset, what, shown ?? "-"));
    }

    private static string Show(IEnumerable<KeyValuePair<string, string>> view) =>
        string.Join(" ", view.OrderBy(p => p.Key, StringComparer.Ordinal).Select(p => $"{p.Key}={p.Value}"));
}
