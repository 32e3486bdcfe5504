using System.Collections.Immutable;
using Corfu.Client;
using Corfu.Protocol;

namespace Corfu.Agent;

/// <summary>What an agent must do fast when it comes to it, done once before, with requests that change nothing.</summary>
public sealed partial class ClusterAgent
{
    // Guarded by _gate.
    private Task? _rehearsal;

    private void ConsiderRehearsal()
    {
        lock (_gate)
        {
            if (_rehearsal is not null || !_options.Rehearse || _projection is not { } projection || _acting is not null) return;
            _rehearsal = RehearseAsync(projection);
        }
    }

    private async Task RehearseAsync(Projection projection)
    {
        // Off the gate before anything else.
        await Task.Yield();
        var unit = projection.Units[0];
        var change = new PlannedChange([new UnitExit(unit, null, false)], NodeId.None, null, projection.Active.Chains[0].FullCount, "a rehearsal");
        try
        {
            foreach (var agent in OtherAgents().Take(_options.MaxOpinions))
            {
                await AskAsync(agent, NodeRole.Unit, unit, _stopped);
                await AskAsync(agent, NodeRole.Sequencer, projection.Sequencer, _stopped);
            }

            await _reconfigurer.RehearseAsync(projection, change.Apply, _stopped);
        }
        catch (Exception e) when (e is CorfuException or OperationCanceledException)
        {
            // It was only a rehearsal.
        }
    }
}
