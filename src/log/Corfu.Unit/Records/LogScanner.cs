namespace Corfu.Unit;

/// <summary>Receives the records of a log in order. The body is valid only during the call.</summary>
internal delegate void RecordVisitor(in LogRecord record, in RecordPlace place);

/// <summary>The recovery scan of a unit's log, by <see cref="RecordScanner"/> (R6).</summary>
internal sealed class LogScanner
{
    private readonly RecordScanner _scanner;
    private readonly UnitScanRules _rules = new();

    public LogScanner(ILogImage image, uint logId) => _scanner = new RecordScanner(image, logId, _rules);

    /// <param name="gaps">The parts that may be missing; the log's own statements about them are added.</param>
    /// <inheritdoc cref="RecordScanner.ScanAsync"/>
    public ValueTask<LogTail> ScanAsync(long durableMark, RecordVisitor visit, LogTail? from = null,
        LogGaps? gaps = null)
    {
        gaps ??= new LogGaps();
        _rules.Gaps = gaps;
        return _scanner.ScanAsync(durableMark, Visit, from);

        void Visit(in FramedRecord framed, in FramedPlace at)
        {
            var record = UnitScanRules.Record(framed);
            var place = UnitScanRules.Place(at);
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

    /// <inheritdoc cref="RecordScanner.AnyRecordBehindAsync"/>
    public ValueTask<bool> AnyRecordBehindAsync(long end) => _scanner.AnyRecordBehindAsync(end);

    /// <inheritdoc cref="RecordScanner.CountBehindAsync"/>
    public ValueTask<long> CountBehindAsync(long address) => _scanner.CountBehindAsync(address);

    /// <inheritdoc cref="RecordScanner.FindAsync"/>
    internal static async ValueTask<(long Address, RecordHeader Header)> FindAsync(LogWindow window, long from)
    {
        var (address, header) = await RecordScanner.FindAsync(window, from);
        return (address, address < 0 ? default : RecordHeader.Of(header));
    }
}

/// <summary>A unit's records in a scan: a page with a damaged payload, or damaged headers, is corrupt and not the
/// log.</summary>
internal sealed class UnitScanRules : ScanRules
{
    /// <summary>The parts that may be missing in the middle of the log.</summary>
    public LogGaps? Gaps { get; set; }

    public override byte OpenKind => (byte)RecordKind.Open;

    public override string Cure => "Rebuild this unit from its replicas; do not start it on this folder.";

    public override string Owner => "unit";

    public static LogRecord Record(in FramedRecord record) => new((RecordKind)record.Kind,
        new LogPosition(record.Number, new Epoch(record.Epoch)), record.Body, record.CheckedLength);

    public static RecordPlace Place(in FramedPlace place) =>
        new(place.Address + RecordCodec.HeaderSize, place.Lsn, place.IsIntact)
        {
            Previous = place.Previous,
            DamagedHeaders = place.Damage,
        };

    // The payload's check is in the part that the record's own check covers.
    public override bool IsIntact(long address, in FramedHeader header, ReadOnlyMemory<byte> body)
    {
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
            + "here. Rebuild this unit from its replicas.", address);
    }

    // The position is known, so a page is corrupt without its headers, and a trim loses its tombstone.
    public override FramedRecord? WithoutBody(in FramedRecord record) => (RecordKind)record.Kind switch
    {
        RecordKind.Page or RecordKind.Junk or RecordKind.Moved => record,
        RecordKind.Trim => record with { Body = default },
        _ => null,
    };

    public override bool Excuses(long before, long last) => Gaps?.Excuse(before, last) ?? false;
}
