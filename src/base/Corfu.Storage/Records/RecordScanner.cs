namespace Corfu.Storage;

/// <summary>Receives the records of a log in order. The body is valid only during the call.</summary>
public delegate void FramedVisitor(in FramedRecord record, in FramedPlace place);

/// <summary>A store's part in the scan of its log.</summary>
public abstract class ScanRules
{
    /// <summary>The kind of the first record of each run.</summary>
    public abstract byte OpenKind { get; }

    /// <summary>The cure for a damaged log, for an operator: the end of each message.</summary>
    public abstract string Cure { get; }

    /// <summary>The kind of server that keeps the log, for messages.</summary>
    public abstract string Owner { get; }

    /// <summary>The part of the body behind the checked one is what was written.</summary>
    /// <exception cref="LogDamagedException">The body holds something else, although its check fits.</exception>
    public abstract bool IsIntact(long address, in FramedHeader header, ReadOnlyMemory<byte> body);

    /// <summary>A record whose checked part is damaged, as it may still count; null: the log is damaged.</summary>
    public virtual FramedRecord? WithoutBody(in FramedRecord record) => null;

    /// <summary>Whether a part that is missing between two records was deleted.</summary>
    public virtual bool Excuses(long before, long last) => false;
}

/// <summary>The recovery scan. Records form a chain by their previous-addresses, so the scan ignores the framing
/// in between (FASTER's frames, commit records, page padding): the scan looks for the next valid record and checks
/// whether that continues the chain. A valid record that does not continue it, and whose floor lies above the chain's
/// end, proves that something acknowledged is damaged or missing: refuse. Without such a proof the chain's end is the
/// tail, and what lies behind was never acknowledged.</summary>
public sealed class RecordScanner(ILogImage image, uint logId, ScanRules rules)
{
    private const int WindowSize = 4 << 20;

    private static readonly byte[] MagicBytes = [(byte)'C', (byte)'F', (byte)'R', (byte)'1'];

    private readonly LogWindow _window = new(image, WindowSize);

    // A second window: proofs are searched far ahead while the record at hand stays loaded.
    private readonly LogWindow _ahead = new(image, WindowSize);

    /// <param name="durableMark">Known from outside the log: everything below was durable; 0 if no mark is known. A log
    /// that ends below is short.</param>
    /// <param name="from">The place to go on from, which the caller has found to be in this log. Null: the
    /// beginning.</param>
    /// <exception cref="LogDamagedException">Something acknowledged is damaged or missing, or a record makes no
    /// sense.</exception>
    public async ValueTask<LogTail> ScanAsync(long durableMark, FramedVisitor visit, LogTail? from = null)
    {
        var tail = from ?? new LogTail(image.Begin, 0, 0, 0);
        var breaks = new List<(long Before, long Last)>();
        while (true)
        {
            var (address, header) = await NextAsync(tail, durableMark);
            if (address < 0) break;
            if (tail.Records > 0 && header.Previous != tail.LastRecord) breaks.Add((tail.LastRecord, header.Previous));
            var (record, place) = Decode(await BytesOfAsync(address, header), address, header, rules);
            if (Planted.Is("torn-tail-is-a-page") && !place.IsIntact)
                durableMark = Math.Max(durableMark, place.Lsn);
            if (!place.IsIntact && !await ProvenDurableAsync(address, place.Lsn, durableMark)) break;
            if (place.Damage is not null) record = rules.WithoutBody(record) ?? throw Damaged(header, address);
            visit(record, place);
            tail = new LogTail(place.Lsn, address, header.Incarnation, tail.Records + 1);
        }

        foreach (var (before, last) in breaks)
        {
            if (rules.Excuses(before, last)) continue;
            throw new LogDamagedException($"A part of the log behind address {before} is missing. {rules.Cure}",
                before);
        }

        if (durableMark > tail.End)
        {
            throw new LogDamagedException(
                $"The log came back short: it was durable up to {durableMark} and now ends at {tail.End}. "
                + rules.Cure, tail.End);
        }

        return tail with { TornBytes = await AnythingBehindAsync(tail.End), Breaks = breaks };
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
    public static async ValueTask<(long Address, FramedHeader Header)> FindAsync(LogWindow window, long from)
    {
        while (true)
        {
            var at = await FindMagicAsync(window, from);
            if (at < 0) return (-1, default);
            var candidate = await window.GetAsync(at, RecordFraming.HeaderSize);
            if (RecordFraming.TryDecode(candidate.Span, at, out var header)) return (at, header);
            from = at + IRecordLog.Alignment;
        }
    }

    /// <param name="bytes">The record's header and its whole body.</param>
    public static (FramedRecord Record, FramedPlace Place) Decode(ReadOnlyMemory<byte> bytes, long address,
        in FramedHeader header, ScanRules rules)
    {
        var body = bytes.Slice(RecordFraming.HeaderSize, header.BodyLength);
        (uint, uint)? damage = RecordFraming.CheckedPartIntact(bytes.Span, address, header)
            ? null
            : RecordFraming.Identity(bytes.Span, address);
        // Aligned, like the sequence numbers that stores hand out: floors and ends are compared.
        var end = IRecordLog.Align(address + RecordFraming.HeaderSize + header.BodyLength);
        var intact = damage is null
            && (header.CheckedLength == header.BodyLength || rules.IsIntact(address, header, body));
        return (new FramedRecord(header.Kind, header.Number, header.Epoch, body, header.CheckedLength),
            new FramedPlace(address, end, header.Previous, intact, damage));
    }

    private LogDamagedException Damaged(in FramedHeader header, long address) => new(
        $"A record of kind {header.Kind} at {address} of the log is damaged. {rules.Cure}", address);

    /// <summary>The record that continues the chain behind <paramref name="tail"/>, or -1 if the log ends
    /// there.</summary>
    private async ValueTask<(long Address, FramedHeader Header)> NextAsync(LogTail tail, long durableMark)
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
                    + $"below {Math.Max(header.Floor, durableMark)} was durable. {rules.Cure}",
                    tail.End);
            }

            // Left behind by a write that was never synced, or by an earlier run: its floor was true then and proves
            // nothing now.
            from = address + IRecordLog.Alignment;
        }
    }

    private bool Continues(LogTail tail, long address, FramedHeader header)
    {
        if (header.LogId != logId)
            throw new LogDamagedException($"The log holds records of another {rules.Owner}. {rules.Cure}", tail.End);
        // The first record of a log whose beginning was deleted points at what was deleted.
        if (tail.Records == 0) return image.Begin > 0 || (header.Previous == 0 && header.Kind == rules.OpenKind);
        if (header.Previous == tail.LastRecord)
            return header.Kind == rules.OpenKind
                ? header.Incarnation > tail.Incarnation
                : header.Incarnation == tail.Incarnation;
        // Segments in the middle that nothing needed any more may have been deleted (R5). The end of the scan knows
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
            var bytes = await window.GetAsync(from, RecordFraming.HeaderSize);
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
    private async ValueTask<ReadOnlyMemory<byte>> BytesOfAsync(long address, FramedHeader header)
    {
        var length = RecordFraming.HeaderSize + header.BodyLength;
        var bytes = await _window.GetAsync(address, length);
        if (bytes.Length >= length) return bytes;
        var padded = new byte[length];
        bytes.CopyTo(padded);
        return padded;
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
