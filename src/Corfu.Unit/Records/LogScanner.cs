using System.Buffers.Binary;
using Corfu.Protocol;

namespace Corfu.Unit;

/// <summary>Receives the records of a log in order. The body is valid only during the call.</summary>
internal delegate void RecordVisitor(in LogRecord record, in RecordPlace place);

/// <summary>
/// The recovery scan, shared by every store that keeps a log (R6). Records form a chain by their previous-addresses, so
/// the scan needs nothing of the framing in between (FASTER's frames, commit records, page padding): it looks for the
/// next valid record and asks whether it continues the chain. A valid record that does not, but whose floor lies above
/// the end of the chain, proves that something acknowledged is damaged or missing: refuse. Without such a proof the
/// chain's end is the tail, and what lies behind was never acknowledged.
/// </summary>
internal sealed class LogScanner(ILogImage image, uint logId)
{
    private const int WindowSize = 4 << 20;

    private static readonly byte[] MagicBytes = [(byte)'C', (byte)'F', (byte)'R', (byte)'1'];

    private readonly LogWindow _window = new(image, WindowSize);

    // Ahead is a second window: proofs are searched far beyond the record at hand, which must stay loaded.
    private readonly LogWindow _ahead = new(image, WindowSize);

    /// <param name="durableMark">
    /// Everything below is known, from outside the log, to have been durable; 0 if nothing is known. A log that ends
    /// below is short.
    /// </param>
    /// <param name="from">Where to go on: a place that the caller has found to be in this log. Null: from the
    /// beginning.</param>
    /// <param name="gaps">What may be missing; what the log says about it is added.</param>
    /// <exception cref="LogDamagedException">Something acknowledged is damaged or missing.</exception>
    public async ValueTask<LogTail> ScanAsync(long durableMark, RecordVisitor visit, LogTail? from = null,
        LogGaps? gaps = null)
    {
        var tail = from ?? new LogTail(image.Begin, 0, 0, 0, false);
        var breaks = new List<(long Before, long Last)>();
        gaps ??= new LogGaps();
        while (true)
        {
            var (address, header) = await NextAsync(_window, tail.End, tail, durableMark);
            if (address < 0) break;
            if (tail.Records > 0 && header.Previous != tail.LastRecord) breaks.Add((tail.LastRecord, header.Previous));
            var (body, headers) = await BodyAsync(address, header);
            // Aligned, like the sequence numbers that stores hand out: floors and ends are compared.
            var end = RecordCodec.Align(address + RecordCodec.HeaderSize + header.BodyLength);
            var intact = headers is null && PayloadIntact(address, header, body);
#if PLANTED
            if (!intact && Planted.Is("torn-tail-is-a-page")) durableMark = Math.Max(durableMark, end);
#endif
            if (!intact && !await ProvenDurableAsync(address, end, durableMark)) break;
            if (headers is not null) body = WithoutHeaders(header, body, address);
            if (header.Kind == RecordKind.Freed) gaps.Read(body.Span);
            visit(
                new LogRecord(header.Kind, header.Position, body, header.CheckedLength),
                new RecordPlace(address + RecordCodec.HeaderSize, end, intact)
                {
                    Previous = header.Previous,
                    DamagedHeaders = headers
                });
            tail = new LogTail(end, address, header.Incarnation, tail.Records + 1, false);
        }

        foreach (var (before, last) in breaks)
        {
            if (gaps.Excuse(before, last)) continue;
            throw new LogDamagedException(
                $"A part of the log behind address {before} is missing. Rebuild this unit from its replicas; do not "
                + "start it on this folder.", before);
        }

        if (durableMark > tail.End)
        {
            throw new LogDamagedException(
                $"The log came back short: it was durable up to {durableMark} and now ends at {tail.End}. " +
                "Rebuild this unit from its replicas; do not start it on this folder.",
                tail.End);
        }

        return tail with { TornBytes = await AnythingBehindAsync(tail.End), Breaks = breaks };
    }

    // The position is known, so only a page may go without its headers (it is corrupt), and a trim without its
    // tombstone.
    private static ReadOnlyMemory<byte> WithoutHeaders(RecordHeader header, ReadOnlyMemory<byte> body, long address) =>
        header.Kind switch
        {
            RecordKind.Page or RecordKind.Junk or RecordKind.Moved => body,
            RecordKind.Trim => default,
            _ => throw new LogDamagedException(
                $"A {header.Kind} record at {address} of the log is damaged. Rebuild this unit from its replicas; do "
                + "not "
                + "start it on this folder.", address),
        };

    /// <summary>The record that continues the chain behind <paramref name="tail"/>, or -1 if the log ends
    /// there.</summary>
    private async ValueTask<(long Address, RecordHeader Header)> NextAsync(LogWindow window, long from, LogTail tail,
        long durableMark)
    {
        while (true)
        {
            var (address, header) = await FindAsync(window, from);
            if (address < 0) return (-1, default);
            if (Continues(tail, address, header)) return (address, header);
            if (header.Floor > tail.End)
            {
                throw new LogDamagedException(
                    $"The log is damaged behind address {tail.End}: the record at {address} proves that everything "
                    + "below " +
                    $"{Math.Max(header.Floor, durableMark)} was durable. Rebuild this unit from its replicas; do not "
                    + "start it on this folder.",
                    tail.End);
            }

            // Left behind by a write that was never synced, or by an earlier run: its floor was true then, so it proves
            // nothing now.
            from = address + RecordCodec.Alignment;
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
        // R5: segments in the middle whose pages were all trimmed or moved are gone. Whether these may be is known at
        // the end of the scan.
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

    /// <summary>The next valid record at or behind <paramref name="from"/>, whatever it continues.</summary>
    internal static async ValueTask<(long Address, RecordHeader Header)> FindAsync(LogWindow window, long from)
    {
        while (from < window.End)
        {
            from = window.SkipMissing(from);
            if (from >= window.End) break;
            var bytes = await window.GetAsync(from, RecordCodec.HeaderSize);
            var at = IndexOfMagic(bytes.Span, from);
            if (at < 0)
            {
                // Keep the last bytes: a magic number may straddle the window's end.
                from += Math.Max(RecordCodec.Alignment,
                    (bytes.Length - (MagicBytes.Length - 1)) & ~(RecordCodec.Alignment - 1));
                continue;
            }

            from += at;
            var candidate = await window.GetAsync(from, RecordCodec.HeaderSize);
            if (RecordCodec.TryDecode(candidate.Span, from, out var header)) return (from, header);

            from += RecordCodec.Alignment;
        }

        return (-1, default);
    }

    private static int IndexOfMagic(ReadOnlySpan<byte> span, long address)
    {
        var at = 0;
        while (true)
        {
            var next = span[at..].IndexOf(MagicBytes);
            if (next < 0) return -1;
            at += next;
            if ((address + at) % RecordCodec.Alignment == 0) return at;
            at++;
        }
    }

    // The body, and what its checked part should have given if that is damaged.
    private async ValueTask<(ReadOnlyMemory<byte> Body, (uint Seed, uint Check)? DamagedHeaders)> BodyAsync(
        long address, RecordHeader header)
    {
        var bytes = await _window.GetAsync(address, RecordCodec.HeaderSize + header.BodyLength);
        (uint, uint)? damaged = RecordCodec.CheckedPartIntact(bytes.Span, address, header)
            ? null
            : RecordCodec.Identity(bytes.Span, address);
        var available = bytes.Length - RecordCodec.HeaderSize;
        if (available >= header.BodyLength) return (bytes.Slice(RecordCodec.HeaderSize, header.BodyLength), damaged);
        // The image ends inside the payload: the missing part reads as zeros, and its check fails.
        var padded = new byte[header.BodyLength];
        bytes.Span[RecordCodec.HeaderSize..].CopyTo(padded);
        return (padded, damaged);
    }

    // The payload's check is in the part that the record's own check covers.
    internal static bool PayloadIntact(long address, RecordHeader header, ReadOnlyMemory<byte> body)
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
            var (found, header) = await FindAsync(_ahead, address + RecordCodec.Alignment);
            if (found < 0) return false;
            if (header.Floor >= end && header.LogId == logId) return true;
            address = found;
        }
    }

    /// <summary>
    /// Whether a record, whole or not, begins behind <paramref name="end"/>, where a scan ended: that was written and
    /// never became part of the log. What a store writes around its records, as FASTER its commit records, does not
    /// count.
    /// </summary>
    public async ValueTask<bool> AnyRecordBehindAsync(long end)
    {
        while (end < image.End)
        {
            end = _window.SkipMissing(end);
            if (end >= image.End) return false;
            var bytes = await _window.GetAsync(end, RecordCodec.HeaderSize);
            if (IndexOfMagic(bytes.Span, end) >= 0) return true;
            end += Math.Max(RecordCodec.Alignment,
                (bytes.Length - (MagicBytes.Length - 1)) & ~(RecordCodec.Alignment - 1));
        }

        return false;
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
