using System.Net;
using System.Net.Sockets;
using JobScheduler.Cli;

namespace JobScheduler.Silos;

/// <summary>A silo in a process of its own.</summary>
internal sealed class SiloProcess : IAsyncDisposable
{
    private readonly ChildProcess _process;

    private SiloProcess(ChildProcess process) => _process = process;

    /// <summary>The silo's name: another one for every process.</summary>
    public string Name => _process.Name;

    public bool HasEnded => _process.HasEnded;

    /// <summary>Starts a silo and waits until it serves.</summary>
    /// <exception cref="SiloException">The process ended instead, or took too long.</exception>
    public static async Task<SiloProcess> StartAsync(SiloSettings settings, CancellationToken cancellationToken)
    {
        (int silo, int gateway) = FreePorts();
        var process = new SiloProcess(
            ChildProcess.Start(settings.Name, 2 * SiloTimes.Stop, SchedulerCommand.SiloCommand));
        try
        {
            await process.BeginAsync(settings with { SiloPort = silo, GatewayPort = gateway }, cancellationToken);
            return process;
        }
        catch
        {
            await process.DisposeAsync();
            throw;
        }
    }

    /// <summary>SIGKILL.</summary>
    public Task KillAsync() => _process.KillAsync();

    /// <summary>A silo ends when its input does; one that does not is killed.</summary>
    public ValueTask DisposeAsync() => _process.DisposeAsync();

    private async Task BeginAsync(SiloSettings settings, CancellationToken cancellationToken)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        limit.CancelAfter(SiloTimes.Start);
        try
        {
            await _process.TellAsync(settings.ToLine());
            while (await _process.RequireAsync(limit.Token) != SiloMode.Ready)
            {
                // The silo's own lines come before.
            }
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            throw new SiloException($"{Name} did not serve within {SiloTimes.Start.TotalSeconds:N0} s");
        }
        catch (ChildProcessException e)
        {
            throw new SiloException($"{e.Message} before it served");
        }
    }

    // Both at once: the second must not be the first again.
    private static (int Silo, int Gateway) FreePorts()
    {
        using var first = new TcpListener(IPAddress.Loopback, 0);
        using var second = new TcpListener(IPAddress.Loopback, 0);
        first.Start();
        second.Start();
        return (((IPEndPoint)first.LocalEndpoint).Port, ((IPEndPoint)second.LocalEndpoint).Port);
    }
}

/// <summary>The run cannot go on on its silos.</summary>
internal sealed class SiloException(string message) : Exception(message);
