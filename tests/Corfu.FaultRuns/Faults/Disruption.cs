using Corfu.FaultRuns.Machine;
using Corfu.FaultRuns.Nodes;

namespace Corfu.FaultRuns.Faults;

/// <summary>Stops processes and cuts ways of the network, makes sure that it is so, and takes it back.</summary>
internal sealed class Disruption(ClusterRig log)
{
    /// <returns>The fault in words, and the action that heals it.</returns>
    /// <exception cref="RunException">A process does not stop.</exception>
    public static (string What, Func<Task> Heal) Stop(string what, IReadOnlyList<int> processes)
    {
        foreach (var id in processes)
        {
            Signals.Stop(id);
            if (!Signals.IsStopped(id)) throw new RunException($"Process {id} does not stop at SIGSTOP.");
        }

        return (what, ContinueAsync);

        Task ContinueAsync()
        {
            foreach (var id in processes) Signals.Continue(id);
            return Task.CompletedTask;
        }
    }

    /// <param name="probed">A node that the first host must not reach.</param>
    /// <returns>As of <see cref="Stop"/>.</returns>
    /// <exception cref="RunException">The node is reached all the same.</exception>
    public async Task<(string What, Func<Task> Heal)> CutAsync(string what,
        IReadOnlyList<(string Name, int Host)> here, IReadOnlyList<(string Name, int Host)> there, bool bothWays,
        HostedNode? probed)
    {
        List<(string Name, string ToAddress)> ways =
        [
            .. from one in here
               from two in there
               select (one.Name, Network.Address(two.Host)),
        ];
        if (bothWays)
            ways.AddRange(from one in here
                          from two in there
                          select (two.Name, Network.Address(one.Host)));
        var network = log.Network!;
        await network.CutAsync(ways);
        if (probed is not null
            && await network.ReachesAsync(here[0].Name, Network.Address(probed.Host), probed.Port))
            throw new RunException($"{what}, and {here[0].Name} reaches {probed.Name} all the same.");
        return (what, () => network.JoinAsync(ways));
    }
}
