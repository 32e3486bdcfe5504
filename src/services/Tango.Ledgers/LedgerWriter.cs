using Tango.Ledgers.Directory;
using Tango.Ledgers.Reading;
using Tango.Ledgers.Records;
using Tango.Ledgers.Writing;

namespace Tango.Ledgers;

/// <summary>The only writer of a ledger. Safe for concurrent use. Disposing it does not close the ledger: another
/// process recovers it.</summary>
public sealed class LedgerWriter : IAsyncDisposable
{
    private readonly LedgerWriterCore _core;

    internal LedgerWriter(LedgerWriterCore core) => _core = core;

    public LedgerId Id => _core.Id;

    /// <summary>As a process that opens the ledger reads it.</summary>
    public LedgerReader Reader => _core.Reader;

    /// <summary>The highest id that was handed over; -1: none.</summary>
    public long LastPushed => _core.Window.LastPushed;

    /// <summary>The last entry that is acknowledged, with all before it; -1: none.</summary>
    public long LastConfirmed => _core.Window.LastConfirmed;

    /// <summary>Bytes of the acknowledged entries.</summary>
    public long Length => _core.Window.Length;

    /// <summary>Adds an entry. Ids follow the order of the calls. Acknowledged once it and all entries before it are at
    /// every replica, and no recovery can miss them.</summary>
    /// <param name="cancellationToken">Ends the wait. The entry goes on.</param>
    /// <returns>The entry's id.</returns>
    /// <exception cref="LedgerException">The entry is too large, or too many bytes wait
    /// (<see cref="LedgerError.WriterBusy"/>): nothing was done, and the writer goes on. Or the ledger was fenced, or
    /// the writer has ended: then the entry may be in the ledger.</exception>
    public async ValueTask<long> AppendAsync(
        ReadOnlyMemory<byte> data, CancellationToken cancellationToken = default) =>
        await _core.Window.AppendAsync(null, data).WaitOrCancelAsync(cancellationToken);

    /// <summary>Closes the ledger behind the last acknowledged entry. Entries that are under way fail; those that the
    /// log has, and a reader may have seen, are in the ledger. May be repeated.</summary>
    /// <exception cref="LedgerException">Another process has closed the ledger, with more entries than are acknowledged
    /// here, or deleted it. Or the call is in doubt, also since it was cancelled: repeat it.</exception>
    public ValueTask<LedgerMetadata> CloseAsync(CancellationToken cancellationToken = default) =>
        _core.CloseAsync(cancellationToken);

    public ValueTask DisposeAsync() => _core.EndAsync();
}

/// <summary>The only writer of a ledger whose ids the caller gives, in any order. An entry is acknowledged with all
/// before it. Safe for concurrent use.</summary>
public sealed class OrderedLedgerWriter : IAsyncDisposable
{
    private readonly LedgerWriterCore _core;

    internal OrderedLedgerWriter(LedgerWriterCore core) => _core = core;

    public LedgerId Id => _core.Id;

    /// <inheritdoc cref="LedgerWriter.Reader"/>
    public LedgerReader Reader => _core.Reader;

    /// <inheritdoc cref="LedgerWriter.LastPushed"/>
    public long LastPushed => _core.Window.LastPushed;

    /// <inheritdoc cref="LedgerWriter.LastConfirmed"/>
    public long LastConfirmed => _core.Window.LastConfirmed;

    /// <inheritdoc cref="LedgerWriter.Length"/>
    public long Length => _core.Window.Length;

    /// <summary>Adds an entry under an id. Acknowledged once it and all entries with lower ids are at every replica,
    /// and no recovery can miss them.</summary>
    /// <param name="cancellationToken">Ends the wait. The entry goes on.</param>
    /// <exception cref="LedgerException">The id was given before, the entry is too large, or too many bytes wait or the
    /// id is too far ahead (<see cref="LedgerError.WriterBusy"/>): nothing was done, and the writer goes on. Or the
    /// ledger was fenced, or the writer has ended: then the entry may be in the ledger.</exception>
    public async ValueTask<long> WriteAsync(
        long entry, ReadOnlyMemory<byte> data, CancellationToken cancellationToken = default)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(entry);

        // Readers take no record after whose entries no id is left.
        ArgumentOutOfRangeException.ThrowIfEqual(entry, long.MaxValue);
        return await _core.Window.AppendAsync(entry, data).WaitOrCancelAsync(cancellationToken);
    }

    /// <summary>Closes the ledger behind the last acknowledged entry: where an id is lacking, before it. Entries that
    /// are not acknowledged fail; those that the log has, and a reader may have seen, are in the ledger. May be
    /// repeated.</summary>
    /// <exception cref="LedgerException">Another process has closed the ledger, with more entries than are acknowledged
    /// here, or deleted it. Or the call is in doubt, also since it was cancelled: repeat it.</exception>
    public ValueTask<LedgerMetadata> CloseAsync(CancellationToken cancellationToken = default) =>
        _core.CloseAsync(cancellationToken);

    public ValueTask DisposeAsync() => _core.EndAsync();
}

/// <summary>The part that both kinds of writer share.</summary>
internal sealed class LedgerWriterCore
{
    private readonly SemaphoreSlim _closing = new(1, 1);
    private readonly LedgerDirectory _directory;
    private readonly SlotLog _slot;
    private readonly LedgerRow _row;

    // Guarded by _closing. Not null: the directory has the end that this writer knows.
    private LedgerMetadata? _closed;

    public LedgerWriterCore(
        LedgerDirectory directory, SlotLog slot, LedgerRow row, AppendWindow window, LedgerReader reader)
    {
        (_directory, _slot, _row) = (directory, slot, row);
        (Window, Reader) = (window, reader);
    }

    public LedgerId Id => _row.LedgerId;

    public AppendWindow Window { get; }

    public LedgerReader Reader { get; }

    /// <summary>Ends the writer, and not the ledger.</summary>
    public async ValueTask EndAsync() => await Window.StopAsync(CancellationToken.None);

    public async ValueTask<LedgerMetadata> CloseAsync(CancellationToken cancellationToken)
    {
        await _closing.WaitAsync(cancellationToken);
        try
        {
            if (_closed is not null) return _closed;
            var (spine, end, hasMore) = await Window.StopAsync(cancellationToken);

            var isFenced = end.Error == LedgerError.LedgerFenced;
            var closed = hasMore || isFenced ? null : await TryCloseAsync(spine, cancellationToken);
            if (closed is null)
            {
                // B11: readers may have confirmed entries that this writer has no answer for. A fence ends the ledger
                // behind them; a close would end it before.
                if (hasMore)
                    await LedgerRecovery.FenceAsync(_slot, new FenceRecord(_row.Key, true), cancellationToken);
                (closed, var isWriters) =
                    await LedgerRecovery.FinishAsync(_directory, _slot, _row, cancellationToken);

                // B14: a recovery that has found the same end has closed the ledger for this writer.
                if (!isWriters && (closed.Last != spine.Through || closed.Length != spine.Length))
                    throw LedgerException.Fenced(Id);
            }

            return _closed = closed.ToMetadata();
        }
        finally
        {
            _closing.Release();
        }
    }

    /// <returns>Null: the ledger has another end in the log.</returns>
    private async ValueTask<LedgerRow?> TryCloseAsync(Spine spine, CancellationToken cancellationToken)
    {
        if (await Window.CloseAsync(spine, cancellationToken) is not { } position) return null;
        var end = new LedgerEnd(spine.Through, spine.Length, spine.Through < 0 ? null : position, position, true);
        return await LedgerRecovery.CloseAsync(_directory, _row, end, cancellationToken);
    }
}
