using Grpc.Core;
using Microsoft.Extensions.Hosting;

namespace Corfu.Grpc;

/// <summary>Calls that last as long as their callers like end when the host stops.</summary>
internal sealed class HostStop(IHostApplicationLifetime lifetime)
{
    /// <exception cref="FrontEndStoppingException">The host stops.</exception>
    public async Task RunAsync(ServerCallContext context, Func<CancellationToken, Task> body)
    {
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(
            context.CancellationToken, lifetime.ApplicationStopping);
        try
        {
            await body(stop.Token);
        }
        catch (OperationCanceledException)
            when (stop.IsCancellationRequested && !context.CancellationToken.IsCancellationRequested)
        {
            throw new FrontEndStoppingException();
        }
    }
}

/// <summary>The front end is ending; another one serves the same objects.</summary>
internal sealed class FrontEndStoppingException() : Exception("The front end is ending.");
