using System.Globalization;
using System.Text.Json;
using Tango;

namespace Corfu.Cli;

/// <summary><c>corfu tango</c>: what all objects of a log have in common.</summary>
internal static class TangoCommand
{
    private const string LevelDescription =
        """
        Print the log's feature level, and the newest one that this tool knows. A level says what clients may write into
        the log: 1 updates and transactions, 2 checkpoints, trimming under objects, deletion.
        """;

    private const string RaiseDescription =
        """
        Raise the log's feature level, for good. First see to it that every client of the log runs code that knows the
        level: older code stops as soon as it meets the new one.
        """;

    public static Command Create() => new("tango", "What all Tango objects of a log have in common.")
    {
        Level(),
        RetentionCommand.Create(),
    };

    /// <summary>A command of a connected runtime, which hosts the directory alone.</summary>
    public static Command WithRuntime(string name, string description, Symbol[] parts,
        Func<CorfuClient, TangoRuntime, ParseResult, CancellationToken, Task<int>> run) =>
        Commands.WithClient(name, description, parts, async (client, result, cancellationToken) =>
        {
            await using var runtime = new TangoRuntime(client);
            return await run(client, runtime, result, cancellationToken);
        });

    private static Command Level()
    {
        var json = CommonOptions.JsonOption();
        var command = WithRuntime("level", LevelDescription, [json], async (_, runtime, result, cancellationToken) =>
        {
            var level = await runtime.Log.ReadLevelAsync(cancellationToken);
            await WriteAsync(result, json, level);
            return ExitCode.Ok;
        });
        command.Add(Raise());
        return command;
    }

    private static Command Raise()
    {
        var json = CommonOptions.JsonOption();
        var level = new Argument<int>("level") { Description = "The level, such as 2." };
        level.Validators.Add(result =>
        {
            var isNumber = int.TryParse(result.Tokens[0].Value, CultureInfo.InvariantCulture, out var number);
            if (isNumber && (number < 1 || number > RuntimeLog.NewestLevel))
                result.AddError(
                    $"This tool knows the levels 1 to {RuntimeLog.NewestLevel}, not {number}. A newer version of it "
                    + "may know more.");
        });
        return WithRuntime("raise", RaiseDescription, [level, json], async (_, runtime, result, cancellationToken) =>
        {
            var raised = await runtime.Log.RaiseLevelAsync(result.GetValue(level), cancellationToken);
            await WriteAsync(result, json, raised);
            return ExitCode.Ok;
        });
    }

    private static Task WriteAsync(ParseResult result, Option<bool> json, int level) =>
        result.InvocationConfiguration.Output.WriteLineAsync(result.GetValue(json)
            ? JsonSerializer.Serialize(new LevelJson(level, RuntimeLog.NewestLevel), CliJson.Lines.LevelJson)
            : $"{level} (this tool knows levels up to {RuntimeLog.NewestLevel})");
}

/// <summary>A log's feature level.</summary>
internal sealed record LevelJson(int Level, int Newest);
