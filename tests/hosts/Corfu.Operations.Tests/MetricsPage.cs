using System.Text;

namespace Corfu.Operations.Tests;

/// <summary>docs/metrics.md, from the instruments that the code makes.</summary>
internal static class MetricsPage
{
    public const string Path = "docs/metrics.md";

    /// <summary>The attributes of an instrument; one that is not named here has none.</summary>
    public static IReadOnlyDictionary<string, string[]> Attributes { get; } = new Dictionary<string, string[]>
    {
        ["corfu.agent.job.io"] = ["corfu.job"],
        ["corfu.agent.job.remaining"] = ["corfu.job"],
        ["corfu.agent.node.health"] = ["corfu.health", "corfu.node", "corfu.role"],
        ["corfu.agent.probe.duration"] = ["corfu.outcome", "corfu.role"],
        ["corfu.agent.spare"] = ["corfu.role"],
        ["corfu.agent.suspicion"] = ["corfu.health"],
        ["corfu.etcd.call.duration"] = ["corfu.method", "corfu.status"],
        ["corfu.hosting.certificate.expiry"] = ["corfu.anchor", "corfu.certificate"],
        ["corfu.hosting.clock.offset"] = ["corfu.node"],
        ["corfu.hosting.cluster.verdict"] = ["corfu.verdict"],
        ["corfu.hosting.info"] = ["corfu.protocol", "corfu.version"],
        ["corfu.sequencer.refused"] = ["corfu.status"],
        ["corfu.server.denied"] = ["corfu.opcode", "corfu.role"],
        ["corfu.server.dropped"] = ["corfu.reason"],
        ["corfu.server.identity.connection"] = ["corfu.identity", "corfu.role"],
        ["corfu.server.identity.io"] = ["corfu.identity", "corfu.role"],
        ["corfu.server.identity.request"] = ["corfu.identity", "corfu.role"],
        ["corfu.server.io"] = ["corfu.direction"],
        ["corfu.server.refused"] = ["corfu.reason"],
        ["corfu.server.request.duration"] = ["corfu.opcode", "corfu.role", "corfu.status"],
        ["corfu.store.value.read"] = ["corfu.store.source"],
        ["corfu.store.write"] = ["corfu.store.verdict"],
        ["corfu.transport.call.duration"] = ["corfu.opcode", "corfu.status"],
        ["corfu.transport.io"] = ["corfu.direction"],
        ["corfu.transport.tls.reload"] = ["corfu.outcome"],
        ["corfu.unit.disk.free"] = ["corfu.unit"],
        ["corfu.unit.disk.limit"] = ["corfu.unit"],
        ["corfu.unit.end"] = ["corfu.unit"],
        ["corfu.unit.epoch"] = ["corfu.unit"],
        ["corfu.unit.health"] = ["corfu.health", "corfu.unit"],
        ["corfu.unit.page.damaged"] = ["corfu.unit"],
        ["corfu.unit.page.stored"] = ["corfu.unit"],
        ["corfu.unit.read.pending"] = ["corfu.unit"],
        ["corfu.unit.stored"] = ["corfu.unit"],
        ["corfu.unit.stream"] = ["corfu.unit"],
        ["corfu.unit.stream.limit"] = ["corfu.unit"],
        ["corfu.unit.trim_mark"] = ["corfu.unit"],
        ["corfu.unit.waiting"] = ["corfu.unit"],
        ["corfu.zookeeper.connection"] = ["corfu.service"],
        ["corfu.zookeeper.connection.closed"] = ["corfu.reason"],
        ["corfu.zookeeper.node"] = ["corfu.service"],
        ["corfu.zookeeper.queue.size"] = ["corfu.direction", "corfu.service"],
        ["corfu.zookeeper.request.duration"] = ["corfu.opcode", "corfu.status"],
        ["corfu.zookeeper.serving"] = ["corfu.service"],
        ["corfu.zookeeper.session"] = ["corfu.service"],
        ["corfu.zookeeper.watch"] = ["corfu.service"],
        ["salus.client.io"] = ["salus.direction"],
        ["salus.nbd.io"] = ["salus.direction"],
        ["salus.nbd.request.duration"] = ["salus.command", "salus.error"],
        ["salus.node.region"] = ["salus.store"],
        ["salus.node.region.recovering"] = ["salus.store"],
        ["salus.region.io"] = ["salus.direction"],
        ["salus.store.disk.free"] = ["salus.store"],
        ["salus.store.health"] = ["salus.health", "salus.store"],
        ["salus.store.log.size"] = ["salus.store"],
        ["salus.store.region"] = ["salus.store"],
        ["salus.volume.health"] = ["salus.health", "salus.volume"],
        ["tango.ask"] = ["tango.outcome"],
        ["tango.object.checkpoint.size"] = ["tango.object", "tango.type"],
        ["tango.object.stopped"] = ["tango.object", "tango.type"],
        ["tango.object.update"] = ["tango.object", "tango.type"],
        ["tango.transaction"] = ["tango.object", "tango.outcome", "tango.reason"],
        ["tango.trim.claim"] = ["tango.object", "tango.type"],
    };

    public static string Write()
    {
        var page = new StringBuilder("""
            # Metrics

            Every instrument of nodes, clients, Tango, the store, CRAQ and Salus, from the code; a test compares. Names,
            units and attributes follow OpenTelemetry. `/metrics` of a node (`http` in `node.json`) has them under
            Prometheus' names: dots become underscores, units are written out, counters end with `_total`. A histogram
            of seconds has 18 buckets, from 50 us to 10 s.

            An attribute whose values come from outside keeps the first 64 identities, 256 objects or 64 nodes; the
            rest share the value `other`. Tango's figures of objects have `tango.runtime` too where a host has several
            runtimes.

            The resource says whose figures they are: `service.name` is `corfu`, `service.instance.id` the node's
            name, `corfu.cluster.id` the cluster. Alerts: [operations.md](operations.md#alerts).

            """);
        foreach (var meter in PublishedInstruments.All.GroupBy(own => own.Meter.Name)
            .OrderBy(own => own.Key, StringComparer.Ordinal))
        {
            page.Append($"\n## {meter.Key}\n\n| instrument | kind | unit | attributes | |\n|---|---|---|---|---|\n");
            foreach (var own in meter)
            {
                var attributes = string.Join(", ", Attributes.GetValueOrDefault(own.Name, []).Select(a => $"`{a}`"));
                page.Append($"| `{own.Name}` | {PublishedInstruments.KindOf(own)} | `{own.Unit}` | {attributes} | ")
                    .Append($"{own.Description} |\n");
            }
        }

        return page.ToString();
    }
}
