using Corfu;
using Tango.Playback;
using Tango.Transactions;

namespace Tango.History;

/// <summary>Opens all objects as of a past position.</summary>
internal sealed class HistoryOpener(
    ICorfuLog log, TransactionFlow flow, PastPlayback past, PlayedDirectory directory, PlayedTypes types,
    CallReader calls)
{
    /// <inheritdoc cref="RuntimeHistory.OpenAsync(LogPosition, CancellationToken)"/>
    public async ValueTask<TangoHistory> OpenAsync(LogPosition position, CancellationToken cancellationToken)
    {
        flow.RequireNone();
        var entry = TangoDirectory.OwnEntry;
        var cohort = await past.PlayAsync([entry], entry, types.Directory, position, cancellationToken);
        // R23: what was named behind a record that this code cannot read is not known here.
        if (cohort.Objects[0].Stopped is { } stopped) throw stopped.Told;
        return new TangoHistory(past, directory, calls, position, cohort.Objects[0]);
    }

    /// <summary>The position between two entries that stands for a time.</summary>
    public ValueTask<LogPosition> FindAsync(DateTimeOffset time, CancellationToken cancellationToken)
    {
        flow.RequireNone();
        return new LogSearch(log).FindAsync(time, cancellationToken);
    }
}
