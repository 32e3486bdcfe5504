namespace Corfu.Unit;

/// <summary>The unit's log lacks something that was once acknowledged. The unit does not start: serving would answer
/// "unwritten" for entries that exist. The cure is a rebuild from the other replicas onto a freshly formatted
/// folder.</summary>
public sealed class LogDamagedException(string message, long address) : CorfuException(message)
{
    /// <summary>Log address behind which something is damaged or missing.</summary>
    public long Address { get; } = address;
}

/// <summary>Receives the records of a log in order. The body is valid only during the call.</summary>
internal delegate void RecordVisitor(in LogRecord record, in RecordPlace place);

/// <summary>The end of a recovery scan, and the state with which the next run of the unit goes on from there.</summary>
/// <param name="End">End of the last valid record; anything behind it is a torn tail and was never
/// acknowledged.</param>
/// <param name="LastRecord">Address of the last record, 0 in an empty log.</param>
/// <param name="Incarnation">Incarnation of the last record, 0 in an empty log.</param> /// <param name="Records">How
/// many records were accepted.</param>
/// <param name="TornBytes">Whether something was written behind the end that did not become part of the log.</param>
internal readonly record struct LogTail(long End, long LastRecord, uint Incarnation, long Records,
    bool TornBytes = false)
{
    /// <summary>Deleted parts in the middle of the log: the last record before each, and the last one in it.</summary>
    public IReadOnlyList<(long Before, long Last)> Breaks { get; init; } = [];
}

/// <summary>The recovery scan (R6). Records form a chain by their previous-addresses, so the scan ignores the framing
/// in between (FASTER's frames, commit records, page padding): the scan looks for the next valid record and checks
/// whether that continues the chain. A valid record that does not continue it, and whose floor lies above the chain's
/// end, proves that something acknowledged is damaged or missing: refuse. Without such a proof the chain's end is the
/// tail, and what lies behind was never acknowledged.</summary>
internal sealed class LogScanner(ILogImage image, uint logId)
{
    private const int WindowSize = 4 << 20;
    private const string Cure = "Rebuild this unit from its replicas; do not start it on this folder.";

    private static readonly byte[] MagicBytes = [(byte)'C', (byte)'F', (byte)'R', (byte)'1'];

    private readonly LogWindow _window = new(image, WindowSize);

    // A second window: proofs are searched far ahead while the record at hand stays loaded.
    private readonly LogWindow _ahead = new(image, WindowSize);

    /// <param name="durableMark">Known from outside the log: everything below was durable; 0 if no mark is known. A log
    /// that ends below is short.</param>
    /// <param name="from">The place to go on from, which the caller has found to be in this log. Null: the
    /// beginning.</param>
    /// <param name="gaps">The parts that may be missing; the log's own statements about them are added.</param>
    /// <exception cref="LogDamagedException">Something acknowledged is damaged or missing, or a record makes no
    /// sense.</exception>
    public async ValueTask<LogTail> ScanAsync(long durableMark, RecordVisitor visit, LogTail? from = null,
        LogGaps? gaps = null)
    {
        var tail = from ?? new LogTail(image.Begin, 0, 0, 0);
        var breaks = new List<(long Before, long Last)>();
        gaps ??= new LogGaps();
        while (true)
        {
            var (address, header) = await NextAsync(tail, durableMark);
            if (address < 0) break;
            if (tail.Records > 0 && header.Previous != tail.LastRecord) breaks.Add((tail.LastRecord, header.Previous));
            var (record, place) = Decode(await BytesOfAsync(address, header), address, header);
            if (Planted.Is("torn-tail-is-a-page") && !place.PayloadIntact)
                durableMark = Math.Max(durableMark, place.Lsn);
            if (!place.PayloadIntact && !await ProvenDurableAsync(address, place.Lsn, durableMark)) break;
            if (place.DamagedHeaders is not null) record = WithoutHeaders(record, address);
            Visit(record, place);
            tail = new LogTail(place.Lsn, address, header.Incarnation, tail.Records + 1);
        }

        foreach (var (before, last) in breaks)
        {
            if (gaps.Excuse(before, last)) continue;
            throw new LogDamagedException($"A part of the log behind address {before} is missing. {Cure}", before);
        }

        if (durableMark > tail.End)
        {
            throw new LogDamagedException(
                $"The log came back short: it was durable up to {durableMark} and now ends at {tail.End}. {Cure}",
                tail.End);
        }

        return tail with { TornBytes = await AnythingBehindAsync(tail.End), Breaks = breaks };

        void Visit(in LogRecord record, in RecordPlace place)
        {
            try
            {
                if (record.Kind == RecordKind.Freed) gaps.Read(record.Body);
                visit(record, place);
            }
            catch (Exception error) when (error is MalformedDataException or ArgumentException or OverflowException
                or IndexOutOfRangeException)
            {
                throw new LogDamagedException(
                    $"The {record.Kind} record at {place.BodyAddress} of the log cannot be applied: {error.Message} "
                    + "Rebuild this unit from its replicas.",
                    place.BodyAddress);
            }
        }
    }

    /// <summary>Whether a record, whole or not, begins behind the end of a scan: it never became part of the log. The
    /// record log's own bytes around records do not count.</summary>
    public async ValueTask<bool> AnyRecordBehindAsync(long end) => await FindMagicAsync(_window, end) >= 0;

    /// <summary>Counts the valid records behind an address, whatever they continue.</summary>
    public async ValueTask<long> CountBehindAsync(long address)
    {
        for (var found = 0L; ; found++)
        {
            (var at, _) = await FindAsync(_window, address);
            if (at < 0) return found;
            address = at + IRecordLog.Alignment;
        }
    }

    /// <summary>The next valid record at or behind <paramref name="from"/>, whatever it continues; -1 if there is
    /// none.</summary>
    internal static async ValueTask<(long Address, RecordHeader Header)> FindAsync(LogWindow window, long from)
    {
        while (true)
        {
            var at = await FindMagicAsync(window, from);
            if (at < 0) return (-1, default);
            var candidate = await window.GetAsync(at, RecordCodec.HeaderSize);
            if (RecordCodec.TryDecode(candidate.Span, at, out var header)) return (at, header);
            from = at + IRecordLog.Alignment;
        }
    }

    /// <param name="bytes">The record's header and its whole body.</param>
    internal static (LogRecord Record, RecordPlace Place) Decode(ReadOnlyMemory<byte> bytes, long address,
        RecordHeader header)
    {
        var body = bytes.Slice(RecordCodec.HeaderSize, header.BodyLength);
        (uint, uint)? damaged = RecordCodec.CheckedPartIntact(bytes.Span, address, header)
            ? null
            : RecordCodec.Identity(bytes.Span, address);
        var bodyAddress = address + RecordCodec.HeaderSize;
        // Aligned, like the sequence numbers that stores hand out: floors and ends are compared.
        var place = new RecordPlace(bodyAddress, IRecordLog.Align(bodyAddress + header.BodyLength),
            damaged is null && PayloadIntact(address, header, body))
        {
            Previous = header.Previous,
            DamagedHeaders = damaged,
        };
        return (new LogRecord(header.Kind, header.Position, body, header.CheckedLength), place);
    }

    // The position is known, so a page is corrupt without its headers, and a trim loses its tombstone.
    private static LogRecord WithoutHeaders(LogRecord record, long address) => record.Kind switch
    {
        RecordKind.Page or RecordKind.Junk or RecordKind.Moved => record,
        RecordKind.Trim => record with { Body = default },
        _ => throw new LogDamagedException($"A {record.Kind} record at {address} of the log is damaged. {Cure}",
            address),
    };

    /// <summary>The record that continues the chain behind <paramref name="tail"/>, or -1 if the log ends
    /// there.</summary>
    private async ValueTask<(long Address, RecordHeader Header)> NextAsync(LogTail tail, long durableMark)
    {
        var from = tail.End;
        while (true)
        {
            var (address, header) = await FindAsync(_window, from);
            if (address < 0 || Continues(tail, address, header)) return (address, header);
            if (header.Floor > tail.End)
            {
                throw new LogDamagedException(
                    $"The log is damaged behind address {tail.End}: the record at {address} proves that everything "
                    + $"below {Math.Max(header.Floor, durableMark)} was durable. {Cure}",
                    tail.End);
            }

            // Left behind by a write that was never synced, or by an earlier run: its floor was true then and proves
            // nothing now.
            from = address + IRecordLog.Alignment;
        }
    }

    private bool Continues(LogTail tail, long address, RecordHeader header)
    {
        if (header.LogId != logId) throw new LogDamagedException("The log holds records of another unit.", tail.End);
        // The first record of a log whose beginning was deleted points at what was deleted.
        if (tail.Records == 0) return image.Begin > 0 || header is { Previous: 0, Kind: RecordKind.Open };
        if (header.Previous == tail.LastRecord)
            return header.Kind == RecordKind.Open
                ? header.Incarnation > tail.Incarnation
                : header.Incarnation == tail.Incarnation;
        // R5: segments in the middle whose pages were all trimmed or moved were deleted. The end of the scan knows
        // whether these were.
        return header.Previous > tail.LastRecord && header.Incarnation >= tail.Incarnation
            && MissingBetween(tail.End, address);
    }

    private bool MissingBetween(long from, long until)
    {
        if (image.PartSize == 0) return false;
        for (var at = from; at < until; at = ((at / image.PartSize) + 1) * image.PartSize)
        {
            if (image.SkipMissing(at) > at) return true;
        }

        return false;
    }

    private static async ValueTask<long> FindMagicAsync(LogWindow window, long from)
    {
        while (from < window.End)
        {
            from = window.SkipMissing(from);
            if (from >= window.End) break;
            var bytes = await window.GetAsync(from, RecordCodec.HeaderSize);
            var at = IndexOfMagic(bytes.Span, from);
            if (at >= 0) return from + at;
            // Keep the last bytes: a magic number may straddle the window's end.
            var searched = (bytes.Length - (MagicBytes.Length - 1)) & ~(IRecordLog.Alignment - 1);
            from += Math.Max(IRecordLog.Alignment, searched);
        }

        return -1;
    }

    private static int IndexOfMagic(ReadOnlySpan<byte> span, long address)
    {
        for (var at = 0; ; at++)
        {
            var next = span[at..].IndexOf(MagicBytes);
            if (next < 0) return -1;
            at += next;
            if ((address + at) % IRecordLog.Alignment == 0) return at;
        }
    }

    // Padded where the image ends inside the payload: the missing part reads as zeros, and its check fails.
    private async ValueTask<ReadOnlyMemory<byte>> BytesOfAsync(long address, RecordHeader header)
    {
        var length = RecordCodec.HeaderSize + header.BodyLength;
        var bytes = await _window.GetAsync(address, length);
        if (bytes.Length >= length) return bytes;
        var padded = new byte[length];
        bytes.CopyTo(padded);
        return padded;
    }

    // The payload's check is in the part that the record's own check covers.
    private static bool PayloadIntact(long address, RecordHeader header, ReadOnlyMemory<byte> body)
    {
        if (header.CheckedLength == header.BodyLength) return true;
        try
        {
            if (EntryCodec.HeaderLength(body.Span[..header.CheckedLength]) == header.CheckedLength
                && EntryCodec.PeekPosition(body.Span) >= LogPosition.Zero)
                return EntryCodec.PayloadIntact(body.Span);
        }
        catch (MalformedDataException)
        {
            // Told below.
        }

        throw new LogDamagedException(
            $"The record at address {address} holds no entry, although its check fits: another program has written "
            + "here.", address);
    }

    /// <summary>Whether a later record, or the mark, proves that everything below <paramref name="end"/> was
    /// durable.</summary>
    private async ValueTask<bool> ProvenDurableAsync(long address, long end, long durableMark)
    {
        if (durableMark >= end) return true;
        while (true)
        {
            var (found, header) = await FindAsync(_ahead, address + IRecordLog.Alignment);
            if (found < 0) return false;
            if (header.Floor >= end && header.LogId == logId) return true;
            address = found;
        }
    }

    private async ValueTask<bool> AnythingBehindAsync(long end)
    {
        while (end < image.End)
        {
            var bytes = await _window.GetAsync(end, 1);
            if (bytes.Span.IndexOfAnyExcept((byte)0) >= 0) return true;
            end += bytes.Length;
        }

        return false;
    }
}
