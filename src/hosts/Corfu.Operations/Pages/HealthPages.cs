using System.Text.Json;
using Corfu.Hosting;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;

namespace Corfu.Operations.Pages;

/// <summary>Health as orchestrators and load balancers ask for it: the status code is the answer, the body its
/// reasons.</summary>
internal sealed class HealthPages(NodeSurroundings node)
{
    public void Map(IEndpointRouteBuilder endpoints)
    {
        endpoints.MapGet("/health/live", (RequestDelegate)LiveAsync);
        endpoints.MapGet("/health/ready", (RequestDelegate)ReadyAsync);
        endpoints.MapGet("/health/cluster", (RequestDelegate)ClusterAsync);
    }

    // A node that still reads its log back lives.
    private Task LiveAsync(HttpContext context)
    {
        var faults = node.Running()?.Faults ?? [];
        return WriteAsync(context, faults.IsEmpty, json =>
        {
            json.WriteString("status", faults.IsEmpty ? "live" : "restart it");
            WriteTexts(json, "reasons", faults);
        });
    }

    private Task ReadyAsync(HttpContext context)
    {
        var reasons = ReasonsOf(node);
        var warnings = node.Running()?.Warnings ?? [];
        return WriteAsync(context, reasons.IsEmpty, json =>
        {
            json.WriteString("status", reasons.IsEmpty ? "ready" : "not ready");
            WriteTexts(json, "reasons", reasons);
            WriteTexts(json, "warnings", warnings);
        });
    }

    private Task ClusterAsync(HttpContext context)
    {
        var view = ClusterView.Of(node);
        return WriteAsync(context, view?.Verdict.IsServing == true, json =>
        {
            json.WriteString("status", view?.Verdict.State ?? "unknown");
            json.WriteString("verdict", view?.Verdict.ToString() ?? ClusterView.Unknown);
            if (view is null) return;
            WriteTexts(json, "reasons", view.Verdict.Reasons);
            json.WriteNumber("epoch", view.Epoch.Value);
            json.WriteNumber("age_seconds", Math.Round(view.Age.TotalSeconds, 1));
            json.WriteNumber("epoch_confirmed_seconds", Math.Round(view.EpochAge.TotalSeconds, 1));
            json.WriteString("seen_by", node.Options.Listen);
        });
    }

    /// <summary>Why the node's roles and front ends do not all serve; empty: they do.</summary>
    internal static ImmutableArray<string> ReasonsOf(NodeSurroundings node) =>
        node.Running() is { } running
            ? running.Faults.AddRange(running.Stopped).AddRange(node.FrontEndFaults())
            : ["The node's roles are not open yet, or are closed already."];

    private static void WriteTexts(Utf8JsonWriter json, string name, ImmutableArray<string> texts)
    {
        json.WriteStartArray(name);
        foreach (var text in texts) json.WriteStringValue(text);
        json.WriteEndArray();
    }

    private static async Task WriteAsync(HttpContext context, bool isGood, Action<Utf8JsonWriter> write)
    {
        context.Response.StatusCode = isGood ? StatusCodes.Status200OK : StatusCodes.Status503ServiceUnavailable;
        context.Response.ContentType = "application/json; charset=utf-8";
        await using var json = new Utf8JsonWriter(context.Response.BodyWriter);
        json.WriteStartObject();
        write(json);
        json.WriteEndObject();
        await json.FlushAsync(context.RequestAborted);
    }
}
