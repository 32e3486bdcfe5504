using Corfu.Protocol;
using Corfu.Transport;
using Microsoft.Extensions.Logging;

namespace Corfu.Agent;

/// <summary>
/// The second observer, both sides: asks other agents whether they share a suspicion, those first that watch the node,
/// and answers when asked. An agent that is asked probes the node itself first, so it can answer about nodes that it
/// does not watch.
/// </summary>
internal sealed class SuspicionPoll(
    Lock gate, AgentOptions options, ClusterView view, Monitor monitor, Prober prober, ITransport probes,
    TimeProvider time, AgentClock clock, ILogger logger)
{
    /// <summary>Whether enough other agents share the suspicions that a change rests on.</summary>
    public async Task<bool> IsAgreedAsync(PlannedChange change, Projection projection,
        CancellationToken cancellationToken)
    {
        List<Task<bool>> questions = [];
        if (change.NewSequencer is not null)
            questions.Add(IsAgreedAsync(NodeRole.Sequencer, projection.Sequencer, cancellationToken));
        foreach (var acceptor in change.Acceptors)
            questions.Add(IsAgreedAsync(NodeRole.Acceptor, acceptor.Old, cancellationToken));
        foreach (var exit in change.Exits) questions.Add(IsAgreedAsync(NodeRole.Unit, exit.Unit, cancellationToken));
        var agreed = await Task.WhenAll(questions);
        if (agreed.All(yes => yes)) return true;
        AgentTelemetry.Disagreements.Add(1);
        AgentLog.Disagreed(logger, change.ToString());
        return false;
    }

    private async Task<bool> IsAgreedAsync(NodeRole role, NodeAddress node, CancellationToken cancellationToken)
    {
        NodeVerdict mine;
        List<NodeAddress> others;
        lock (gate)
        {
            if (monitor.Find(node.Id) is not { } suspect) return false;
            mine = monitor.VerdictOf(suspect);
            others = [.. from agent in monitor.AgentsBehind(node.Endpoint)
                where !monitor.VerdictOf(agent).IsCertain select agent.Address];
        }

        List<SuspicionResponse> answers = [];
        List<Task<SuspicionResponse?>> asked = [.. others.Take(options.MaxSuspicionsAsked)
            .Select(agent => AskAsync(agent, role, node, cancellationToken))];
        while (asked.Count > 0)
        {
            var first = await Task.WhenAny(asked);
            asked.Remove(first);
            if (await first is { } answer) answers.Add(answer);
            // Agents that are silent themselves are not waited for when they could not change the outcome.
            if (SecondObserver.AgreesWhateverElse(mine, answers, asked.Count)) break;
        }

        if (SecondObserver.Agrees(mine, answers, others.Count)) return true;
        lock (gate)
        {
            if (monitor.Find(node.Id) is not { } suspect) return false;
            suspect.DisagreedUntil = clock.Now + options.DisagreementPause;
            if (SecondObserver.IsPartition(mine, answers)) monitor.Partitioned(suspect);
        }

        return false;
    }

    private async Task<SuspicionResponse?> AskAsync(NodeAddress agent, NodeRole role, NodeAddress node,
        CancellationToken cancellationToken)
    {
        using var timeout = new CancellationTokenSource(options.SuspicionTimeout, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(timeout.Token, cancellationToken);
        try
        {
            var answer = await probes.CallAsync(agent, new SuspicionRequest(view.Epoch, role, node), either.Token);
            return answer.IsOk ? answer : null;
        }
        catch (TransportException)
        {
            return null;
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            return null;
        }
    }

    public async Task AnswerAsync(SuspicionRequest request, ReplyTo reply, CancellationToken stopped)
    {
        bool hasProbed;
        lock (gate)
        {
            // A node that it holds gone, or that is overdue, has a probe under way: another would wait in vain.
            hasProbed = monitor.Find(request.Suspect.Id) is { } known && monitor.VerdictOf(known) is var held
                && (held.IsGone || (known.IsProbing && IsOverdue(held)));
        }

        var sample = hasProbed
            ? new ProbeSample(ProbeOutcome.None, default)
            : (await prober.ProbeAsync(request.Role, request.Suspect, options.SuspicionTimeout / 2, stopped)).Sample;
        SuspicionResponse answer;
        lock (gate)
        {
            monitor.Record(request.Suspect.Id, sample);
            var verdict = monitor.Find(request.Suspect.Id) is { } suspect ? monitor.VerdictOf(suspect) : default;
            var health = sample.Outcome switch
            {
                // What the probe shows beyond doubt, though this agent would still wait before it acted on it.
                ProbeOutcome.Refused => NodeHealth.Dead,
                ProbeOutcome.Replaced => NodeHealth.Replaced,
                ProbeOutcome.Failed => NodeHealth.Failed,
                ProbeOutcome.Answered => verdict.Health == NodeHealth.Slow ? NodeHealth.Slow : NodeHealth.Alive,
                ProbeOutcome.Full => NodeHealth.Full,
                ProbeOutcome.None when verdict.IsGone => verdict.Health,
                _ => verdict.IsGone || IsOverdue(verdict) ? NodeHealth.Silent : verdict.Health,
            };
            answer = new SuspicionResponse(Status.Ok, view.Epoch, sample.IsAnswer, health, verdict.Why);
        }

        reply.Send(answer);
    }

    private bool IsOverdue(NodeVerdict verdict) => verdict.Phi >= options.Detector.SilentPhi / 2;
}
