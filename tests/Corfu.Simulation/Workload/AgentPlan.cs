using Corfu.Agent;
using Corfu.Detection;
using Corfu.Protocol;

namespace Corfu.Simulation.Workload;

/// <summary>The cluster agents of a seed: how many machines run one, and how fast their clocks tick against the
/// defaults.</summary>
public sealed record AgentPlan
{
    public int Count { get; init; } = 3;

    /// <summary>Every time of the agents, as a share of its default: a simulated run is short.</summary>
    public double Pace { get; init; } = 0.3;

    /// <summary>The first agent's machine does not reach a unit that is joining until it is rebuilt, after the healing
    /// too.</summary>
    public bool CutsOffRebuilder { get; init; }

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
            SuspicionTimeout = At(agent.SuspicionTimeout),
            DisagreementPause = At(agent.DisagreementPause),
            BackOffStep = At(agent.BackOffStep),
            // Steps that happen once in a cluster begin within the run, and every segment that can be migrated is.
            LeadAfter = At(agent.LeadAfter) / 10,
            // Longer than a client of a job needs to renew an epoch that was sealed and has no successor (R14).
            StalledJobLimit = At(agent.StalledJobLimit),
            StalledJobPause = At(agent.StalledJobPause),
            ForgetPeerAfter = At(agent.ForgetPeerAfter),
            MaxSegments = 1,
            Rebuild = agent.Rebuild with { Batch = 16 },
            Migration = agent.Migration with { Batch = 16, BytesPerSecond = null },
            Scrub = new ScrubOptions
            {
                Batch = 16,
                PositionsPerSecond = 400,
                Interval = At(TimeSpan.FromSeconds(20)),
                RetryDelay = At(TimeSpan.FromSeconds(1))
            },
            ScrubAfter = At(TimeSpan.FromSeconds(3)),
            Detector = detector with
            {
                Interval = At(detector.Interval),
                DeadAfter = At(detector.DeadAfter),
                SilentAfter = At(detector.SilentAfter),
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
