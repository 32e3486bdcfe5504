using Corfu.Protocol;
using Corfu.Simulation.Kernel;
using Craq;
using Craq.Coordination;

namespace Corfu.Simulation.Craq;

// Machines that lose their disks, and nodes that are drained.
internal sealed partial class CraqNemesis
{
    private static readonly TimeSpan s_look = TimeSpan.FromMilliseconds(20);

    // A node whose disk is lost and that still stands in chains.
    private NodeId _lost;

    // A single disk is lost at a time: all members have what a chain has acknowledged, and one loss leaves a copy.
    private void LoseDisk(SimCraqNode node)
    {
        if (!_lost.IsNone || _changing > 0 || !_cluster.Truth.View.Chains.Values.All(chain => MayLose(chain, node.Id)))
            return;
        Count(CraqFault.LoseDisk);
        var lost = _lost = node.Id;
        var isSame = _random.Chance(0.5);
        node.LoseDisk(isSame ? lost : new NodeId(_cluster.Entropy.NewGuid()));
        _cluster.Monitor.Mark(isSame ? "disk lost, same identity" : "disk lost, new identity");
        // An operator may notice the loss when the empty node is back in its chains.
        var isLate = isSame && _random.Chance(0.5);
        After(isLate ? 1 : Duration(), node.Start);
        var noticed = TimeSpan.FromTicks(isLate ? Duration() : 0);
        _operator.Do("replace", () => TakeOutAsync(node, lost, noticed));
    }

    // Another full member has what the node has. A removal keeps two members of the base, and so this one.
    private bool MayLose(ChainConfig config, NodeId node) => config.IndexOf(node) < 0
        || (config is { Kept: >= 2, Minimum: >= 2 } && config.Members.Any(member => member.Node != node
            && _cluster.Monitor.LogOf(member.Node).Find(config.Id) is { IsLearning: false } log
            && log.Last >= _cluster.Monitor.Truth(config.Id).Committed));

    // An empty node that came back under its old identity is stopped where its chain cannot do without it otherwise.
    private async Task TakeOutAsync(SimCraqNode node, NodeId lost, TimeSpan noticed)
    {
        await Task.Delay(noticed, _operator.Time);
        for (var look = 0; ; look++)
        {
            await Task.Delay(s_look, _operator.Time);
            var view = await _operator.Directory.ReadAsync(default);
            ChainConfig[] with = [.. view.Chains.Values.Where(config => config.IndexOf(lost) >= 0)];
            if (with.Length == 0) break;
            var isGone = view.Nodes[lost].State == DirectoryNodeState.Gone;
            foreach (var config in with)
                await _operator.ChangeAsync(config, new ChainChange.Remove([lost], isGone));

            if (node.Id != lost || look < 20 || node.IsHeld) continue;
            node.IsHeld = true;
            node.Kill(powerCut: true);
        }

        _lost = NodeId.None;
        node.IsHeld = false;
        node.Start();
    }

    private void Drain(SimCraqNode node)
    {
        if (_cluster.Plan.Spares == 0) return;
        Count(CraqFault.Drain);
        var (id, duration) = (node.Id, 3 * Duration());
        _operator.Do("drain", async () =>
        {
            await _operator.Directory.SetDrainingAsync(id, true, default);
            await Task.Delay(TimeSpan.FromTicks(duration), _operator.Time);
            await _operator.Directory.SetDrainingAsync(id, false, default);
        });
    }
}
