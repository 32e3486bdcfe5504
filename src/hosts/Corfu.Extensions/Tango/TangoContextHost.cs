using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Tango;

namespace Corfu.Extensions;

/// <summary>Opens a context when the host starts.</summary>
internal sealed class TangoContextHost<T>(
    ITangoHost tango, string name, TimeProvider time, ILogger<TangoContextHost<T>> logger) : IHostedService
    where T : TangoContext, ITangoContext<T>
{
    private T? _context;

    /// <exception cref="InvalidOperationException">The host has not started.</exception>
    public T Context => _context ?? throw new InvalidOperationException(
        $"{typeof(T).Name} is opened when the host starts. Take it from the services after that, "
        + "or in what the host runs.");

    public async Task StartAsync(CancellationToken cancellationToken)
    {
        var start = time.GetTimestamp();
        logger.LogInformation("Opening the objects of {Context}", name);
        var runtime = await tango.GetRuntimeAsync(cancellationToken);
        _context = await T.OpenAsync(runtime, name, cancellationToken);
        logger.LogInformation("The objects of {Context} are open and caught up after {Milliseconds} ms", name,
            (long)time.GetElapsedTime(start).TotalMilliseconds);
    }

    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;
}
