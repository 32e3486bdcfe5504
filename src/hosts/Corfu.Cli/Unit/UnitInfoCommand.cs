using System.Globalization;
using Corfu.Unit;

namespace Corfu.Cli;

/// <summary><c>corfu unit info</c>.</summary>
internal static class UnitInfoCommand
{
    private const string Description =
        "Show the identities of the units in a folder and what they take on disk; also of running units. Their logs "
        + "are not read.";

    public static Command Create()
    {
        var data = UnitCommand.DataOption();
        var command = new Command("info", Description) { data };
        command.SetAction(async (result, _) =>
        {
            foreach (var unit in UnitCommand.UnitsIn(result.GetRequiredValue(data)))
                await WriteAsync(result.InvocationConfiguration.Output, UnitInspector.Describe(unit));
            return ExitCode.Ok;
        });
        return command;
    }

    public static async Task WriteAsync(TextWriter output, UnitReport report)
    {
        await output.WriteLineAsync(report.Folder);
        await output.WriteLineAsync($"  unit       {report.Identity.Unit} of cluster {report.Identity.Cluster}");
        await output.WriteLineAsync(string.Create(
            CultureInfo.InvariantCulture,
            $"  disk       {report.BytesOnDisk:N0} bytes, {report.Segments} segments of "
            + $"{report.Identity.Store.SegmentSize >> 20} MiB, known to be durable up to {report.DurableMark:N0}"));
    }
}
