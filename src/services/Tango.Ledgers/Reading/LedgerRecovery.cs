using Tango.Ledgers.Directory;
using Tango.Ledgers.Records;
using Tango.Ledgers.Writing;

namespace Tango.Ledgers.Reading;

/// <summary>Ends ledgers, and tells the directory where.</summary>
/// <remarks>
/// 1. A fence is appended to the slot, unless the ledger has an end.
/// 2. The slot is played through the first fence or close: all that is dense below a fence is the ledger.
/// 3. A spine names the entries.
/// 4. The directory is told.
/// </remarks>
internal static class LedgerRecovery
{
    // A step is repeated so often while its outcome is in doubt.
    private const int Attempts = 5;

    /// <summary>Steps 1 to 4.</summary>
    /// <returns>The ledger, closed.</returns>
    public static async ValueTask<LedgerRow> RecoverAsync(
        LedgerDirectory directory, SlotLog slot, LedgerRow row, CancellationToken cancellationToken)
    {
        if (row.IsClosed) return row;
        await FenceAsync(slot, new FenceRecord(row.Key), cancellationToken);
        return (await FinishAsync(directory, slot, row, cancellationToken)).Row;
    }

    /// <summary>Step 1. A fence that is in doubt ends the ledger wherever it stands, and so does the next
    /// one.</summary>
    public static async ValueTask FenceAsync(
        SlotLog slot, FenceRecord fence, CancellationToken cancellationToken) =>
        await RepeatAsync(() => slot.AppendAsync(fence, cancellationToken), cancellationToken);

    /// <summary>Steps 2 to 4, of a ledger whose end is in the log.</summary>
    /// <returns>The ledger, closed, and whether its writer has ended it. Not of one whose slot is trimmed or handed
    /// on.</returns>
    public static async ValueTask<(LedgerRow Row, bool IsWriters)> FinishAsync(
        LedgerDirectory directory, SlotLog slot, LedgerRow row, CancellationToken cancellationToken)
    {
        LedgerState state;
        try
        {
            // 2. B7: holes are closed, up to a check that began after the fence was in the log. Else a half-written
            // entry below the fence is completed, and acknowledged, later.
            var player = await SlotPlayer.OpenAsync(
                slot.Log, slot.Stream, row.Key, new SpineReader(slot.Log, row.Key), cancellationToken);
            await player.PlayAsync(cancellationToken);
            state = player.State;
        }
        catch (LogTrimmedException)
        {
            if (await FindClosedAsync(directory, row, cancellationToken) is { } closed) return (closed, false);
            throw;
        }

        if (state.End is not { } end)
        {
            return await FindClosedAsync(directory, row, cancellationToken) is { } known
                ? (known, false)
                : throw new TangoException($"Ledger {row.Id} has no end in the log, where one was written.");
        }

        // 3.
        var spine = end.Spine;
        if (spine is null && end.Last >= 0)
        {
            // A recovery that begins at this spine reads from the end on, and finds the same one.
            var record = new SpineRecord(row.Key, state.Edge.ToSpine(end.At));
            spine = (await RepeatAsync(() => slot.AppendAsync(record, cancellationToken), cancellationToken)).Position;
        }

        // 4.
        return (await CloseAsync(directory, row, end with { Spine = spine }, cancellationToken), end.IsWriters);
    }

    /// <summary>Tells the directory where a ledger ends, and makes sure that it has no other end (B8).</summary>
    public static async ValueTask<LedgerRow> CloseAsync(
        LedgerDirectory directory, LedgerRow row, LedgerEnd end, CancellationToken cancellationToken)
    {
        var closed = await RepeatAsync(
            () => directory.CloseAsync(row.Id, row.Key, end.Last, end.Length, end.Spine?.Offset, cancellationToken),
            cancellationToken) ?? throw LedgerException.NotFound(row.LedgerId);
        if (closed.Last != end.Last || closed.Length != end.Length)
        {
            throw new TangoException(
                $"Ledger {row.Id} ends at {closed.Last} with {closed.Length} bytes for the directory, "
                + $"and at {end.Last} with {end.Length} bytes in the log.");
        }

        return closed;
    }

    /// <returns>Null: it is open still.</returns>
    /// <exception cref="LedgerException">The ledger was deleted.</exception>
    private static async ValueTask<LedgerRow?> FindClosedAsync(
        LedgerDirectory directory, LedgerRow row, CancellationToken cancellationToken)
    {
        var now = await directory.FindAsync(row.Id, cancellationToken);
        if (now is null || !now.IsSame(row)) throw LedgerException.NotFound(row.LedgerId);
        return now.IsClosed ? now : null;
    }

    private static async ValueTask<T> RepeatAsync<T>(
        Func<ValueTask<T>> step, CancellationToken cancellationToken)
    {
        for (var attempt = 1; ; attempt++)
        {
            try
            {
                return await step();
            }
            catch (Exception e) when (attempt < Attempts && !cancellationToken.IsCancellationRequested
                && e is TangoInDoubtException or LedgerException { Error: LedgerError.LedgerInDoubt })
            {
                // In doubt: once more is the same as once.
            }
        }
    }
}
