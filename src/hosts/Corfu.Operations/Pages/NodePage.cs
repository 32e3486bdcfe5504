using System.Globalization;
using Corfu.Hosting;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;

namespace Corfu.Operations.Pages;

/// <summary>The node on one page: plain HTML without script.</summary>
/// <param name="console">The address of the console, on this endpoint; null: there is none.</param>
internal sealed class NodePage(NodeSurroundings node, string? console)
{
    private static readonly byte[] Style = ReadStyle();

    public void Map(IEndpointRouteBuilder endpoints)
    {
        endpoints.MapGet("/", (RequestDelegate)WriteAsync);
        endpoints.MapGet("/node.css", (RequestDelegate)(static context =>
        {
            context.Response.ContentType = "text/css; charset=utf-8";
            return context.Response.Body.WriteAsync(Style, context.RequestAborted).AsTask();
        }));
    }

    private async Task WriteAsync(HttpContext context)
    {
        var running = node.Running();
        var process = running is null ? null : await running.DescribeProcessAsync();
        context.Response.ContentType = "text/html; charset=utf-8";
        await context.Response.WriteAsync(Render(running, process), context.RequestAborted);
    }

    private string Render(CorfuNode? running, ProcessReport? process)
    {
        var html = new Html();
        var now = node.Time.GetUtcNow();
        html.Raw("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n")
            .Raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n")
            .Raw("<link rel=\"stylesheet\" href=\"/node.css\">\n").Element("title", $"{node.Options.Name} - corfu")
            .Raw("</head><body>\n<header><h1>").Text(node.Options.Name).Raw("<small>").Text(node.Options.Listen)
            .Raw("</small></h1>").Element("time", Format.Time(now)).Raw("</header>\n<main>\n");
        var view = ClusterView.Of(node);
        WriteVerdict(html, view);
        WriteProcess(html, running, process, view);
        WriteRoles(html, running);
        if (view is not null) WriteCluster(html, view);
        if (process is not null) WriteDisks(html, process, now);
        html.Raw("</main>\n<footer>");
        if (console is not null) html.Raw($"<a href=\"{console}\">Console</a>");
        foreach (var page in (string[])["/health/live", "/health/ready", "/health/cluster", "/metrics"])
            html.Raw($"<a href=\"{page}\">{page}</a>");
        return html.Raw("<span>This page does not refresh itself.</span></footer>\n</body></html>\n").ToString();
    }

    private static void WriteVerdict(Html html, ClusterView? view)
    {
        var tone = view?.Verdict.State switch
        {
            "ok" => "good",
            "degraded" or "mirror" => "warn",
            "down" => "bad",
            _ => "none",
        };
        html.Raw($"<section class=\"verdict {tone}\">").Element("h2", "Cluster, as this node's agent sees it")
            .Element("p", view is null ? ClusterView.Unknown : Headline(view.Verdict), "words");
        if (view is null)
        {
            html.Raw("</section>\n");
            return;
        }

        if (!view.Verdict.Reasons.IsEmpty)
        {
            html.Raw("<ul>");
            foreach (var reason in view.Verdict.Reasons) html.Element("li", reason);
            html.Raw("</ul>\n");
        }

        html.Element("p", $"Seen {Format.Span(view.Age)} ago; a majority of acceptors confirmed epoch "
            + $"{view.Epoch.Value} {Format.Span(view.EpochAge)} ago.", "age").Raw("</section>\n");
    }

    private static string Headline(ClusterVerdict verdict) => verdict.State switch
    {
        "ok" => "OK: appends succeed",
        "degraded" => "DEGRADED: appends succeed",
        "down" => "DOWN: appends do not succeed",
        _ => verdict.ToString(),
    };

    private void WriteProcess(Html html, CorfuNode? running, ProcessReport? process, ClusterView? view)
    {
        html.Raw("<section>").Element("h2", "This process").Raw("<dl>");
        Add("Cluster", node.Options.Cluster.ToString("D", CultureInfo.InvariantCulture));
        Add("Version", CorfuNode.Build);
        Add("Epoch", view is null ? "not known yet" : view.Epoch.Value.ToString(CultureInfo.InvariantCulture));
        if (process is not null)
        {
            Add("Running for", Format.Span(process.Now - process.Started));
            Add("Memory", process.MemoryLimit > 0
                ? $"{Format.Bytes(process.Memory)} of {Format.Bytes(process.MemoryLimit)}"
                : Format.Bytes(process.Memory));
            if (process.OpenFiles >= 0) Add("Open files", $"{process.OpenFiles} of {process.OpenFileLimit}");
            Add("Transport", process.Tls switch
            {
                TlsMode.Off => process.IsInsecure ? "plain, insecure by configuration" : "plain, loopback",
                TlsMode.Both => "TLS and plain",
                _ => "TLS",
            });
        }

        html.Raw("</dl>\n");
        WriteNotes(html, [.. HealthPages.ReasonsOf(node), .. running?.Warnings ?? []]);
        html.Raw("</section>\n");

        void Add(string name, string value) =>
            html.Raw("<div>").Element("dt", name).Element("dd", value).Raw("</div>");
    }

    private static void WriteNotes(Html html, ImmutableArray<string> notes)
    {
        if (notes.IsEmpty) return;
        html.Raw("<ul class=\"notes\">");
        foreach (var note in notes) html.Element("li", note);
        html.Raw("</ul>\n");
    }

    private void WriteRoles(Html html, CorfuNode? running) => html.Table(
        "Roles", "No role is open.",
        [
            .. from role in running?.Description.Roles ?? []
               let reports = ClusterView.Of(node)?.Agent.Info.Nodes ?? []
               let report = reports.FirstOrDefault(own => own.Address.Id == role.Id)
               select (Cell[])
               [
                   (node.Options.KnownRoles.Find(role.Role)?.Name ?? role.Role.ToString()).ToLowerInvariant(),
                   new Cell(role.Id.ToString(), Cell.Id),
                   report is null ? "not named yet" : report.Duty.ToString().ToLowerInvariant(),
               ],
        ],
        "role", "identity", "duty");

    private static void WriteCluster(Html html, ClusterView view)
    {
        html.Table("All roles of the cluster", "The agent knows of none.",
            [
                .. from report in view.Agent.Info.Nodes
                   orderby report.Address.Endpoint.ToString(), report.Role
                   select (Cell[])
                   [
                       report.Address.Endpoint.ToString(),
                       report.Role.ToString().ToLowerInvariant(),
                       report.Duty.ToString().ToLowerInvariant(),
                       new Cell(report.Health.ToString().ToLowerInvariant(), State: ToneOf(report.Health)),
                       new Cell(report.Why, Cell.Why),
                   ],
            ],
            "process", "role", "duty", "health", "why");
        if (view.Agent.Info.Work.IsEmpty) return;
        html.Table("Background work", "",
            [
                .. from work in view.Agent.Info.Work
                   select (Cell[])
                   [
                       work.What,
                       new Cell(work.Total > 0
                           ? string.Create(CultureInfo.InvariantCulture, $"{work.Done:N0} of {work.Total:N0}")
                           : "", Cell.Number),
                       new Cell(work.Why, Cell.Why),
                   ],
            ],
            "job", "done", "why it waits");
    }

    private static void WriteDisks(Html html, ProcessReport process, DateTimeOffset now)
    {
        html.Table("Disks", "The process has no folder.",
            [
                .. from disk in process.Disks
                   select (Cell[])
                   [
                       disk.Path, disk.FileSystem, new Cell(Format.Bytes(disk.Free), Cell.Number),
                       new Cell(Format.Bytes(disk.Size), Cell.Number),
                   ],
            ],
            "folder", "file system", "free", "size");
        if (process.Certificates.IsEmpty) return;
        html.Table("Certificates", "",
            [
                .. from certificate in process.Certificates
                   let left = certificate.NotAfter - now
                   select (Cell[])
                   [
                       certificate.Name, certificate.IsAnchor ? "authority" : "own",
                       new Cell(
                           left > TimeSpan.Zero ? $"ends in {Format.Span(left)}" : $"ended {Format.Span(-left)} ago",
                           State: left > TimeSpan.FromDays(30) ? "good" : left > TimeSpan.Zero ? "warn" : "bad"),
                   ],
            ],
            "name", "kind", "validity");
    }

    private static string ToneOf(NodeHealth health) => health switch
    {
        NodeHealth.Alive => "good",
        NodeHealth.Slow or NodeHealth.Leaving or NodeHealth.Partitioned or NodeHealth.Full => "warn",
        NodeHealth.Unknown => "none",
        _ => "bad",
    };

    private static byte[] ReadStyle()
    {
        using var stream = typeof(NodePage).Assembly.GetManifestResourceStream("node.css")!;
        var bytes = new byte[stream.Length];
        stream.ReadExactly(bytes);
        return bytes;
    }
}
