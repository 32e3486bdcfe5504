using Microsoft.Extensions.Hosting;

namespace Corfu.Hosting;

/// <summary>Runs a front end for as long as its host runs.</summary>
internal sealed class FrontEndService(
    IFrontEnd frontEnd, FrontEndOptions own, NodeOptions options, ILoggerFactory loggers)
    : IHostedService, IReloadable
{
    private IAsyncDisposable? _running;

    /// <summary>Why the front end does not serve; null: it does, or the process does not ask it yet.</summary>
    public string? Fault => (_running as IFrontEndHealth)?.Fault is { } fault
        ? $"The front end {own.Kind} at {own.Listen} does not serve: {fault}"
        : null;

    public async Task StartAsync(CancellationToken cancellationToken)
    {
        var start = new FrontEndStart(own.Endpoint!.Value, options.Connection, own.Allow ?? [], loggers)
        {
            Tls = options.OpenTls,
            Folder = Path.GetDirectoryName(options.ConfigFile),
            Limits = options.Limits.Of(own.Kind),
            Settings = own.Settings,
        };
        try
        {
            _running = await frontEnd.StartAsync(start, cancellationToken);
        }
        catch (CorfuException e) when (e is not NodeStartException)
        {
            throw new NodeStartException(e.Message, e);
        }
    }

    public ImmutableArray<string> Reload(NodeOptions now) => (_running as IReloadable)?.Reload(now) ?? [];

    public async Task StopAsync(CancellationToken cancellationToken)
    {
        if (Interlocked.Exchange(ref _running, null) is { } running) await running.DisposeAsync();
    }
}
