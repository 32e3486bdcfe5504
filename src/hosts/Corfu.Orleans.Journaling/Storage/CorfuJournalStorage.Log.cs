using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Orleans.Journaling.Storage;

internal sealed partial class CorfuJournalStorage
{
    // Each waits for the log's own time limits; an append that is still unknown then is reported as such.
    private const int ResolveAttempts = 5;

    /// <summary>The stream as far as it has been played.</summary>
    private sealed class Opened(JournalLog log, JournalEntry entry, StreamCursor cursor, JournalChain chain)
    {
        public ICorfuLog Log => log.Log;

        public JournalCatalog Catalog => log.Catalog;

        /// <summary>As the catalog has it, or had it when the stream was opened.</summary>
        public JournalEntry Entry { get; set; } = entry;

        public StreamCursor Cursor => cursor;

        public JournalChain Chain => chain;

        /// <summary>Positions of the stream's entries since the last trim, in order.</summary>
        public List<LogPosition> Positions { get; } = [];

        /// <summary>Whether the record that was looked for is in force; null: it was not met.</summary>
        public bool? OwnIsInForce { get; set; }
    }

    /// <summary>Plays the stream from where the catalog says that the journal begins, to its end.</summary>
    /// <param name="own">The record that is looked for.</param>
    /// <returns>Null: there is no journal.</returns>
    /// <exception cref="CorfuJournalException">Entries that it still needs were trimmed.</exception>
    private async Task<Opened?> OpenAsync(
        bool keepsData, CancellationToken cancellationToken, EntryOrigin? own = null)
    {
        _opened = null;
        JournalLog log = await _connect(cancellationToken);
        JournalEntry? last = null;
        while (await log.Catalog.FindAsync(_journal, cancellationToken) is { } entry)
        {
            var cursor = new StreamCursor(log.Log, _stream, new LogPosition(entry.Start));
            var opened = new Opened(log, entry, cursor, new JournalChain(_journal, entry, keepsData));
            LogTrimmedException? trimmed = null;
            try
            {
                await cursor.SyncAsync(cancellationToken: cancellationToken);
                opened.OwnIsInForce = await PlayAsync(opened, own, cancellationToken);
            }
            catch (LogTrimmedException e)
            {
                trimmed = e;
            }

            if (opened.Chain.IsEnded)
            {
                // The one that deleted it has not come to this.
                await RemoveAsync(opened, cancellationToken);
                continue;
            }

            if (trimmed is null && opened.Chain.Version != JournalRecord.None)
            {
                await MoveAsync(opened, cancellationToken);
                return _opened = opened;
            }

            // Another activation took a snapshot meanwhile: then the catalog says so by now.
            if (entry.IsAt(last))
            {
                throw new CorfuJournalException(
                    $"Entries of journal '{_journal}' that it still needs were trimmed from the log.", trimmed);
            }

            last = entry;
        }

        return null;
    }

    /// <summary>Appends one record that builds on what the grain has seen, and finds out whether it is in
    /// force.</summary>
    /// <returns>False: another writer was ahead.</returns>
    private async Task<bool> TryWriteAsync(
        JournalRecordKind kind, ReadOnlyMemory<byte> data, CancellationToken cancellationToken)
    {
        Opened? opened = _opened ?? await OpenAsync(keepsData: false, cancellationToken);
        if (opened is null)
        {
            if (_seen > JournalRecord.None) return false;
            // A journal that does not exist is not deleted.
            if (kind == JournalRecordKind.Delete) return true;
            var catalog = (await _connect(cancellationToken)).Catalog;
            await catalog.CreateAsync(_journal, [], _formatKey, cancellationToken);
            opened = await OpenAsync(keepsData: false, cancellationToken);
            if (opened is null) return false;
        }

        var (chain, version) = (opened.Chain, opened.Chain.Version);
        // A writer that found no journal has seen all of an empty one.
        if (_seen is { } seen && seen != version && (seen != JournalRecord.None || !chain.IsEmpty)) return false;
        var record = new JournalRecord(kind, _journal, Guid.NewGuid(), 0, version, _formatKey, data);
        record = await AppendPartsAsync(opened.Log, record, cancellationToken);
        AppendResult own = await AppendAsync(opened.Log, record, cancellationToken);
        // Until it is known whether the record is in force, no other may be built on it.
        _mustRead = true;
        try
        {
            if (!await IsInForceAsync(opened, own, cancellationToken))
            {
                _mustRead = false;
                return false;
            }

            // The deletion counts once the catalog has it: else a list would still name the journal.
            if (kind == JournalRecordKind.Delete) await RemoveAsync(opened, cancellationToken);
        }
        catch (Exception e) when (CorfuOrleansException.Covers(e)
            || e is CorfuJournalException or OperationCanceledException)
        {
            // The record is in the log.
            throw Unknown(e);
        }

        _mustRead = false;
        _seen = kind == JournalRecordKind.Delete ? JournalRecord.None : own.Position.Offset;
        if (kind != JournalRecordKind.Delete) await MoveAsync(opened, cancellationToken);
        return true;
    }

    /// <summary>Reads the stream up to a record that was appended.</summary>
    private async Task<bool> IsInForceAsync(Opened opened, AppendResult own, CancellationToken cancellationToken)
    {
        bool? isInForce;
        // After a read that fails half-way, the cursor does not repeat the entries that it has delivered.
        _opened = null;
        try
        {
            await opened.Cursor.SyncAsync(cancellationToken: cancellationToken);
            isInForce = await PlayAsync(opened, own.Origin, cancellationToken);
            if (!opened.Chain.IsEnded) _opened = opened;
        }
        catch (LogTrimmedException)
        {
            var now = await OpenAsync(keepsData: false, cancellationToken, own.Origin);
            // Deleted meanwhile: the record is gone for good, whether it counted before that or not.
            if (now?.Entry.Created != opened.Entry.Created) return false;
            // Another writer took a snapshot. A record below may be a part of it, and is not met any more.
            isInForce = now.OwnIsInForce;
        }

        return isInForce ?? throw new CorfuException($"The entry at {own.Position} was not met.");
    }

    private async Task<JournalRecord> AppendPartsAsync(
        ICorfuLog log, JournalRecord record, CancellationToken cancellationToken)
    {
        int room = log.MaxPayload - Size(record with { Data = default });
        if (room < 1)
        {
            throw new CorfuJournalException(
                $"The id of journal '{_journal}' does not fit an entry of {log.MaxPayload:N0} bytes.");
        }

        while (record.Data.Length > room)
        {
            var part = record with
            {
                Kind = JournalRecordKind.Part,
                Parts = 0,
                FormatKey = null,
                Data = record.Data[..room],
            };
            await AppendAsync(log, part, cancellationToken);
            record = record with { Parts = record.Parts + 1, Data = record.Data[room..] };
        }

        return record;
    }

    private static int Size(JournalRecord record) => record.Encode().Length + JournalRecord.Overhead;

    /// <summary>Appends an entry, for certain.</summary>
    /// <exception cref="CorfuOutcomeUnknownException">Whether the entry is in the log is not known.</exception>
    private async Task<AppendResult> AppendAsync(
        ICorfuLog log, JournalRecord record, CancellationToken cancellationToken)
    {
        var payload = record.Encode();
        AppendResult result = await log.AppendToObjectsAsync(payload, [_stream], cancellationToken);
        var outcome = result.Outcome;
        for (int left = ResolveAttempts; outcome == AppendOutcome.Unknown && left > 0; left--)
        {
            try
            {
                outcome = await log.ResolveAsync(result, cancellationToken);
            }
            catch (Exception e) when (e is CorfuException or OperationCanceledException)
            {
                throw Unknown(e);
            }
        }

        return outcome switch
        {
            AppendOutcome.Appended => result,
            AppendOutcome.NotAppended => throw new CorfuOrleansException(
                $"Journal '{_journal}': the log did not take the write. It may be tried again."),
            _ => throw Unknown(new AppendUnknownException(result)),
        };
    }

    private CorfuOutcomeUnknownException Unknown(Exception reason)
    {
        (_mustRead, _opened) = (true, null);
        return new CorfuOutcomeUnknownException(
            $"Journal '{_journal}': it is not known whether the write took effect. {reason.Message}", reason);
    }

    /// <summary>Plays what the last sync told of.</summary>
    /// <returns>Whether the record of <paramref name="own"/> is in force; null: it was not met.</returns>
    private async Task<bool?> PlayAsync(Opened opened, EntryOrigin? own, CancellationToken cancellationToken)
    {
        bool? isInForce = null;
        while (await opened.Cursor.ReadNextAsync(cancellationToken) is { } entry)
        {
            opened.Positions.Add(entry.Position);
            var record = JournalRecord.Decode(entry.Payload, $"The entry at {entry.Position}");
            if (record is null) _trimmer.ReportForeign(_journal, entry.Position);
            bool accepted = record is not null && opened.Chain.Accept(entry.Position, record);
            if (entry.Origin == own) isInForce = accepted;
        }

        return isInForce;
    }

    /// <summary>Tells the catalog of a newer snapshot, or of another format of the data, and releases the entries
    /// below: no reader needs them any more. If that fails, the next snapshot or the next opening does it.</summary>
    private async Task MoveAsync(Opened opened, CancellationToken cancellationToken)
    {
        var (chain, known) = (opened.Chain, opened.Entry);
        if (chain.Root == known.Root && chain.FormatKey == known.Format) return;
        try
        {
            await opened.Catalog.MoveAsync(
                _journal, known.Created, chain.Start, chain.Root, chain.FormatKey, cancellationToken);
        }
        catch (Exception e) when (CorfuOrleansException.Covers(e) || e is OperationCanceledException)
        {
            _trimmer.ReportNotMoved(_journal, e);
            return;
        }

        opened.Entry = known with { Start = chain.Start, Root = chain.Root, Format = chain.FormatKey };
        int count = opened.Positions.FindIndex(position => position.Offset >= chain.Start);
        if (count <= 0) return;
        _trimmer.Trim(opened.Log, opened.Positions[..count]);
        opened.Positions.RemoveRange(0, count);
    }

    /// <summary>Takes a journal that was deleted out of the catalog, and releases its entries.</summary>
    private async Task RemoveAsync(Opened opened, CancellationToken cancellationToken)
    {
        await opened.Catalog.RemoveAsync(_journal, opened.Entry.Created, cancellationToken);
        _opened = null;
        _trimmer.Trim(opened.Log, [.. opened.Positions]);
    }
}
