using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using Corfu.Hosting;
using JobScheduler.Cli;

namespace JobScheduler.Silos;

/// <summary>This program again, as a silo.</summary>
internal sealed class SiloProcess : IAsyncDisposable
{
    private readonly Process _process;

    private SiloProcess(string name, Process process) => (Name, _process) = (name, process);

    /// <summary>The silo's name: another one for every process.</summary>
    public string Name { get; }

    public bool HasEnded => _process.HasExited;

    /// <summary>Starts a silo and waits until it serves.</summary>
    /// <exception cref="SiloException">The process ended instead, or took too long.</exception>
    public static async Task<SiloProcess> StartAsync(SiloSettings settings, CancellationToken cancellationToken)
    {
        NodeCommandLine self = NodeCommandLine.Self(SchedulerCommand.SiloCommand);
        (int silo, int gateway) = FreePorts();
        var process = new SiloProcess(settings.Name, Process.Start(
            new ProcessStartInfo(self.Program, self.Arguments)
            {
                RedirectStandardInput = true,
                RedirectStandardOutput = true,
            })!);
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
    public async Task KillAsync()
    {
        _process.Kill();
        await _process.WaitForExitAsync();
    }

    /// <summary>A silo ends when its input does; one that does not is killed.</summary>
    public async ValueTask DisposeAsync()
    {
        try
        {
            if (!_process.HasExited)
                _process.StandardInput.Close();
            await _process.WaitForExitAsync().WaitAsync(2 * SiloTimes.Stop);
        }
        catch (Exception e) when (e is IOException or TimeoutException)
        {
            await KillAsync();
        }

        _process.Dispose();
    }

    private async Task BeginAsync(SiloSettings settings, CancellationToken cancellationToken)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        limit.CancelAfter(SiloTimes.Start);
        try
        {
            await _process.StandardInput.WriteLineAsync(settings.ToLine().AsMemory(), limit.Token);
            await _process.StandardInput.FlushAsync(limit.Token);
            while (await _process.StandardOutput.ReadLineAsync(limit.Token) is { } line)
            {
                if (line == SiloMode.Ready)
                    return;
            }
        }
        catch (IOException)
        {
            // The process has ended.
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            throw new SiloException($"{Name} did not serve within {SiloTimes.Start.TotalSeconds:N0} s");
        }

        await _process.WaitForExitAsync(cancellationToken);
        throw new SiloException($"{Name} ended with exit code {_process.ExitCode} before it served");
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
