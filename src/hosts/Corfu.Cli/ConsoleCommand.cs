using System.Net;
using Corfu.WebConsole;

namespace Corfu.Cli;

/// <summary><c>corfu console</c>: pages about a running cluster for a browser on this machine.</summary>
internal static class ConsoleCommand
{
    private const string Description =
        """
        Show a running cluster in a browser: verdict, chains, timeline of reconfigurations, processes, objects and their
        past, transactions and what they lost to. The console only reads. It prints an address that works once, in one
        browser, and goes on until Ctrl-C.
        """;

    private static readonly IPEndPoint s_anyPort = new(IPAddress.Loopback, 0);

    public static Command Create()
    {
        var connect = CommonOptions.ConnectOption();
        var listen = CommonOptions.ListenOption(s_anyPort);
        var command = new Command("console", Description) { connect, listen };
        command.SetAction(async (result, cancellationToken) =>
        {
            var connection = result.GetRequiredValue(connect);
            if (!ConnectionString.TryParse(connection, out _, out var fault)) throw new UsageException(fault);
            await using var server = await ConsoleServer.StartAsync(
                result.GetRequiredValue(listen), new ConsoleOptions { Connection = connection }, cancellationToken);
            CommandDeadline.Connected();
            var output = result.InvocationConfiguration.Output;
            await output.WriteLineAsync(server.Address);
            await output.FlushAsync(cancellationToken);
            await result.InvocationConfiguration.Error.WriteLineAsync(
                "Open this address in a browser on this machine; it works once. Ctrl-C ends the console.");
            await Task.Delay(Timeout.InfiniteTimeSpan, cancellationToken)
                .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            return ExitCode.Ok;
        });
        return command;
    }
}
