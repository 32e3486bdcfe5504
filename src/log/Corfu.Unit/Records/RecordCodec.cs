namespace Corfu.Unit;

/// <summary>A unit's records as <see cref="RecordFraming"/> has them (docs/formats/log.md gives the byte offsets, a
/// golden test pins them).</summary>
internal static class RecordCodec
{
    public const uint Magic = RecordFraming.Magic;
    public const byte Version = RecordFraming.Version;
    public const int HeaderSize = RecordFraming.HeaderSize;
    public const int MaxBody = RecordFraming.MaxBody;

    public static int Size(in LogRecord record) => HeaderSize + record.Body.Length;

    /// <inheritdoc cref="RecordFraming.Encode"/>
    public static uint Encode(in LogRecord record, long address, long previous, long floor, uint incarnation,
        uint logId, Span<byte> target) =>
        RecordFraming.Encode(new FramedRecord((byte)record.Kind, record.Position.Offset, record.Position.Epoch.Value,
            record.Body, record.CheckedLength), address, previous, floor, incarnation, logId, target);

    /// <inheritdoc cref="RecordFraming.TryDecode"/>
    public static bool TryDecode(ReadOnlySpan<byte> source, long address, out RecordHeader header)
    {
        var known = RecordFraming.TryDecode(source, address, out var framed);
        header = known ? RecordHeader.Of(framed) : default;
        return known;
    }

    /// <inheritdoc cref="RecordFraming.CheckedPartIntact"/>
    public static bool CheckedPartIntact(ReadOnlySpan<byte> source, long address, in RecordHeader header) =>
        RecordFraming.CheckedPartIntact(source, address, header.Framed);

    public static uint LogIdOf(NodeId unit) => RecordFraming.LogIdOf(unit.Value);
}
