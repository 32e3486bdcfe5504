namespace Corfu.Client;

/// <summary>How long a granted position may stay unwritten before it is filled (R10): a few times what appends take, within bounds.</summary>
internal sealed class HoleWait(ClientCore core, LatencyEstimate latency)
{
    public void Filled(TimeSpan took) => latency.Add(took);

    public TimeSpan Of(EpochView view)
    {
        var wait = latency.P99 * core.Options.HoleWaitFactor;
        if (wait < core.Options.MinHoleWait) wait = core.Options.MinHoleWait;
        if (wait > core.Options.MaxHoleWait) wait = core.Options.MaxHoleWait;
        var grace = TimeSpan.FromMilliseconds(view.GraceMilliseconds);
        return grace > wait ? grace : wait;
    }
}
