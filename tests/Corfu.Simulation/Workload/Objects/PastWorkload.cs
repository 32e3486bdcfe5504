using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Tango;
using Tango.Collections;

namespace Corfu.Simulation.Workload.Objects;

/// <summary>Past states, beside the objects that are open. The model has every state that there was.</summary>
internal sealed class PastWorkload(TxHistory history, ClusterMonitor monitor) : ITangoWorkload
{
    /// <summary>Chance of a visit to the past in each step.</summary>
    public const double Chance = 0.02;

    private const int MostBack = 100;

    public IEnumerable<Detour> Detours => [new(Chance, static client => !client.IsOld, ReadAsync)];

    public static LogPosition PickPosition(TangoClient client, SimRandom random) =>
        new(Math.Max(0, client.Runtime.Log.PlayedTo.Offset - random.Next(MostBack)));

    public async Task ReadAsync(TangoClient client, SimRandom random)
    {
        LogPosition at = PickPosition(client, random);
        try
        {
            TangoHistory past = await client.Runtime.History.OpenAsync(at);
            List<KeyValuePair<string, long>> reads = [];
            foreach (string name in TangoClient.SoloKeys.Append("r0"))
            {
                var register = await past.OpenAsync<TangoRegister<string>>(name);
                reads.Add(KeyValuePair.Create(name, WrittenValue.NumberOf(await register.ReadAsync())));
            }

            var cells = await past.OpenAsync<TangoDictionary<string, string>>(TangoClient.Cells);
            foreach (string key in TangoClient.SharedKeys)
            {
                if (!key.StartsWith(TangoClient.Cells, StringComparison.Ordinal)) continue;
                Lookup<string> found = await cells.TryGetAsync(key[(TangoClient.Cells.Length + 1)..]);
                reads.Add(KeyValuePair.Create(key, WrittenValue.NumberOf(found.Found ? found.Value : null)));
            }

            history.Past.Add(new PastState(client.Number, at.Offset, reads));
            monitor.Mark("past state read");
        }
        catch (TangoTrimmedException)
        {
            monitor.Mark("past state was trimmed");
        }
        catch (TangoDirectoryException)
        {
            monitor.Mark("there was no such object");
        }
    }
}
