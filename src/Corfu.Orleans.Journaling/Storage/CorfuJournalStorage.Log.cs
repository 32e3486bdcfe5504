using System.Collections.Immutable;
using Corfu.Client;
using Corfu.Protocol;

namespace Corfu.Orleans.Journaling.Storage;

internal sealed partial class CorfuJournalStorage
{
    // Each waits for the log's own time limits; an append that is still unknown then is reported as such.
    private const int ResolveAttempts = 5;

    /// <summary>The stream as far as it has been played.</summary>
    private sealed class Opened(ICorfuLog log, StreamCursor cursor, JournalChain chain)
    {
        public ICorfuLog Log => log;

        public StreamCursor Cursor => cursor;

        public JournalChain Chain => chain;

        /// <summary>Of the stream's entries since the last trim, in order.</summary>
        public List<LogPosition> Positions { get; } = [];

        /// <summary>Of the record that was looked for; null: it was not met.</summary>
        public bool? OwnIsInForce { get; set; }
    }

    /// <summary>Plays the stream from its root to its end.</summary>
    private async Task<Opened> OpenAsync(
        bool keepsData, CancellationToken cancellationToken, EntryOrigin? own = null)
    {
        _opened = null;
        ICorfuLog log = await _connect(cancellationToken);
        var (root, start) = await JournalRootSearch.FindAsync(
            log, _stream, JournalRootSearch.Newest, cancellationToken);
        while (true)
        {
            LogTrimmedException? trimmed = null;
            var cursor = new StreamCursor(log, _stream, new LogPosition(Math.Max(0, start)));
            var opened = new Opened(log, cursor, new JournalChain(_journal, root, keepsData));
            try
            {
                await cursor.SyncAsync(cancellationToken: cancellationToken);
                opened.OwnIsInForce = await PlayAsync(opened, own, cancellationToken);
                if (root < 0 || opened.Chain.Version >= 0) return _opened = opened;
            }
            catch (LogTrimmedException e)
            {
                trimmed = e;
            }

            // Another activation took a snapshot meanwhile, or the newest entries are all of one that knows an old
            // root: among all entries a newer root is found. Without one the data is lost.
            var newer = await JournalRootSearch.FindAsync(log, _stream, JournalRootSearch.All, cancellationToken);
            if (newer.Root <= root)
            {
                throw new CorfuJournalException(
                    $"Entries of journal '{_journal}' that it still needs were trimmed from the log.", trimmed);
            }

            (root, start) = newer;
        }
    }

    /// <summary>The stream to its present end.</summary>
    private async Task<Opened> FreshAsync(CancellationToken cancellationToken)
    {
        if (_opened is not { } opened) return await OpenAsync(keepsData: false, cancellationToken);
        try
        {
            await opened.Cursor.SyncAsync(cancellationToken: cancellationToken);
            await PlayAsync(opened, null, cancellationToken);
            return opened;
        }
        catch (LogTrimmedException)
        {
            return await OpenAsync(keepsData: false, cancellationToken);
        }
    }

    /// <summary>Appends one record that builds on <paramref name="version"/>, and finds out whether it is in
    /// force.</summary>
    private async Task<bool> TryWriteAsync(
        Opened opened, JournalRecordKind kind, ReadOnlyMemory<byte> data,
        ImmutableSortedDictionary<string, string>? properties, long version, CancellationToken cancellationToken)
    {
        var record = new JournalRecord(
            kind, _journal, Guid.NewGuid(), 0, version, opened.Chain.Root, opened.Chain.Start, _formatKey, properties,
            data);
        record = await AppendPartsAsync(opened.Log, record, cancellationToken);
        // From the append until it is known whether the record is in force, no other may be built on it.
        bool knew = _mustRead;
        AppendResult own = await AppendAsync(opened.Log, record, cancellationToken);
        _mustRead = true;
        bool isInForce;
        try
        {
            isInForce = await IsInForceAsync(opened, own, cancellationToken);
        }
        catch (Exception e) when (e is CorfuException or CorfuJournalException or OperationCanceledException)
        {
            // The record is in the log.
            throw Unknown(e);
        }

        _mustRead = knew;
        if (!isInForce) return false;
        if (_seen == version) _seen = own.Position.Offset;
        Trim(opened, record.Start);
        return true;
    }

    /// <summary>Reads the stream up to a record that was appended.</summary>
    private async Task<bool> IsInForceAsync(Opened opened, AppendResult own, CancellationToken cancellationToken)
    {
        bool? isInForce;
        try
        {
            await opened.Cursor.SyncAsync(cancellationToken: cancellationToken);
            isInForce = await PlayAsync(opened, own.Origin, cancellationToken);
        }
        catch (LogTrimmedException)
        {
            // Another writer took a snapshot. A record below it may be a part of it, and is not met any more.
            isInForce = (await OpenAsync(keepsData: false, cancellationToken, own.Origin)).OwnIsInForce;
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
                $"The id and properties of journal '{_journal}' do not fit an entry of {log.MaxPayload:N0} bytes.");
        }

        while (record.Data.Length > room)
        {
            var part = record with
            {
                Kind = JournalRecordKind.Part,
                Parts = 0,
                Properties = null,
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
    /// <exception cref="CorfuOutcomeUnknownException">It is not known whether it is in the log.</exception>
    private async Task<AppendResult> AppendAsync(
        ICorfuLog log, JournalRecord record, CancellationToken cancellationToken)
    {
        var payload = record.Encode();
        AppendResult result = await log.AppendAsync(payload, [_stream], cancellationToken);
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
        _mustRead = true;
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
            bool accepted = opened.Chain.Accept(entry.Position, record);
            if (entry.Origin == own) isInForce = accepted;
        }

        return isInForce;
    }

    /// <summary>Releases what stands below a root that a record in the log names: a reader that finds the record needs
    /// nothing below.</summary>
    private void Trim(Opened opened, long start)
    {
        int count = opened.Positions.FindIndex(position => position.Offset >= start);
        if (count <= 0) return;
        _trimmer.Trim(opened.Log, opened.Positions[..count]);
        opened.Positions.RemoveRange(0, count);
    }
}
