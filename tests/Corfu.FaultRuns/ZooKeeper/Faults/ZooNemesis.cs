using Corfu.FaultRuns.Faults;
using Corfu.FaultRuns.Nodes;
using Corfu.FaultRuns.ZooKeeper.Nodes;

namespace Corfu.FaultRuns.ZooKeeper.Faults;

/// <summary>Brings about one fault, makes sure that it is there, and takes it away again.</summary>
internal sealed class ZooNemesis(ClusterRig log, FrontEnds frontEnds)
{
    /// <returns>The fault in words, and the action that heals it; what was killed is started by the run.</returns>
    public async Task<(string What, Func<Task> Heal)> InjectAsync(ZooFault fault)
    {
        var units = log.Nodes.Where(node => node.IsUnit).ToList();
        var unit = units[fault.Place % units.Count];
        switch (fault.Kind)
        {
            case ZooFaultKind.KillFrontEnd:
                await frontEnds.KillAsync(fault.Place);
                return ($"{FrontEnds.NameOf(fault.Place)} killed", () => Task.CompletedTask);
            case ZooFaultKind.KillTwo:
                await Task.WhenAll(frontEnds.KillAsync(fault.Place), frontEnds.KillAsync(fault.Other));
                return ($"{FrontEnds.NameOf(fault.Place)} and {FrontEnds.NameOf(fault.Other)} killed",
                    () => Task.CompletedTask);
            case ZooFaultKind.StopFrontEnd:
                return Disruption.Stop(
                    $"{FrontEnds.NameOf(fault.Place)} is stopped", [frontEnds.IdOf(fault.Place)]);
            case ZooFaultKind.KillUnit:
                await unit.Process!.KillAsync();
                return ($"{unit.Name} killed", () => Task.CompletedTask);
            case ZooFaultKind.StopUnit:
                return Disruption.Stop($"{unit.Name} is stopped", [unit.Process!.Id]);
            case ZooFaultKind.KillSequencer:
                var sequencer = log.Nodes.First(node => node.IsSequencer);
                await sequencer.Process!.KillAsync();
                return ($"{sequencer.Name} killed", () => Task.CompletedTask);
            default:
                return Disruption.Stop("the log is stopped", [.. log.Nodes.Select(node => node.Process!.Id)]);
        }
    }
}
