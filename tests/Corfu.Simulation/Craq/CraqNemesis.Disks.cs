using Corfu.Protocol;
using Corfu.Simulation.Kernel;
using Craq;
using Craq.Coordination;

namespace Corfu.Simulation.Craq;

// Machines that lose their disks, and nodes that are drained.
internal sealed partial class CraqNemesis
{
    private static readonly TimeSpan s_look = TimeSpan.FromMilliseconds(20);

    // A single disk is lost at a time: all members have what a chain has acknowledged, and one loss leaves a copy.
    private void LoseDisk(SimCraqNode node)
    {
        if (!_cluster.Directory.Lost.IsNone || !_cluster.Monitor.Chains.All(chain => MayLose(chain, node.Id))) return;
        Count(CraqFault.LoseDisk);
        var lost = _cluster.Directory.Lost = node.Id;
        var isSame = _random.Chance(0.5);
        node.LoseDisk(isSame ? lost : new NodeId(_cluster.Entropy.NewGuid()));
        _cluster.Monitor.Mark(isSame ? "disk lost, same identity" : "disk lost, new identity");
        After(Duration(), node.Start);
        _operator.Start("replace", () => TakeOutAsync(node, lost));
    }

    // Another full member has what the node has, and stays.
    private bool MayLose(ChainTruth chain, NodeId node) => chain.Newest!.IndexOf(node) < 0
        || chain.Newest.Members.Any(member => member.Node != node
            && _cluster.Monitor.LogOf(member.Node).Find(chain.Id) is { IsLearning: false } log
            && log.Last >= chain.Committed);

    // An empty node that came back under its old identity is stopped where its chain cannot do without it otherwise.
    private async Task TakeOutAsync(SimCraqNode node, NodeId lost)
    {
        for (var look = 0; ; look++)
        {
            await Task.Delay(s_look, _operator.Time);
            var view = await ReadAsync();
            ChainConfig[] with = [.. view?.Chains.Values.Where(config => config.IndexOf(lost) >= 0) ?? []];
            if (view is not null && with.Length == 0) break;
            foreach (var config in with)
            {
                var isGone = view!.Nodes[lost].State == DirectoryNodeState.Gone;
                var outcome = await TryAsync(config, new ChainChange.Remove([lost], isGone));
                _cluster.World.Explain($"operator: {outcome}");
            }

            if (node.Id != lost || look < 20 || node.IsHeld) continue;
            node.IsHeld = true;
            node.Kill(powerCut: true);
        }

        _cluster.Directory.Lost = NodeId.None;
        node.IsHeld = false;
        node.Start();
    }

    private async Task<DirectoryView?> ReadAsync()
    {
        try
        {
            return await _directory.ReadAsync(default);
        }
        catch (LogUnavailableException)
        {
            return null;
        }
    }

    private async Task<string> TryAsync(ChainConfig config, ChainChange change)
    {
        try
        {
            var outcome = await _directory.TryChangeAsync(config.Id, config.Epoch, change, default);
            return outcome.Refusal ?? "recorded";
        }
        catch (LogUnavailableException)
        {
            return "the log is away";
        }
    }

    private void Drain(SimCraqNode node)
    {
        if (_cluster.Plan.Spares == 0) return;
        Count(CraqFault.Drain);
        var id = node.Id;
        _cluster.Directory.SetDraining(id, true);
        _cluster.World.Schedule(null, 3 * Duration(), SimEventKind.Fault,
            () => _cluster.Directory.SetDraining(id, false));
    }
}
