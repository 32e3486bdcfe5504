using Corfu.Agent;
using Corfu.Protocol;

namespace Corfu.Simulation.Workload;

/// <summary>The cluster agents of a seed: how many machines run one, and how fast their clocks tick against the defaults.</summary>
public sealed record AgentPlan
{
    public int Count { get; init; } = 3;

    /// <summary>Every time of the agents, as a share of its default: a simulated run is short.</summary>
    public double Pace { get; init; } = 0.3;

    public AgentOptions OptionsOf(NodeEndpoint self, IEnumerable<NodeEndpoint> peers)
    {
        var agent = new AgentOptions { Self = self, Peers = [.. peers] };
        DetectorOptions detector = agent.Detector;
        PolicyOptions policy = agent.Policy;
        return agent with
        {
            Step = At(agent.Step),
            ProbeTimeout = At(agent.ProbeTimeout),
            SlowInterval = At(agent.SlowInterval),
            RefreshInterval = At(agent.RefreshInterval),
            OpinionTimeout = At(agent.OpinionTimeout),
            DoubtPause = At(agent.DoubtPause),
            BackOffStep = At(agent.BackOffStep),
            // What is done once in a cluster begins within the run, and whatever can be migrated is.
            LeadAfter = At(agent.LeadAfter) / 10,
            MaxSegments = 1,
            Rebuild = agent.Rebuild with { Batch = 16 },
            Migration = agent.Migration with { Batch = 16, BytesPerSecond = null },
            Scrub = new ScrubOptions { Batch = 16, PositionsPerSecond = 400, Interval = At(TimeSpan.FromSeconds(20)), RetryDelay = At(TimeSpan.FromSeconds(1)) },
            ScrubAfter = At(TimeSpan.FromSeconds(3)),
            Detector = detector with
            {
                Interval = At(detector.Interval),
                DeadAfter = At(detector.DeadAfter),
                SilentAfter = At(detector.SilentAfter),
                StuckAfter = At(detector.StuckAfter),
                SettleAfter = At(detector.SettleAfter),
                PauseMemory = At(detector.PauseMemory),
                AcceptablePause = At(detector.AcceptablePause),
                MinDeviation = At(detector.MinDeviation),
                FirstAnswer = At(detector.FirstAnswer),
                LeaveGrace = At(detector.LeaveGrace),
                SlowFloor = At(detector.SlowFloor),
                SlowAfter = At(detector.SlowAfter),
                OwnStall = At(detector.OwnStall),
            },
            Policy = policy with
            {
                UnitRefill = At(policy.UnitRefill),
                SequencerRefill = At(policy.SequencerRefill),
                AcceptorSilentAfter = At(policy.AcceptorSilentAfter),
                LeaveSlowAfter = policy.LeaveSlowAfter is { } slow ? At(slow) : null,
            },
        };
    }

    public TimeSpan At(TimeSpan time) => time * Pace;
}
