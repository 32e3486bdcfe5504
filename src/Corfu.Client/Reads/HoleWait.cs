namespace Corfu.Client;

/// <summary>
/// How long a granted position may stay unwritten before it is filled (R10): a few times what the sequencer takes to answer, within bounds. From the
/// moment that it has arrived at the head a write is no hole, however slow the disk is: the head's answer waits for it (R4). So what an append takes as
/// a whole does not matter here, only the way of a message between two processes.
/// </summary>
internal sealed class HoleWait(ClientCore core)
{
    public TimeSpan Of(EpochView view)
    {
        var wait = core.SequencerTime.P90 * core.Options.HoleWaitFactor;
        if (wait < core.Options.MinHoleWait) wait = core.Options.MinHoleWait;
        if (wait > core.Options.MaxHoleWait) wait = core.Options.MaxHoleWait;
        var grace = TimeSpan.FromMilliseconds(view.GraceMilliseconds);
        return grace > wait ? grace : wait;
    }
}
