using System.Text.Encodings.Web;
using System.Text.Json;
using Corfu.WebConsole.Collecting;
using Corfu.WebConsole.Serving;
using Corfu.WebConsole.Views;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace Corfu.WebConsole;

/// <summary>The pages of one cluster, with one collector for all viewers. Who may see them is decided by the host that
/// maps them.</summary>
public sealed class ConsoleSite : IAsyncDisposable
{
    private const int MaxStreams = 64;

    // The script reads it as JSON, and no browser as markup.
    private static readonly JsonSerializerOptions s_json =
        new() { Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping };

    private readonly Collector _collector;
    private readonly Pages _pages;
    private readonly PageRenderer _renderer;
    private readonly CancellationTokenSource _stop = new();
    private int _streams;

    /// <exception cref="FormatException">The connection string is malformed.</exception>
    public ConsoleSite(ConsoleOptions options)
    {
        _collector = new Collector(options);
        _pages = new Pages(_collector);
        _renderer = new PageRenderer(options.Loggers);
    }

    /// <summary>Finds a process of the cluster now.</summary>
    /// <exception cref="ClusterNotFoundException">None answers, or they belong to several clusters.</exception>
    public Task FindAsync(CancellationToken cancellationToken = default) => _collector.FindAsync(cancellationToken);

    /// <summary>Maps the pages. Their event streams, which would last as long as their viewers, end when the host
    /// begins to stop.</summary>
    /// <param name="path">As <c>/console</c>; empty for the root.</param>
    public IEndpointConventionBuilder Map(IEndpointRouteBuilder endpoints, string path = "")
    {
        path = path.TrimEnd('/');
        endpoints.ServiceProvider.GetRequiredService<IHostApplicationLifetime>().ApplicationStopping
            .Register(_stop.Cancel);
        var group = endpoints.MapGroup(path.Length == 0 ? "/" : path);
        group.MapGet("/", context => WritePageAsync(context, path, "overview"));
        group.MapGet("/{key:regex(^[a-z]+$)}", context =>
            WritePageAsync(context, path, (string)context.Request.RouteValues["key"]!));
        group.MapGet("/events/{key:regex(^[a-z]+$)}", context =>
            WriteEventsAsync(context, path, (string)context.Request.RouteValues["key"]!));
        group.MapGet("/assets/{name}", static context =>
        {
            AddPolicy(context.Response);
            return Assets.WriteAsync(context, (string)context.Request.RouteValues["name"]!);
        });
        return group;
    }

    public async ValueTask DisposeAsync()
    {
        await _stop.CancelAsync();
        await _pages.DisposeAsync();
        await _collector.DisposeAsync();
        await _renderer.DisposeAsync();
        _stop.Dispose();
    }

    internal static void AddPolicy(HttpResponse response)
    {
        response.Headers.ContentSecurityPolicy =
            "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'";
        response.Headers.XContentTypeOptions = "nosniff";
        response.Headers["Referrer-Policy"] = "no-referrer";
        response.Headers["Cross-Origin-Opener-Policy"] = "same-origin";
        response.Headers["Cross-Origin-Resource-Policy"] = "same-origin";
    }

    private async Task WritePageAsync(HttpContext context, string path, string key)
    {
        AddPolicy(context.Response);
        context.Response.Headers.CacheControl = "no-store";
        var picture = await _collector.LookAsync(context.RequestAborted);
        if (await _pages.LoadAsync(key, path, context.Request.Query, picture, context.RequestAborted) is not { } page)
        {
            context.Response.StatusCode = StatusCodes.Status404NotFound;
            return;
        }

        context.Response.ContentType = "text/html; charset=utf-8";
        var frame = FrameOf(page, path, context.Request.QueryString, picture);
        await context.Response.WriteAsync(await _renderer.RenderAsync(page, frame), context.RequestAborted);
    }

    private async Task WriteEventsAsync(HttpContext context, string path, string key)
    {
        AddPolicy(context.Response);
        if (Interlocked.Increment(ref _streams) > MaxStreams)
        {
            Interlocked.Decrement(ref _streams);
            context.Response.StatusCode = StatusCodes.Status503ServiceUnavailable;
            return;
        }

        using var either = CancellationTokenSource.CreateLinkedTokenSource(context.RequestAborted, _stop.Token);
        try
        {
            await WriteEventsAsync(context, path, key, either.Token);
        }
        catch (OperationCanceledException) when (either.IsCancellationRequested)
        {
            // The viewer has gone, or the console ends.
        }
        finally
        {
            Interlocked.Decrement(ref _streams);
        }
    }

    private async Task WriteEventsAsync(
        HttpContext context, string path, string key, CancellationToken stop)
    {
        using var viewer = _collector.Watch();
        var regions = new Regions();
        var picture = await _collector.LookAsync(stop);
        while (await _pages.LoadAsync(key, path, context.Request.Query, picture, stop) is { } page)
        {
            if (!context.Response.HasStarted)
            {
                context.Response.ContentType = "text/event-stream";
                context.Response.Headers.CacheControl = "no-store";
            }

            var frame = FrameOf(page, path, context.Request.QueryString, picture);
            var message = JsonSerializer.Serialize(
                new
                {
                    now = frame.Now.ToUnixTimeMilliseconds(),
                    regions = regions.TakeChanged(await _renderer.RenderAsync(page, frame)),
                },
                s_json);
            await context.Response.WriteAsync($"data: {message}\n\n", stop);
            await context.Response.Body.FlushAsync(stop);
            picture = await _collector.NextAsync(stop);
        }

        if (!context.Response.HasStarted) context.Response.StatusCode = StatusCodes.Status404NotFound;
    }

    private Frame FrameOf(Page page, string path, QueryString query, ClusterPicture picture) => new(
        path, page.Key, page.Title, page.Lead, $"{path}/events/{page.Key}{query}", picture,
        _collector.Time.GetUtcNow());
}
