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

    // Only a node that this agent watches is probed, at the directory's address: a message makes no agent scan a
    // network.
    private async Task<PingNodeResponse> AnswerAsync(NodeId suspect)
    {
        if (!_watched.TryGetValue(suspect, out var endpoint))
            return new PingNodeResponse(Status.Ok, Epoch.None, false, NodeHealth.Unknown);
        var held = _detector.Judge(suspect, _clock.Now);
        // A probe is under way, and another would wait in vain.
        if (held.IsGone || !_probing.Add(suspect))
            return new PingNodeResponse(Status.Ok, Epoch.None, false, held.Health);
        ProbeSample sample;
        try
        {
            sample = await SendProbeAsync(new NodeAddress(suspect, endpoint));
            _detector.Record(suspect, sample, _clock.Now);
        }
        finally
        {
            _probing.Remove(suspect);
        }

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

    private async Task<bool> IsSharedAsync(NodeId suspect)
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
        return SecondObserver.Agrees(mine, answers, sharing.Length);
    }
}
