using Salus;
using Salus.Hosting;

namespace Corfu.Cli;

/// <summary>From the connection string of a command to what the log holds of Salus.</summary>
internal static class SalusConnections
{
    public static Option<string> LogOption() => new("--connect", "-c")
    {
        Description = "The connection string of the log, as 'salus up' prints it.",
        HelpName = "corfu://HOST:PORT,...",
        Required = true,
    };

    public static async Task<SalusLog> ConnectAsync(string text, CancellationToken cancellationToken) =>
        await SalusLog.OpenAsync(
            await Connections.ConnectAsync(text, cancellationToken), TimeProvider.System, null, cancellationToken);

    /// <summary>A command that works with the objects of the log.</summary>
    /// <param name="require">Refuses options that make no sense together, before anything is connected.</param>
    public static Command WithLog(string name, string description, Symbol[] parts,
        Func<SalusLog, ParseResult, CancellationToken, Task<int>> run, Action<ParseResult>? require = null)
    {
        var connect = LogOption();
        var command = Commands.New(name, description, [connect, .. parts]);
        command.SetAction(async (result, cancellationToken) =>
        {
            require?.Invoke(result);
            await using var salus = await ConnectAsync(result.GetRequiredValue(connect), cancellationToken);
            return await run(salus, result, cancellationToken);
        });
        return command;
    }
}
