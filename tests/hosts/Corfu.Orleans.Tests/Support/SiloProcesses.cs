using System.Diagnostics;
using System.Globalization;

namespace Corfu.Orleans.Tests.Support;

/// <summary>Silos in processes of their own (tests/hosts/Corfu.OrleansSilo), with all providers on one log.</summary>
internal sealed class SiloProcesses(string connectionString, string clusterId) : IAsyncDisposable
{
    private static readonly TimeSpan s_startLimit = TimeSpan.FromSeconds(60);

    private readonly List<SiloProcess> _all = [];

    public async Task<SiloProcess> StartAsync(int siloPort, int gatewayPort)
    {
        var start = new ProcessStartInfo("dotnet")
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
            ArgumentList =
            {
                Path.Combine(AppContext.BaseDirectory, "Corfu.OrleansSilo.dll"), connectionString, clusterId,
                siloPort.ToString(CultureInfo.InvariantCulture), gatewayPort.ToString(CultureInfo.InvariantCulture),
            },
        };
        var silo = new SiloProcess(Process.Start(start)!, siloPort, gatewayPort);
        lock (_all) _all.Add(silo);
        await silo.WaitUntilReadyAsync().WaitAsync(s_startLimit);
        return silo;
    }

    public ValueTask DisposeAsync()
    {
        foreach (var silo in _all) silo.Dispose();
        return ValueTask.CompletedTask;
    }
}

internal sealed class SiloProcess(Process process, int siloPort, int gatewayPort) : IDisposable
{
    public int SiloPort => siloPort;

    public int GatewayPort => gatewayPort;

    public async Task WaitUntilReadyAsync()
    {
        var errors = process.StandardError.ReadToEndAsync();
        var output = "";
        while (await process.StandardOutput.ReadLineAsync() is { } line)
        {
            if (line == "ready")
            {
                // Nothing that it says later may fill the pipe.
                _ = process.StandardOutput.ReadToEndAsync();
                return;
            }

            output += line + "\n";
        }

        throw new InvalidOperationException($"The silo ended before it was ready: {output}{await errors}");
    }

    /// <summary>As kill -9.</summary>
    public async Task KillAsync()
    {
        process.Kill();
        await process.WaitForExitAsync();
    }

    public void Dispose()
    {
        if (!process.HasExited) process.Kill();
        process.Dispose();
    }
}
