namespace Corfu.Agent;

/// <summary>The second observer, both sides: asks other agents whether they share a suspicion, those first that watch
/// the node, and answers when asked. It probes the node before it answers, so that it can answer about any
/// node.</summary>
internal sealed class SuspicionPoll(Lock gate, AgentOptions options, ClusterView view, Monitor monitor, Prober prober,
    ITransport probes, TimeProvider time, AgentClock clock, ILogger logger)
{
    private const int MaxAsked = 3;

    private readonly ProbeBudget _budget = new(clock);

    /// <summary>Whether enough other agents share the suspicions that a change rests on.</summary>
    public async Task<bool> IsAgreedAsync(PlannedChange change, Projection projection,
        CancellationToken cancellationToken)
    {
        List<Task<bool>> questions = [];
        if (change.NewSequencer is not null)
            questions.Add(IsAgreedAsync(NodeRole.Sequencer, projection.Sequencer, cancellationToken));
        if (change.Acceptor is { } acceptor)
            questions.Add(IsAgreedAsync(NodeRole.Acceptor, acceptor.Old, cancellationToken));
        foreach (var exit in change.Exits) questions.Add(IsAgreedAsync(NodeRole.Unit, exit.Unit, cancellationToken));
        var agreed = await Task.WhenAll(questions);
        if (agreed.All(yes => yes)) return true;
        AgentTelemetry.Disagreements.Add(1);
        AgentLog.Disagreed(logger, change.ToString());
        return false;
    }

    /// <summary>Whether a node that is to take another's place answers now: what is known of it may be old.</summary>
    public async Task<bool> AnswersAsync(NodeRole role, NodeAddress node, CancellationToken cancellationToken)
    {
        var (sample, _) = await prober.ProbeAsync(role, node, options.SuspicionTimeout, cancellationToken);
        lock (gate)
        {
            monitor.Record(node.Id, sample);
            if (!sample.IsAnswer && monitor.Find(node.Id) is { } known)
                known.PausedUntil = clock.Now + options.DisagreementPause;
        }

        return sample.IsAnswer;
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
        var request = new SuspicionRequest(view.Epoch, role, node);
        List<Task<SuspicionResponse?>> asked = [.. others.Take(MaxAsked).Select(
            agent => probes.TryCallAsync(agent, request, options.SuspicionTimeout, time, cancellationToken))];
        // Agents that are silent themselves are not waited for when they could not change the outcome.
        while (asked.Count > 0 && !SecondObserver.AgreesWhateverElse(mine, answers, asked.Count))
        {
            var first = await Task.WhenAny(asked);
            asked.Remove(first);
            if (await first is { IsOk: true } answer) answers.Add(answer);
        }

        cancellationToken.ThrowIfCancellationRequested();

        if (SecondObserver.Agrees(mine, answers, others.Count)) return true;
        lock (gate)
        {
            if (monitor.Find(node.Id) is not { } suspect) return false;
            suspect.PausedUntil = clock.Now + options.DisagreementPause;
            if (SecondObserver.IsPartition(mine, answers)) monitor.Partitioned(suspect);
        }

        return false;
    }

    public async Task AnswerAsync(SuspicionRequest request, ReplyTo reply, CancellationToken stopped)
    {
        bool probes;
        lock (gate)
        {
            // A node that is gone or overdue has a probe under way: another would wait in vain.
            var hasProbed = monitor.Find(request.Suspect.Id) is { } known && monitor.VerdictOf(known) is var held
                && (held.IsGone || (known.IsProbing && IsOverdue(held)));
            probes = !hasProbed && _budget.TryBegin();
        }

        var sample = probes
            ? await ProbeAsync(request.Role, request.Suspect, stopped)
            : new ProbeSample(ProbeOutcome.None, default);
        SuspicionResponse answer;
        lock (gate)
        {
            monitor.Record(request.Suspect.Id, sample);
            var verdict = monitor.Find(request.Suspect.Id) is { } suspect ? monitor.VerdictOf(suspect) : default;
            var health = sample.Outcome switch
            {
                // The probe is certain, though this agent would wait before it acted on its own.
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

    private async Task<ProbeSample> ProbeAsync(NodeRole role, NodeAddress node, CancellationToken stopped)
    {
        try
        {
            return (await prober.ProbeAsync(role, node, options.SuspicionTimeout / 2, stopped)).Sample;
        }
        finally
        {
            lock (gate) _budget.End();
        }
    }

    private bool IsOverdue(NodeVerdict verdict) => verdict.Phi >= options.Detector.SilentPhi / 2;
}
