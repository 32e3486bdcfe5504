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
    }

    /// <summary>Plays the stream from its root to its end.</summary>
    private async Task<Opened> OpenAsync(bool keepsData, CancellationToken cancellationToken)
    {
        _opened = null;
        ICorfuLog log = await _connect(cancellationToken);
        while (true)
        {
            var (root, start) = await JournalRootSearch.FindAsync(log, _stream, cancellationToken);
            var cursor = new StreamCursor(log, _stream, new LogPosition(Math.Max(0, start)));
            var opened = new Opened(log, cursor, new JournalChain(_journal, root, keepsData));
            try
            {
                await cursor.SyncAsync(cancellationToken: cancellationToken);
                await PlayAsync(opened, null, cancellationToken);
                if (root >= 0 && opened.Chain.Version < 0)
                    throw new CorfuJournalException($"Journal '{_journal}' lacks its snapshot at {root}.");
                return _opened = opened;
            }
            catch (LogTrimmedException e)
            {
                // Another activation took a snapshot meanwhile: a newer root is found. Without one the data is lost.
                var (newer, _) = await JournalRootSearch.FindAsync(log, _stream, cancellationToken);
                if (newer > root) continue;
                throw new CorfuJournalException(
                    $"Entries of journal '{_journal}' that it still needs were trimmed from the log.", e);
            }
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
            await opened.Cursor.SyncAsync(cancellationToken: cancellationToken);
            isInForce = await PlayAsync(opened, own.Origin, cancellationToken);
        }
        catch (LogTrimmedException)
        {
            // Only a snapshot of another writer has what this one did not play trimmed.
            _opened = null;
            isInForce = false;
        }

        _mustRead = knew;
        if (!isInForce) return false;
        if (_seen == version) _seen = own.Position.Offset;
        Trim(opened, record.Start);
        return true;
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
    /// <returns>Whether the record of <paramref name="own"/> is in force.</returns>
    private async Task<bool> PlayAsync(Opened opened, EntryOrigin? own, CancellationToken cancellationToken)
    {
        bool isInForce = false;
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
