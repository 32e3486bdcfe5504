using System.Runtime.CompilerServices;
using System.Security.Cryptography;
using Tango.Ledgers.Directory;
using Tango.Ledgers.Reading;
using Tango.Ledgers.Records;
using Tango.Ledgers.Writing;

namespace Tango.Ledgers;

/// <summary>
/// Ledgers on the shared log, as BookKeeper has them (Tango 6.3): sequences of entries with one writer each, which any
/// process may read, and end once the writer is gone. Safe for concurrent use.
/// </summary>
/// <remarks>
/// Entries go to the log, one entry of it for each batch, past the memory of all other processes. A replicated
/// directory knows the ledgers, and the log is kept from the oldest one on: delete ledgers, or move them with
/// <see cref="MoveAsync"/>. Calls are refused within a transaction.
/// </remarks>
public sealed class LedgerStore : IAsyncDisposable
{
    private const int ListPage = 256;

    // Room for each spine that a writer or a recovery writes.
    private const int LeastPayload = 64 << 10;

    private readonly ICorfuLog _log;
    private readonly LedgerDirectory _directory;
    private readonly LedgerOptions _options;
    private readonly LoopContext _loops;
    private readonly SlotPolls _polls;
    private readonly LedgerMover _mover;
    private readonly LedgerRemains _remains;

    private LedgerStore(ICorfuLog log, LedgerDirectory directory, LedgerOptions options, LoopContext loops)
    {
        (_log, _directory, _options, _loops) = (log, directory, options, loops);
        _polls = new SlotPolls(log, options.Time, loops, options.PollInterval);
        _mover = new LedgerMover(log, directory, options.Time);
        _remains = new LedgerRemains(log, loops);
    }

    /// <summary>Opens the store of that name, and creates it if there is none.</summary>
    /// <param name="log">The log that <paramref name="tango"/> is over.</param>
    /// <exception cref="ArgumentException">An option is out of its range; all of them are named. Or entries of the log
    /// have room for less than 64 KiB, or for the spines of fewer appends in flight.</exception>
    public static ValueTask<LedgerStore> OpenAsync(ICorfuLog log, TangoRuntime tango, string name = "ledgers",
        LedgerOptions? options = null, CancellationToken cancellationToken = default) =>
        OpenAsync(log, tango, name, options, LoopContext.Pool, cancellationToken);

    internal static async ValueTask<LedgerStore> OpenAsync(ICorfuLog log, TangoRuntime tango, string name,
        LedgerOptions? options, LoopContext loops, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(log);
        ArgumentNullException.ThrowIfNull(tango);
        options ??= new LedgerOptions();
        if (options.Faults() is { Count: > 0 } faults)
            throw new ArgumentException(string.Join(" ", faults), nameof(options));
        if (log.MaxPayload < LeastPayload)
            throw new ArgumentException(
                $"An entry of the log has room for {log.MaxPayload} bytes; ledgers need {LeastPayload}.", nameof(log));
        if (options.MaxAppendsInFlight >= AppendWindow.RoomFor(log.MaxPayload))
            throw new ArgumentException(
                $"Entries of the log have room for {log.MaxPayload} bytes: at most "
                + $"{AppendWindow.RoomFor(log.MaxPayload) - 1} appends may be in flight.", nameof(options));
        var directory = await tango.OpenAsync<LedgerDirectory>(name, OpenMode.Create, cancellationToken);
        return new LedgerStore(log, directory, options, loops);
    }

    /// <summary>Creates a ledger, whose only writer is the one returned.</summary>
    /// <exception cref="LedgerException">The id is another ledger's.</exception>
    /// <exception cref="TangoInDoubtException">The ledger may have been created. It is open and empty, without a
    /// writer.</exception>
    public async ValueTask<LedgerWriter> CreateAsync(
        LedgerSpec? spec = null, CancellationToken cancellationToken = default) =>
        new(await CreateCoreAsync(spec, cancellationToken));

    /// <summary>As <see cref="CreateAsync"/>, for a writer that gives the entries their ids.</summary>
    public async ValueTask<OrderedLedgerWriter> CreateOrderedAsync(
        LedgerSpec? spec = null, CancellationToken cancellationToken = default) =>
        new(await CreateCoreAsync(spec, cancellationToken));

    /// <summary>Opens a ledger for reading. A writer goes on.</summary>
    /// <exception cref="LedgerException">There is no such ledger, or its password is another one.</exception>
    public async ValueTask<LedgerReader> OpenAsync(
        LedgerId id, ReadOnlyMemory<byte> password = default, CancellationToken cancellationToken = default) =>
        await OpenAsync(await RequireAsync(id, password, cancellationToken), cancellationToken);

    /// <summary>Ends a ledger and opens it for reading. Its writer, if it still lives, gets nothing acknowledged any
    /// more; what it was acknowledged is in the ledger.</summary>
    /// <exception cref="LedgerException">There is no such ledger, or its password is another one. Or the call is in
    /// doubt, also since it was cancelled: repeat it.</exception>
    public async ValueTask<LedgerReader> RecoverAsync(
        LedgerId id, ReadOnlyMemory<byte> password = default, CancellationToken cancellationToken = default)
    {
        var row = await RequireAsync(id, password, cancellationToken);
        row = await LedgerRecovery.RecoverAsync(_directory, SlotOf(row), row, cancellationToken);
        return await OpenAsync(row, cancellationToken);
    }

    /// <returns>Null: there is no such ledger.</returns>
    public async ValueTask<LedgerMetadata?> FindAsync(LedgerId id, CancellationToken cancellationToken = default)
    {
        RequireNoTransaction();
        return (await _directory.FindAsync(id.Value, cancellationToken))?.ToMetadata();
    }

    /// <summary>All ledgers, in the order of ids. Those that are created or deleted meanwhile may be missing.</summary>
    public async IAsyncEnumerable<LedgerMetadata> ListAsync(
        LedgerId from = default, [EnumeratorCancellation] CancellationToken cancellationToken = default)
    {
        RequireNoTransaction();
        var next = from.Value;
        while (true)
        {
            var page = await _directory.ListAsync(next, ListPage, cancellationToken);
            foreach (var row in page) yield return row.ToMetadata();
            if (page.Length < ListPage || page[^1].Id == long.MaxValue) yield break;
            next = page[^1].Id + 1;
        }
    }

    /// <summary>Deletes a ledger. An open one is recovered first, which fails if its records are damaged.</summary>
    /// <returns>False: there is no such ledger.</returns>
    public async ValueTask<bool> DeleteAsync(LedgerId id, CancellationToken cancellationToken = default)
    {
        RequireNoTransaction();
        if (await _directory.FindAsync(id.Value, cancellationToken) is not { } row) return false;
        try
        {
            row = await LedgerRecovery.RecoverAsync(_directory, SlotOf(row), row, cancellationToken);
        }
        catch (LedgerException e) when (e.Error == LedgerError.LedgerNotFound)
        {
            return false;
        }

        if (!await _directory.DeleteAsync(row.Id, row.Key, cancellationToken)) return false;
        _remains.Trim(row);
        return true;
    }

    /// <summary>Writes the entries of closed ledgers again that keep the log from being trimmed below a position. After
    /// the store's next checkpoints the log is not kept for the old ones. Readers go on.</summary>
    /// <remarks>A call that fails or is cancelled may be repeated. An open ledger keeps the log until it is
    /// closed.</remarks>
    /// <returns>How many ledgers were moved.</returns>
    /// <exception cref="TangoException">The other ledgers were moved, and those that it names could not be.</exception>
    public async ValueTask<int> MoveAsync(LogPosition below, CancellationToken cancellationToken = default)
    {
        RequireNoTransaction();
        return await _mover.MoveAsync(below, cancellationToken);
    }

    /// <summary>Waits until the entries of deleted ledgers are released, as far as the log takes it. Writers and
    /// readers go on.</summary>
    public ValueTask DisposeAsync() => new(_remains.EndAsync());

    private async ValueTask<LedgerWriterCore> CreateCoreAsync(LedgerSpec? spec, CancellationToken cancellationToken)
    {
        RequireNoTransaction();
        spec ??= new LedgerSpec();
        var row = await _directory.CreateAsync(
            spec.Id?.Value, [.. SHA256.HashData(spec.Password.Span)], spec.Properties(),
            _options.Time.GetUtcNow().ToUnixTimeMilliseconds(), cancellationToken);
        if (row is null)
            throw new LedgerException(LedgerError.LedgerExists, spec.Id is { } id
                ? $"There is a ledger {id} already."
                : "No id is left to choose: a ledger had the highest one.");
        var slot = SlotOf(row);
        var window = new AppendWindow(slot, row.Key, _options, _loops);
        return new LedgerWriterCore(_directory, slot, row, window, ReaderOf(row));
    }

    private async ValueTask<LedgerRow> RequireAsync(
        LedgerId id, ReadOnlyMemory<byte> password, CancellationToken cancellationToken)
    {
        RequireNoTransaction();
        var row = await _directory.FindAsync(id.Value, cancellationToken) ?? throw LedgerException.NotFound(id);
        if (!CryptographicOperations.FixedTimeEquals(SHA256.HashData(password.Span), row.Password.AsSpan()))
            throw new LedgerException(LedgerError.WrongPassword, $"Ledger {id} has another password.");
        return row;
    }

    private async ValueTask<LedgerReader> OpenAsync(LedgerRow row, CancellationToken cancellationToken)
    {
        var reader = ReaderOf(row);
        await reader.OpenAsync(cancellationToken);
        return reader;
    }

    private LedgerReader ReaderOf(LedgerRow row) => new(_log, _directory, _polls, _options.Time, row);

    private SlotLog SlotOf(LedgerRow row) =>
        new(_log, LedgerStreams.OfSlot(_directory.ObjectId, row.Slot), row.LedgerId, _options.Time);

    private void RequireNoTransaction()
    {
        if (_directory.IsCalledInTransaction)
            throw new TangoTransactionException("Ledgers cannot be used within a transaction.");
    }
}
