using System.Globalization;
using Corfu.Unit;

namespace Corfu.Cli;

/// <summary><c>corfu unit check</c>.</summary>
internal static class UnitCheckCommand
{
    private const int ShownPositions = 20;

    private const string Description =
        """
        Read the whole log of a stopped unit and check every record and page. Nothing is changed. The exit code is 0 if
        nothing that was acknowledged is damaged or missing, else 1. Corrupt pages are repaired from their replicas when
        the unit runs; a unit with lost records does not serve: 'corfu unit format' gives it a new folder.
        """;

    public static Command Create()
    {
        var data = UnitCommand.DataOption();
        var command = new Command("check", Description) { data };
        command.SetAction(async (result, _) =>
        {
            var output = result.InvocationConfiguration.Output;
            var clean = true;
            foreach (var unit in UnitCommand.UnitsIn(result.GetRequiredValue(data)))
            {
                var report = await UnitInspector.CheckAsync(unit);
                clean &= report.IsClean;
                await WriteAsync(output, report);
            }

            return clean ? ExitCode.Ok : ExitCode.Failed;
        });
        return command;
    }

    private static async Task WriteAsync(TextWriter output, UnitReport report)
    {
        await UnitInfoCommand.WriteAsync(output, report);
        await output.WriteLineAsync(string.Create(
            CultureInfo.InvariantCulture,
            $"  log        {report.Records:N0} records up to {report.LogEnd:N0}, {report.Runs} "
            + $"runs{(report.TornTail ? ", a torn tail behind it that was never acknowledged" : "")}"));
        await output.WriteLineAsync(string.Create(
            CultureInfo.InvariantCulture,
            $"  positions  end {report.End.Offset}, trim mark {report.TrimMark.Offset}, {report.Pages:N0} pages, "
            + $"{report.Trimmed:N0} trimmed alone"));
        await output.WriteLineAsync($"  epochs     installed {report.Installed}, sealed below {report.SealedBelow}");
        if (report.Corrupt.Count > 0)
        {
            var shown = string.Join(' ', report.Corrupt.Take(ShownPositions).Select(p => p.Offset));
            await output.WriteLineAsync(
                $"  CORRUPT    {report.Corrupt.Count} pages: "
                + $"{shown}{(report.Corrupt.Count > ShownPositions ? " ..." : "")}");
        }

        if (report.Lost is not null)
        {
            await output.WriteLineAsync($"  LOST       {report.Lost}");
            await output.WriteLineAsync(string.Create(CultureInfo.InvariantCulture,
                $"             {report.RecordsBehindDamage:N0} good records behind the damage"));
        }

        await output.WriteLineAsync(report.IsClean ? "  clean" : "  DAMAGED");
    }
}
