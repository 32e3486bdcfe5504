using System.Collections.Immutable;
using Corfu.Protocol;
using Microsoft.Extensions.Logging;

namespace Corfu.Orleans.Journaling.Storage;

/// <summary>Trims outdated entries of all journals of a silo, one position at a time, beside the grains' work: an older
/// journal may keep the log's prefix. Entries that the trimmer does not reach are trimmed with the prefix.</summary>
internal sealed partial class JournalTrimmer(int inFlight, ILogger<JournalTrimmer> logger) : IDisposable
{
    private readonly SemaphoreSlim _slots = new(inFlight, inFlight);
    private readonly CancellationTokenSource _stop = new();
    private int _underWay;

    /// <summary>Trims that were asked for and have not ended.</summary>
    public int UnderWay => Volatile.Read(ref _underWay);

    public void Trim(ICorfuLog log, IReadOnlyList<LogPosition> positions)
    {
        Interlocked.Increment(ref _underWay);
        LoopContext.Pool.Start(() => TrimAllAsync(log, positions));
    }

    public void ReportForeign(string journal, LogPosition position) => LogForeign(position, journal);

    public void ReportNotMoved(string journal, Exception reason) => LogNotMoved(reason, journal);

    public void Dispose() => _stop.Cancel();

    private async Task TrimAllAsync(ICorfuLog log, IReadOnlyList<LogPosition> positions)
    {
        await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
        try
        {
            var trims = new List<Task>();
            foreach (LogPosition position in positions)
            {
                await _slots.WaitAsync(_stop.Token);
                trims.Add(TrimOneAsync(log, position));
            }

            await Task.WhenAll(trims);
        }
        catch (OperationCanceledException)
        {
            // The silo ends.
        }
        catch (Exception e) when (e is CorfuException or ObjectDisposedException)
        {
            LogNotTrimmed(positions.Count, e.Message);
        }
        finally
        {
            Interlocked.Decrement(ref _underWay);
        }
    }

    private async Task TrimOneAsync(ICorfuLog log, LogPosition position)
    {
        try
        {
            await log.TrimAsync(position, _stop.Token);
        }
        finally
        {
            _slots.Release();
        }
    }

    [LoggerMessage(LogLevel.Warning, "Of {Count} outdated journal entries some were not trimmed: {Reason}")]
    private partial void LogNotTrimmed(int count, string reason);

    [LoggerMessage(LogLevel.Warning, "The entry at {Position} is in the stream of journal {Journal} and no record of a "
        + "journal; it is passed over")]
    private partial void LogForeign(LogPosition position, string journal);

    [LoggerMessage(LogLevel.Warning, "The catalog was not told of the newest snapshot of journal {Journal}")]
    private partial void LogNotMoved(Exception exception, string journal);
}
