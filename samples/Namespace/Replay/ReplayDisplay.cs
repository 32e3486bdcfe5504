using Spectre.Console;

namespace NamespaceSample.Replay;

/// <summary>A bar in a terminal; elsewhere a line now and then, never wrapped.</summary>
internal sealed class ReplayDisplay(TextWriter output, int changes, ProgressTask? bar) : IReplayDisplay
{
    private const int PlainLines = 5;

    private int _shown;

    public void Progress(int applied)
    {
        if (bar is not null)
        {
            bar.Value = applied;
            return;
        }

        int share = (int)((long)applied * PlainLines / changes);
        if (share == _shown) return;
        _shown = share;
        output.WriteLine($"{applied:N0} of {changes:N0} changes");
    }

    public void Killed(int number, string process, int applied) =>
        Say($"kill {number}: {process}, at change {applied:N0}");

    public void Opened(long logStart) => Say(logStart > 0
        ? $"compared by a fresh process: the log begins at position {logStart:N0}, so it opened a checkpoint"
        : "compared by a fresh process");

    public void Difference(string difference) => Say($"wrong: {difference}");

    // Above the bar, where there is one.
    private void Say(string text)
    {
        if (bar is not null) AnsiConsole.WriteLine(text);
        else output.WriteLine(text);
    }
}
