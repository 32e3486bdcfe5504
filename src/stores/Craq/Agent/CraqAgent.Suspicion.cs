using Corfu.Detection;
using Craq.Coordination;

namespace Craq.Agent;

/// <summary>The second observer, both sides.</summary>
internal sealed partial class CraqAgent
{
    /// <summary>Answers another agent: at once, or after a probe of the node that it holds gone.</summary>
    /// <param name="hasFailed">The node's store has failed.</param>
    public void Handle(PingNodeRequest request, ReplyTo reply, bool hasFailed)
    {
        if (hasFailed) reply.Send(request.Fail(Status.Failed, Epoch.None));
        else if (request.Suspect.IsNone)
            reply.Send(new PingNodeResponse(Status.Ok, Epoch.None, true, NodeHealth.Alive));
        else _loop.Start(async () => reply.Send(await AnswerAsync(request.Suspect)));
    }

    // Only a registered node is probed, at the directory's address: a message makes no agent scan a network. A learner
    // asks about itself, and is watched by none.
    private async Task<PingNodeResponse> AnswerAsync(NodeId suspect)
    {
        if (!_watched.TryGetValue(suspect, out var endpoint)
            && _directory.View.Nodes.TryGetValue(suspect, out var node)) endpoint = node.Endpoint;
        if (endpoint == default)
            return new PingNodeResponse(Status.Ok, Epoch.None, false, NodeHealth.Unknown);
        var held = _detector.Judge(suspect, _clock.Now);
        if (held.IsGone) return new PingNodeResponse(Status.Ok, Epoch.None, false, held.Health);
        var sample = await ProbeOnceAsync(new NodeAddress(suspect, endpoint));
        var health = sample.Outcome switch
        {
            ProbeOutcome.Refused => NodeHealth.Dead,
            ProbeOutcome.Replaced => NodeHealth.Replaced,
            ProbeOutcome.Failed => NodeHealth.Failed,
            ProbeOutcome.Nothing => NodeHealth.Silent,
            _ => _detector.Judge(suspect, _clock.Now).Health,
        };
        return new PingNodeResponse(Status.Ok, Epoch.None, sample.IsSignOfLife, health);
    }

    /// <summary>Without certainty an agent needs a second one that shares its suspicion, and room in its budget of
    /// removals. A node that others reach is kept, unless the chain has no way past the two for long.</summary>
    /// <returns>The step to take; null: none.</returns>
    private async Task<ChainAction?> ReviewAsync(ChainAction action)
    {
        var (node, isCertain) = action switch
        {
            ChainAction.RemoveGone remove => (remove.Node, remove.IsCertain),
            ChainAction.Evict evict => (evict.Node, evict.IsCertain),
            _ => (NodeId.None, true),
        };
        if (isCertain) return action;
        if (!_budget.HasOne(_clock.Now)) return null;
        var (isShared, isCut) = await AskOthersAsync(node);
        var now = _clock.Now;
        if (isCut) _cutOff.TryAdd(node, now);
        var cut = isCut && now - _cutOff[node] >= _options.CutAfter ? _policy.Cut(action.Config, node, now) : null;
        if (!isShared && cut is null)
        {
            _pausedNodes[node] = now + s_disagreement;
            return null;
        }

        _budget.Spend(now);
        if (isShared) return action;
        LogCuts(action.Config.Name, node);
        return cut;
    }

    // Cut: the suspect answers another member, or no other member could tell, and its lease says that it lives.
    private async Task<(bool IsShared, bool IsCut)> AskOthersAsync(NodeId suspect)
    {
        var mine = _detector.Judge(suspect, _clock.Now);
        NodeAddress[] others = [.. _watched
            .Where(peer => peer.Key != suspect && !_detector.Judge(peer.Key, _clock.Now).IsCertain)
            .Select(peer => new NodeAddress(peer.Key, peer.Value)).OrderBy(peer => peer.Id)];
        // Agents that share a chain with the suspect are asked, and no others: they watch it.
        var sharing = others.Where(peer => _policy.Own.Any(config =>
            config.IndexOf(suspect) >= 0 && config.IndexOf(peer.Id) >= 0)).ToArray();
        var asked = sharing.Take(_options.MaxAsked).Select(peer => _transport.TryCallAsync(
            peer, new PingNodeRequest(Epoch.None, suspect), 2 * _options.ProbeLimit, _clock.Time, _stop.Token));
        var answers = (await Task.WhenAll(asked)).OfType<PingNodeResponse>().Where(answer => answer.IsOk)
            .Select(answer => new SuspicionResponse(Status.Ok, Epoch.None, answer.Answers, answer.Health, ""))
            .ToArray();
        return (SecondObserver.Agrees(mine, answers, sharing.Length),
            sharing.Length == 0 || SecondObserver.IsPartition(mine, answers));
    }
}
