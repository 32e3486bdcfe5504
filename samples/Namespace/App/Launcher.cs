using Corfu;
using Corfu.Hosting;
using NamespaceSample.History;
using NamespaceSample.Processes;
using Tango;

namespace NamespaceSample.App;

/// <summary>Joins a command to the console: signals, errors, exit codes.</summary>
internal static class Launcher
{
    public static async Task<int> RunAsync(Func<CancellationToken, Task<int>> command)
    {
        using var signals = new StopSignals();
        try
        {
            return await command(signals.Token);
        }
        catch (HistoryFormatException e)
        {
            await Console.Error.WriteLineAsync($"error: {e.Message}");
            return ExitCodes.Usage;
        }
        catch (Exception e) when (e is OperationCanceledException or CorfuException or TangoException
            or NodeStartException or ChildProcessException or IOException or UnauthorizedAccessException)
        {
            // Work that was stopped may have ended by an error of its own.
            if (signals.Token.IsCancellationRequested) return ExitCodes.Interrupted;
            await Console.Error.WriteLineAsync($"error: {e.Message}");
            return ExitCodes.Failed;
        }
    }
}
