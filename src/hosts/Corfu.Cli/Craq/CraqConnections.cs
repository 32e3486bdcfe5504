using Craq;
using Craq.Hosting;

namespace Corfu.Cli;

/// <summary>From the connection string of a command to the nodes of CRAQ and to their directory.</summary>
internal static class CraqConnections
{
    public const string MainKeyspace = "main";

    public static Option<string> LogOption() => new("--connect", "-c")
    {
        Description = "The connection string of the log, where the directory of chains is.",
        HelpName = "corfu://HOST:PORT,...",
        Required = true,
    };

    public static Option<string> AnyOption() => new("--connect", "-c")
    {
        Description = "The connection string of the nodes, as 'craq up' prints it, or of their log.",
        HelpName = "craq://HOST:PORT,...",
        Required = true,
    };

    /// <summary>A command that works with the directory in the log.</summary>
    public static Command WithAdmin(string name, string description, Symbol[] parts,
        Func<CraqAdmin, ParseResult, CancellationToken, Task<int>> run)
    {
        var connect = LogOption();
        var command = Commands.New(name, description, [connect, .. parts]);
        command.SetAction(async (result, cancellationToken) =>
        {
            var text = result.GetRequiredValue(connect);
            if (text.StartsWith("craq", StringComparison.Ordinal))
                throw new UsageException($"'{name}' changes the directory in the log: give the log's connection "
                    + "string (corfu://...), which 'craq up' prints too.");
            await using var log = await Connections.ConnectAsync(text, cancellationToken);
            await using var admin = await CraqAdmin.OpenAsync(log, cancellationToken);
            return await run(admin, result, cancellationToken);
        });
        return command;
    }

    /// <summary>A client of the nodes, found through the log where the string is the log's.</summary>
    public static async Task<CraqClient> ConnectAsync(string text, CancellationToken cancellationToken)
    {
        if (!text.StartsWith("craq", StringComparison.Ordinal))
        {
            await using var log = await Connections.ConnectAsync(text, cancellationToken);
            await using var admin = await CraqAdmin.OpenAsync(log, cancellationToken);
            text = (await admin.ReadAsync(cancellationToken)).ConnectionString(Connections.Parse(text)).ToString();
        }

        if (!CraqConnectionString.TryParse(text, out _, out var fault)) throw new UsageException(fault);
        return await CraqClient.ConnectAsync(text, cancellationToken: cancellationToken);
    }
}
