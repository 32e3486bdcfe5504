namespace Corfu.Agent;

/// <summary>Which jobs this agent may work at. The first live agent in the order of endpoints may work at all; every
/// other one asks the agent before it which jobs that one has passed on.</summary>
internal sealed class JobTurns(AgentOptions options, ClusterView view, AgentOrder order, ITransport probes,
    AgentLoop loop, AgentClock clock)
{
    // The agent before this one, the jobs that it has passed on, and its last answer.
    private NodeAddress? _predecessor;
    private ImmutableArray<JobKind> _passedOn = [];
    private TimeSpan _heard;
    private TimeSpan _nextAsk;
    private bool _isAsking;

    public bool MayWork(JobKind job) => _predecessor is null || _passedOn.Contains(job);

    public void Step(CancellationToken stopped)
    {
        var predecessor = order.Predecessor;
        if (predecessor != _predecessor)
        {
            _predecessor = predecessor;
            _passedOn = [];
            _heard = clock.Now;
        }

        if (_predecessor is { } agent && !_isAsking && clock.Now >= _nextAsk)
            loop.Start(() => AskAsync(agent, stopped));
    }

    private async Task AskAsync(NodeAddress agent, CancellationToken stopped)
    {
        _isAsking = true;
        var info = await probes.TryCallAsync(agent, new AgentInfoRequest(view.Epoch), options.ProbeTimeout, clock.Time,
            stopped);
        _isAsking = false;
        _nextAsk = clock.Now + options.RefreshInterval;
        if (agent != _predecessor) return;
        if (info is { IsOk: true })
        {
            _heard = clock.Now;
            _passedOn = [.. from work in info.Work where work.IsPassedOn select work.Job];
        }
        else if (clock.Now - _heard >= options.StalledJobLimit)
        {
            // An agent that never answers passes all on.
            _passedOn = [.. Enum.GetValues<JobKind>()];
        }

        if (Planted.Is("work-is-not-passed-on")) _passedOn = [];
    }
}
