using Corfu.Client;
using Corfu.Client.Layout;
using Corfu.Protocol;

namespace Corfu.Simulation.Cluster;

public sealed partial class SimCluster
{
    private ConnectionString Connection => new([.. Units.Select(u => u.Host.Endpoint)]);

    private CorfuClientOptions ClientOptions => CorfuClientOptions.Default with
    {
        MaxPayload = Plan.MaxPayload,
        OperationTimeout = Plan.OperationTimeout,
        Layout = new LayoutClientOptions { RoundTimeout = TimeSpan.FromTicks(Plan.RequestTimeout * 2) },
    };

    /// <summary>Connects as a user's program does; nothing that is unreachable for a while makes it give up.</summary>
    internal async Task<(ICorfuLog Log, Func<IStreamCursor> OpenCursor)> ConnectAsync(SimClientNode node)
    {
        while (true)
        {
            try
            {
                CorfuClient client = await CorfuClient.ConnectAsync(Connection, node.Transport!, node.Process!.Time,
                    node.Entropy, ClientOptions, loops: node.Process!.Loops);
                // Half of the clients learn by scans, as those with many streams do.
                var limits = node.Number % 2 == 0 ? new StreamCursorOptions(ScanFrom: 1) : new StreamCursorOptions();
                return (client, () => new StreamCursor(client, limits));
            }
            catch (CorfuException)
            {
                Monitor.Mark("connecting failed");
                await Task.Delay(TimeSpan.FromMilliseconds(10), node.Process!.Time);
            }
        }
    }

    /// <summary>True when some epoch names the sequencer, by this call or another's.</summary>
    private async Task<bool> TryReplaceAsync(SimClientNode node, NodeAddress sequencer)
    {
        try
        {
            Projection decided = await ((CorfuClient)node.Log!).Cluster.ReconfigureAsync(
                p => p.Sequencer == sequencer ? null : Membership.Of(p).WithSequencer(sequencer), "simulated");
            return decided.Sequencer == sequencer;
        }
        catch (CorfuException e)
        {
            World.Explain($"{node.Name}: {e.Message}");
            Monitor.Mark("reconfiguration failed");
            return false;
        }
    }
}
