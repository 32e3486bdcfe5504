namespace Corfu.Agent;

/// <summary>Takes from a node's answers what they say besides that it is alive: its epoch, its state, other
/// processes.</summary>
internal sealed class ProbeAnswers(ClusterView view, Targets targets)
{
    /// <param name="answer">Null: there was none.</param>
    public void Record(MonitoredNode node, Response? answer)
    {
        switch (answer)
        {
            case UnitInfoResponse unit:
                node.Says = unit.Reason;
                if (!unit.IsOk) break;
                node.Epoch = unit.Installed;
                node.IsFresh = unit.Installed == Epoch.None && unit.Pages == 0 && unit.End == LogPosition.Zero;
                view.Hint(unit.Installed);
                break;
            case SequencerInfoResponse { IsOk: true } sequencer:
                node.Epoch = sequencer.Epoch;
                view.Hint(sequencer.Epoch);
                break;
            case LayoutResponse { Latest: { } latest }:
                view.Hint(latest.Epoch);
                break;
            case PingResponse { IsOk: true } ping:
                view.Hint(ping.Epoch);
                view.Adopt(ping.Automation);
                foreach (var process in ping.Peers) targets.AddProcess(process);
                break;
        }
    }
}
