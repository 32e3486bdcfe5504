using Corfu;
using JobScheduler.Cli;
using JobScheduler.Reporting;
using JobScheduler.Silos;
using JobScheduler.Workloads;
using Orleans.Runtime;
using Spectre.Console;
using Tango;

namespace JobScheduler.App;

/// <summary>Joins the console to the app: signals, display, errors, exit codes.</summary>
internal static class Launcher
{
    private static readonly TimeSpan PlainInterval = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan LiveInterval = TimeSpan.FromMilliseconds(100);

    public static async Task<int> RunAsync(SchedulerOptions options)
    {
        using var signals = new StopSignals();
        Workload workload;
        try
        {
            workload = WorkloadSource.Load(options);
        }
        catch (TraceFormatException e)
        {
            await Console.Error.WriteLineAsync($"error: {e.Message}");
            return ExitCodes.Usage;
        }

        try
        {
            await using ILogSource source = await OpenAsync(options, signals.Token);
            var app = new SchedulerApp(options, workload, source, Console.Out, Console.Error, Display());
            try
            {
                return await app.RunAsync(signals.Token);
            }
            catch (Exception e) when (IsInterrupted(e))
            {
                app.SayHowToResume();
                return ExitCodes.Interrupted;
            }
        }
        catch (Exception e) when (IsInterrupted(e))
        {
            return ExitCodes.Interrupted;
        }
        catch (Exception e) when (e is CorfuException or TangoException or SiloException or OrleansException
            or IOException or UnauthorizedAccessException)
        {
            await Console.Error.WriteLineAsync($"error: {e.Message}");
            return ExitCodes.Failed;
        }
        catch (Exception e)
        {
            // Unexpected: its cause is found from the whole of it.
            await Console.Error.WriteLineAsync($"error: {e}");
            return ExitCodes.Failed;
        }

        // Work that was stopped may have ended by an error of its own, such as an append in doubt.
        bool IsInterrupted(Exception e) => signals.Token.IsCancellationRequested
            && e is (OperationCanceledException or CorfuException or TangoException);
    }

    private static IProgressDisplay Display() => Console.IsOutputRedirected
        ? new PlainDisplay(Console.Out, PlainInterval)
        : new TerminalDisplay(AnsiConsole.Console, LiveInterval);

    private static async Task<ILogSource> OpenAsync(SchedulerOptions options, CancellationToken cancellationToken) =>
        options.Connect is { } connection
            ? new ConnectedLogSource(connection)
            : await EmbeddedLogSource.StartAsync(options.Data, cancellationToken);
}
