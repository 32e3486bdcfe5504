using System.Text.Json;

namespace Corfu.Cli;

/// <summary><c>corfu doctor</c>.</summary>
internal static class DoctorCommand
{
    private const string Description =
        """
        Look for what will go wrong, or would with the next failure. Each check says ok, advice, FAULT, or unseen where
        the doctor cannot look. The last line counts the faults and names them. Exit code 0 without a fault, else 1.
        With --connect every process is asked for its disks, memory, clock, certificates and ports; with --dir the disks
        of this machine are measured too. Nothing is changed.
        """;

    public static Command Create()
    {
        var connect = CommonOptions.ConnectOption();
        connect.Required = false;
        var directory = new Option<DirectoryInfo>("--dir")
        {
            Description = "A node's folder on this machine, or that of a cluster of 'corfu cluster up'.",
            HelpName = "DIR",
        };
        var backup = new Option<DirectoryInfo>("--backup")
        {
            Description = "The folder of the cluster's newest backup.",
            HelpName = "DIR",
        };
        var upgrade = new Option<bool>("--before-upgrade")
        {
            Description = "Also whether this build may take the place of the one that runs.",
        };
        var json = CommonOptions.JsonOption();
        var command = new Command("doctor", Description) { connect, directory, backup, upgrade, json };
        command.SetAction(async (result, cancellationToken) =>
        {
            var doctor = new ClusterDoctor(new DiskMeasure(), TimeProvider.System);
            var findings = await doctor.LookAsync(
                new DoctorQuestion(result.GetValue(connect), result.GetValue(directory)?.FullName,
                    result.GetValue(backup)?.FullName, result.GetValue(upgrade)), cancellationToken);
            await WriteAsync(result.InvocationConfiguration.Output, findings, result.GetValue(json));
            return findings.Any(finding => finding.Level == FindingLevel.Fault) ? ExitCode.Failed : ExitCode.Ok;
        });
        return command;
    }

    /// <summary>The findings, and the line that counts and names the faults.</summary>
    public static async Task WriteAsync(TextWriter output, IReadOnlyList<Finding> findings, bool json)
    {
        var faults = findings.Where(finding => finding.Level == FindingLevel.Fault).ToList();
        if (json)
        {
            await output.WriteLineAsync(JsonSerializer.Serialize(
                new DoctorJson(faults.Count, findings), CliJson.Indented.DoctorJson));
            return;
        }

        await TextTable.WriteAsync(output, ["LEVEL", "CHECK", "SUBJECT", "FOUND"], RowsOf(findings));
        var names = faults.Select(fault => Printable.Of($" {fault.Check}({fault.Subject})"));
        await output.WriteLineAsync($"faults={faults.Count}{string.Concat(names)}");
    }

    // The gravest stand last, above the prompt. Equal findings share a row, and all sound ones of a check do.
    private static IEnumerable<string[]> RowsOf(IReadOnlyList<Finding> findings) =>
        from finding in findings
        group finding by (finding.Level, finding.Check,
            Text: finding.Level == FindingLevel.Ok ? "" : finding.Text) into same
        orderby same.Key.Level == FindingLevel.Fault, same.Key.Level == FindingLevel.Advice,
            same.Key.Level == FindingLevel.Unseen
        let more = same.Count() > 1 ? $" and {same.Count() - 1} more" : ""
        select new[]
        {
            same.Key.Level == FindingLevel.Fault ? "FAULT" : same.Key.Level.ToString().ToLowerInvariant(),
            same.Key.Check, same.First().Subject + more, same.First().Text,
        };
}
