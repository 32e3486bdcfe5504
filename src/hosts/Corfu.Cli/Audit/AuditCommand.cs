using System.Globalization;
using System.Text.Json;

namespace Corfu.Cli;

/// <summary><c>corfu audit</c>: the audit files of a node.</summary>
internal static class AuditCommand
{
    private const string VerifyDescription =
        """
        Check that no line of audit files was changed, removed or added: each names the hash of the line before. Files
        are given oldest first, or as a node's folder. Lines cut from the end leave no trace there: the hash that is
        printed, kept elsewhere, shows it the next time.
        """;

    public static Command Create() =>
        new("audit", "Look at and verify who changed what, as nodes wrote it down.") { Show(), Verify() };

    private static Command Show()
    {
        var directory = CommonOptions.DirectoryOption("The node's folder.");
        var name = new Option<string>("--event") { Description = "Events of this name alone.", HelpName = "NAME" };
        var who = new Option<string>("--who") { Description = "Peers whose name contains this.", HelpName = "TEXT" };
        var count = CommonOptions.NumberOption("--count", "The newest N.", 100);
        var json = CommonOptions.JsonOption();
        var command = new Command("show", "Show a node's audit, oldest first.") { directory, name, who, count, json };
        command.SetAction(async (result, _) =>
        {
            var output = result.InvocationConfiguration.Output;
            var entries = AuditFiles.In(FolderOf(result.GetRequiredValue(directory).FullName))
                .SelectMany(AuditFiles.Read)
                .Where(entry => result.GetValue(name) is not { } wanted
                    || entry.Event.Equals(wanted, StringComparison.OrdinalIgnoreCase))
                .Where(entry => result.GetValue(who) is not { } part
                    || entry.Who?.ToString().Contains(part, StringComparison.OrdinalIgnoreCase) == true)
                .TakeLast(result.GetValue(count)).ToList();
            if (result.GetValue(json))
            {
                foreach (var entry in entries)
                    await output.WriteLineAsync(JsonSerializer.Serialize(entry, CliJson.Lines.AuditEntry));
                return ExitCode.Ok;
            }

            await TextTable.WriteAsync(output, ["TIME", "EVENT", "WHO", "EPOCH", "WHAT", "OUTCOME"],
                entries.Select(entry => new[]
                {
                    entry.Time.UtcDateTime.ToString("yyyy-MM-dd HH:mm:ss.fff", CultureInfo.InvariantCulture),
                    entry.Event,
                    entry.Who?.ToString() ?? "-",
                    entry.Epoch == 0 ? "-" : entry.Epoch.ToString(CultureInfo.InvariantCulture),
                    entry.What,
                    entry.Outcome,
                }));
            return ExitCode.Ok;
        });
        return command;
    }

    private static Command Verify()
    {
        var files = new Argument<string[]>("file")
        {
            Description = "Audit files, oldest first, or a node's folder.",
            Arity = ArgumentArity.OneOrMore,
        };
        var command = new Command("verify", VerifyDescription) { files };
        command.SetAction(async (result, _) =>
        {
            var given = result.GetRequiredValue(files)
                .SelectMany(path => Directory.Exists(path) ? AuditFiles.In(FolderOf(path)) : [path]).ToList();
            var verdict = AuditFiles.Verify(given);
            if (verdict.Fault is { } fault)
            {
                await result.InvocationConfiguration.Error.WriteLineAsync(
                    $"{fault}. {verdict.Lines - 1} lines before it are sound.");
                return ExitCode.Failed;
            }

            await result.InvocationConfiguration.Output.WriteLineAsync(
                $"sound: {verdict.Lines} lines in {given.Count} files, the last one's hash is {verdict.LastHash}");
            return ExitCode.Ok;
        });
        return command;
    }

    private static string FolderOf(string path) => AuditFiles.In(path).IsEmpty
        ? throw new UsageException(
            $"There are no audit files in {path}: give the folder of a node that runs, or ran, with 'corfu node'.")
        : path;
}
