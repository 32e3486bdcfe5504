using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Client;

/// <summary>
/// The sequencers that may follow the present one, of which only agents know. While it is silent the ways to them are opened: whoever is named by the next
/// projection is asked for tokens at once.
/// </summary>
internal sealed class Standbys(ClientCore core)
{
    private readonly Lock _gate = new();
    private EpochView? _reached;

    /// <summary>Once for each epoch; returns at once.</summary>
    public void Reach(EpochView view)
    {
        lock (_gate)
        {
            if (_reached == view) return;
            _reached = view;
        }

        ReachAsync(view, core.Closed).Abandon();
    }

    /// <summary>Asks one process after the other until there is one whose agent answers. Never fails.</summary>
    public async Task ReachAsync(EpochView view, CancellationToken cancellationToken)
    {
        await Task.Yield();
        var projection = view.Projection;
        var processes = projection.Acceptors.Concat(projection.Units).Select(node => node.Endpoint).Where(process => process != projection.Sequencer.Endpoint).Distinct();
        foreach (var process in processes)
        {
            if (core.View != view || cancellationToken.IsCancellationRequested) return;
            using var timeout = new CancellationTokenSource(core.Options.Layout.RoundTimeout, core.Time);
            using var either = CancellationTokenSource.CreateLinkedTokenSource(timeout.Token, cancellationToken);
            if (await AskAgentAsync(process, either.Token) is not { } known) continue;
            foreach (var node in known.Nodes)
            {
                if (node is { Role: NodeRole.Sequencer, Duty: NodeDuty.Standby, Health: NodeHealth.Alive }) await GreetAsync(node.Address, view.Epoch, either.Token);
            }

            return;
        }
    }

    private async Task GreetAsync(NodeAddress standby, Epoch epoch, CancellationToken cancellationToken)
    {
        try
        {
            await core.Transport.CallAsync(standby, new SequencerInfoRequest(epoch), cancellationToken);
        }
        catch (Exception e) when (e is TransportException or OperationCanceledException)
        {
            // Whoever needs it tries again.
        }
    }

    /// <summary>Null: the process has no agent, or does not answer.</summary>
    private async Task<AgentInfoResponse?> AskAgentAsync(NodeEndpoint process, CancellationToken cancellationToken)
    {
        try
        {
            var description = await core.Transport.DescribeAsync(process, cancellationToken);
            foreach (var role in description.Roles)
            {
                if (role.Role != NodeRole.Agent) continue;
                var answer = await core.Transport.CallAsync(new NodeAddress(role.Id, process), new AgentInfoRequest(core.View.Epoch), cancellationToken);
                return answer.IsOk ? answer : null;
            }

            return null;
        }
        catch (Exception e) when (e is TransportException or OperationCanceledException)
        {
            return null;
        }
    }
}
