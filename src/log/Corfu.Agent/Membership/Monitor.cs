namespace Corfu.Agent;

/// <summary>Probes nodes and follows up on what came of it: <see cref="Targets"/> says whom to watch,
/// <see cref="ProbeSchedule"/> when, <see cref="Prober"/> sends, <see cref="Verdicts"/> judges, and a node's
/// <see cref="IWatchedRole"/> takes what an answer says besides.</summary>
internal sealed class Monitor(MonitorOptions options, Targets targets, Verdicts verdicts, ProbeSchedule schedule,
    Prober prober, AgentLoop loop)
{
    /// <summary>Starts the probes that are due.</summary>
    /// <returns>How long until the next ones are due.</returns>
    public TimeSpan Step(CancellationToken stopped)
    {
        verdicts.Tick();
        foreach (var id in targets.Choose()) verdicts.Forget(id);
        schedule.Choose();
        foreach (var process in schedule.TakeUnidentified()) loop.Start(() => IdentifyAsync(process, stopped));
        var due = schedule.TakeDue(out var next);
        foreach (var node in due) loop.Start(() => ProbeAsync(node, stopped));
        return next < options.Step ? options.Step : next;
    }

    private async Task IdentifyAsync(Peer process, CancellationToken stopped)
    {
        NodeDescription? description = null;
        try
        {
            description = await prober.IdentifyAsync(process.Endpoint, options.ProbeTimeout, stopped);
        }
        finally
        {
            targets.RecordIdentity(process, description);
        }
    }

    private async Task ProbeAsync(MonitoredNode node, CancellationToken stopped)
    {
        Probe probe;
        try
        {
            probe = await prober.ProbeAsync(node.Role, node.Address, options.ProbeTimeout, stopped);
        }
        catch
        {
            // A fault of the prober: the loop reports it, and the node goes on being probed.
            schedule.Postpone(node);
            throw;
        }

        var sample = probe.Sample;
        verdicts.Record(node.Address.Id, sample);
        node.Record(sample);
        if (probe.Answer is { } answer) node.Kind.Record(node, answer);
        schedule.Record(node, sample);
        // A change is decided as soon as a node is found gone. Any other silent node is probed again before the next
        // tick.
        if (verdicts.Report(node)) loop.StepWithin(TimeSpan.Zero);
        else if (!sample.IsAnswer) loop.StepWithin(options.Step);
        if (sample.Outcome == ProbeOutcome.Answered) await node.Kind.CatchUpAsync(node, stopped);
    }
}
