using Tango.Ledgers.Records;

namespace Tango.Ledgers.Writing;

/// <summary>Appends to the stream of a ledger's slot.</summary>
internal sealed class SlotLog(ICorfuLog log, StreamId stream, LedgerId id, TimeProvider time)
{
    // Each waits for the log's own time limits.
    private const int Attempts = 5;

    // An append that the log refuses, since it is overloaded or cannot be reached, is repeated for so long.
    private static readonly TimeSpan s_patience = TimeSpan.FromMinutes(1);
    private static readonly TimeSpan s_longestPause = TimeSpan.FromSeconds(1);

    public ICorfuLog Log => log;

    public StreamId Stream => stream;

    public LedgerId Id => id;

    /// <summary>Appends a record, for certain.</summary>
    /// <returns>The record's position, and the stream's newest positions below it.</returns>
    /// <exception cref="LedgerException">In doubt: the record may be in the log, or come into it.</exception>
    /// <exception cref="CorfuException">The record is not in the log.</exception>
    public async ValueTask<(LogPosition Position, ImmutableArray<LogPosition> Before)> AppendAsync(
        LedgerRecord record, CancellationToken cancellationToken = default)
    {
        var payload = record.Encode();
        for (var attempt = 1; ; attempt++)
        {
            var result = await SendAsync(payload, cancellationToken);
            var outcome = result.Outcome;
            if (outcome == AppendOutcome.Unknown && !Planted.Is("unknown-sent-again"))
                outcome = await ResolveAsync(result, cancellationToken);

            // No record of a ledger stands at the first position of the log. A log that resolves an append without its
            // position does not say where the record is.
            if (outcome == AppendOutcome.Appended && result.Position.Offset == 0)
                throw LedgerException.InDoubt(id, null);
            if (outcome == AppendOutcome.Appended)
                return (result.Position, await ReadBeforeAsync(result, cancellationToken));

            // B6: sent again only when the first is certainly not in the log. Else two records have one id, and
            // readers differ.
            if (attempt == Attempts)
                throw new LogUnavailableException($"Ledger {id}: the log did not take a record {Attempts} times.");
        }
    }

    // An exception of an append says that nothing is in the log.
    private async ValueTask<AppendResult> SendAsync(byte[] payload, CancellationToken cancellationToken)
    {
        var began = time.GetTimestamp();
        for (var pause = TimeSpan.FromMilliseconds(10); ; pause = pause < s_longestPause ? pause * 2 : pause)
        {
            try
            {
                return await log.AppendToObjectsAsync(payload, [stream], cancellationToken);
            }
            catch (CorfuException e) when (MayPass(e) && time.GetElapsedTime(began) < s_patience)
            {
                await Task.Delay(pause, time, cancellationToken);
            }
        }
    }

    private static bool MayPass(CorfuException e) =>
        e is not (EntryTooLargeException or StreamRangeException or LogIsMirrorException or CorfuDeniedException);

    private async ValueTask<AppendOutcome> ResolveAsync(AppendResult unknown, CancellationToken cancellationToken)
    {
        for (var attempt = 1; ; attempt++)
        {
            Exception? failed = null;
            try
            {
                var outcome = await log.ResolveAsync(unknown, cancellationToken);
                if (outcome != AppendOutcome.Unknown) return outcome;
            }
            catch (Exception e)
            {
                failed = e;
            }

            if (attempt == Attempts || cancellationToken.IsCancellationRequested)
                throw LedgerException.InDoubt(id, failed ?? new AppendUnknownException(unknown));
        }
    }

    /// <summary>From the grant, or else from the entry: the record is in the log by now, whatever fails here.</summary>
    private async ValueTask<ImmutableArray<LogPosition>> ReadBeforeAsync(
        AppendResult result, CancellationToken cancellationToken)
    {
        if (Find(result.Headers) is { IsDefault: false } told) return told;
        for (var attempt = 1; ; attempt++)
        {
            Exception? failed = null;
            try
            {
                var read = await log.ReadManyAsync(
                    [result.Position], ReadDetail.Headers, ReadMode.Observe, cancellationToken);
                if (Find(read[0].Entry?.Streams ?? default) is { IsDefault: false } found) return found;
            }
            catch (Exception e)
            {
                failed = e;
            }

            if (attempt == Attempts || cancellationToken.IsCancellationRequested)
                throw LedgerException.InDoubt(id, failed);
        }
    }

    private ImmutableArray<LogPosition> Find(ImmutableArray<StreamHeader> headers)
    {
        if (headers.IsDefault) return default;
        foreach (var header in headers)
        {
            if (header.Stream == stream) return header.Backpointers;
        }

        return default;
    }
}
