namespace Corfu.Agent;

/// <summary>The part of <see cref="AgentOptions"/> that monitoring uses.</summary>
internal sealed record MonitorOptions(NodeEndpoint Self, TimeSpan Step, TimeSpan ProbeTimeout, TimeSpan SlowInterval,
    TimeSpan ForgetPeerAfter, TimeSpan SuspicionTimeout, TimeSpan DisagreementPause, DetectorOptions Detector);
