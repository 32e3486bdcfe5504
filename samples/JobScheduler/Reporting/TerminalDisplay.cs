using System.Globalization;
using Spectre.Console;

namespace JobScheduler.Reporting;

/// <summary>A table that is redrawn in place, for terminals.</summary>
public sealed class TerminalDisplay(IAnsiConsole console, TimeSpan interval) : IProgressDisplay
{
    private const int BarWidth = 40;

    public Task RunAsync(Func<ProgressSnapshot> snapshot, CancellationToken stop) =>
        console.Live(Draw(snapshot(), 0)).AutoClear(true).StartAsync(async context =>
        {
            using var timer = new PeriodicTimer(interval);
            ProgressSnapshot last = snapshot();
            try
            {
                while (await timer.WaitForNextTickAsync(stop))
                {
                    ProgressSnapshot now = snapshot();
                    context.UpdateTarget(Draw(now, PlainDisplay.Rate(last, now)));
                    last = now;
                }
            }
            catch (OperationCanceledException)
            {
                // The run is over.
            }
        });

    private static Table Draw(ProgressSnapshot now, double rate)
    {
        Table table = new Table().Border(TableBorder.Rounded).HideHeaders().AddColumn("what").AddColumn("value");
        table.AddRow("jobs done", Text($"{Bar(now.JobsDone, now.Jobs)} {now.JobsDone:N0} of {now.Jobs:N0}"));
        table.AddRow("nodes in use", Text($"{Bar(now.NodesInUse, now.Nodes)} {now.NodesInUse:N0} of {now.Nodes:N0}"));
        table.AddRow("virtual time", Summary.Duration(now.VirtualSeconds));
        table.AddRow("transactions/s", Text($"{rate:N0}"));
        table.AddRow("aborts", Text($"{now.Aborts:N0}"));
        if (now.Silos is { } silos)
            table.AddRow("silos", Text($"{silos.Count}, {silos.Kills} killed so far"));
        table.AddRow("elapsed", Text($"{now.Elapsed.TotalSeconds:F1} s"));
        return table;
    }

    private static string Bar(int value, int of)
    {
        int filled = of == 0 ? 0 : Math.Clamp((int)((long)BarWidth * value / of), 0, BarWidth);
        return $"[green]{new string('█', filled)}[/][grey]{new string('░', BarWidth - filled)}[/]";
    }

    private static string Text(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}
