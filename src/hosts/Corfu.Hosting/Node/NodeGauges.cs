using System.Diagnostics.Metrics;
using System.Globalization;

namespace Corfu.Hosting;

/// <summary>State of the nodes of this process, read when a collector asks.</summary>
internal static class NodeGauges
{
    public static readonly Observed<CorfuNode> Nodes = new();

    private static readonly BoundedValues Others = new(BoundedValues.Nodes);
    private static readonly BoundedValues Certs = new(BoundedValues.Identities);

    static NodeGauges()
    {
        var meter = HostingTelemetry.Meter;
        Nodes.Gauges(meter, "corfu.hosting.info", "{build}", "1: the build that runs, and its newest protocol.",
            static _ => [new(1, "corfu.version".With(ProcessReporter.Build),
                "corfu.protocol".With(WireProtocol.Current.Highest.ToString(CultureInfo.InvariantCulture)))]);
        Nodes.Gauges(meter, "corfu.hosting.cluster.verdict", "{verdict}", "1 for the verdict of the node's agent.",
            static node => VerdictOf(node) is { } verdict
                ? Verdicts.Select(state => new Measurement<long>(
                    state == verdict.State ? 1 : 0, "corfu.verdict".With(state)))
                : []);
        meter.CreateObservableGauge("corfu.hosting.clock.offset", ReadOffsets, "s",
            "How far the clock of another process is ahead of this one's.");
        meter.CreateObservableGauge("corfu.hosting.certificate.expiry", ReadExpiry, "s",
            "Until a certificate ends; negative: since it has ended.");
    }

    private static readonly string[] Verdicts = ["ok", "degraded", "mirror", "down"];

    /// <summary>The verdict of the node's agent; null before it has looked.</summary>
    private static ClusterVerdict? VerdictOf(CorfuNode node) =>
        node.Agent is { Confirmed: not null } agent ? ClusterVerdict.Of(node.Projection, agent.Info) : null;

    private static IEnumerable<Measurement<double>> ReadOffsets() =>
        from node in Nodes.Live
        from other in node.ClockOffsets
        select new Measurement<double>(
            other.Value.TotalSeconds, "corfu.node".With(Others.Of(other.Key.ToString())));

    private static IEnumerable<Measurement<double>> ReadExpiry() =>
        from node in Nodes.Live
        from certificate in node.Certificates.Take(ProcessReport.MaxItems)
        select new Measurement<double>(
            (certificate.NotAfter - DateTimeOffset.UtcNow).TotalSeconds,
            "corfu.certificate".With(Certs.Of(certificate.Name)),
            "corfu.anchor".With(certificate.IsAnchor ? "true" : "false"));
}
