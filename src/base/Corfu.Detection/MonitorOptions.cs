namespace Corfu.Detection;

/// <summary>Options of a <see cref="NodeMonitor"/>.</summary>
/// <param name="Self">The endpoint of this process.</param>
/// <param name="Step">The shortest step, and the interval of probes of a node that did not answer.</param>
/// <param name="ProbeTimeout">A probe that takes longer counts as not answered.</param>
/// <param name="SlowInterval">Interval for probing the roles of a watched process whose agent answers, polling one
/// process that other agents watch, and identifying unknown processes.</param>
/// <param name="ForgetPeerAfter">A process that the epoch does not name is dropped when it was silent for so
/// long.</param>
/// <param name="SuspicionTimeout">Other agents may take so long to say whether they share a suspicion.</param>
/// <param name="DisagreementPause">After so long a suspicion that the others did not share is raised again.</param>
/// <param name="Detector">When samples become a verdict.</param>
public sealed record MonitorOptions(NodeEndpoint Self, TimeSpan Step, TimeSpan ProbeTimeout, TimeSpan SlowInterval,
    TimeSpan ForgetPeerAfter, TimeSpan SuspicionTimeout, TimeSpan DisagreementPause, DetectorOptions Detector);
