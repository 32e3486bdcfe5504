using System.Buffers;

namespace Tango.Ledgers.Records;

/// <summary>A record of a ledger: an entry of the log, in the stream of the ledger's slot.</summary>
/// <remarks>MessagePack arrays: <c>[1, kind, key's position, record, call, ...]</c>, then of kind 1, entries:
/// <c>first id, position of the writer's newest spine or nil, [bin, ...]</c>; of kinds 2, spine, and 4, close:
/// <c>through, length, floor, 3 x [first, count, position, ...]</c>; of kind 3, fence: whether the writer
/// wrote it.</remarks>
/// <param name="Key">The place of the call that created the ledger.</param>
// B1: a record names its ledger by the place of its creation, which no other ledger has. Named by id or by slot, an
// entry of a writer that was stuck would count in a later ledger.
internal abstract record LedgerRecord(LogPlace Key)
{
    /// <summary>Bytes of a record of one entry, beside the entry.</summary>
    public const int Overhead = 64;

    private const int Version = 1;
    private const int HeadFields = 5;

    private protected enum Kind
    {
        Entries = 1,
        Spine = 2,
        Fence = 3,
        Close = 4,
    }

    public byte[] Encode()
    {
        var buffer = new ArrayBufferWriter<byte>(SizeHint);
        var writer = new MessagePackWriter(buffer);
        writer.WriteArrayHeader(HeadFields + Fields);
        writer.Write(Version);
        writer.Write((int)KindOf);
        writer.Write(Key.Position.Offset);
        writer.Write(Key.Record);
        writer.Write(Key.Call);
        WriteBody(ref writer);
        writer.Flush();
        return buffer.WrittenSpan.ToArray();
    }

    /// <summary>Entries point into the payload.</summary>
    /// <exception cref="TangoFormatException">The bytes are no record that this code writes. It may be the end of a
    /// ledger, so no reader passes over it.</exception>
    public static LedgerRecord Decode(ReadOnlyMemory<byte> payload)
    {
        var reader = new MessagePackReader(payload);
        try
        {
            var fields = reader.ReadCount();
            var version = reader.ReadInt32();
            if (version != Version)
                throw new TangoFormatException($"A ledger's record of version {version}, and {Version} is known");
            var kind = (Kind)reader.ReadInt32();
            var key = new LogPlace(ReadPosition(ref reader), reader.ReadInt32(), reader.ReadInt32());
            LedgerRecord record = kind switch
            {
                Kind.Entries => EntriesRecord.Read(key, ref reader),
                Kind.Spine => new SpineRecord(key, ReadSpine(ref reader)),
                Kind.Fence => new FenceRecord(key, reader.ReadBoolean()),
                Kind.Close => new CloseRecord(key, ReadSpine(ref reader)),
                _ => throw new TangoFormatException($"A ledger's record of kind {kind}"),
            };
            if (fields != HeadFields + record.Fields)
                throw new TangoFormatException($"A ledger's record of {fields} fields");
            TangoFormatters.RequireEnd(ref reader);
            return record;
        }
        catch (Exception e) when (StrictMessagePack.IsDamage(e) || e is ArgumentException)
        {
            throw TangoFormatException.Of(e, reader.Consumed);
        }
    }

    private protected abstract Kind KindOf { get; }

    private protected abstract int Fields { get; }

    private protected virtual int SizeHint => Overhead;

    private protected abstract void WriteBody(ref MessagePackWriter writer);

    private protected static LogPosition ReadPosition(ref MessagePackReader reader) => new(reader.ReadInt64());

    // A spine that no reader takes would stop the ledger, and the next ones of its slot, for good.
    private protected static void WriteSpine(ref MessagePackWriter writer, Spine spine)
    {
        RequireDense(spine);
        writer.Write(spine.Through);
        writer.Write(spine.Length);
        writer.Write(spine.Floor.Offset);
        foreach (var level in spine.Levels)
        {
            writer.WriteArrayHeader(3 * level.Length);
            foreach (var range in level)
            {
                writer.Write(range.First);
                writer.Write(range.Count);
                writer.Write(range.Position.Offset);
            }
        }
    }

    private static Spine ReadSpine(ref MessagePackReader reader)
    {
        var (through, length) = (reader.ReadInt64(), reader.ReadInt64());
        var floor = ReadPosition(ref reader);
        var levels = ImmutableArray.CreateBuilder<ImmutableArray<SpineRange>>(Spine.LevelCount);
        for (var level = 0; level < Spine.LevelCount; level++)
        {
            var numbers = reader.ReadCount();
            if (numbers % 3 != 0) throw new TangoFormatException("A level of a spine is cut short");
            var ranges = ImmutableArray.CreateBuilder<SpineRange>(numbers / 3);
            for (var i = 0; i < numbers; i += 3)
                ranges.Add(new SpineRange(reader.ReadInt64(), reader.ReadInt64(), ReadPosition(ref reader)));
            levels.Add(ranges.MoveToImmutable());
        }

        var spine = new Spine(through, length, floor, levels.MoveToImmutable());
        RequireDense(spine);
        return spine;
    }

    private static void RequireDense(Spine spine)
    {
        var next = 0L;
        foreach (var range in spine.Levels.Reverse().SelectMany(static level => level))
        {
            if (range.First != next || range.Count <= 0 || range.Count > long.MaxValue - next)
                throw new TangoFormatException("The ranges of a spine have a gap");
            next += range.Count;
        }

        if (spine.Through != next - 1 || spine.Length < 0)
            throw new TangoFormatException("The ranges of a spine do not end where it says");
    }
}

/// <summary>Entries with consecutive ids.</summary>
/// <param name="Spine">Position of the writer's newest spine.</param>
internal sealed record EntriesRecord(
    LogPlace Key, long First, LogPosition? Spine, ImmutableArray<ReadOnlyMemory<byte>> Data) : LedgerRecord(Key)
{
    /// <summary>Bytes of each entry after the first, beside the entry.</summary>
    public const int EntryOverhead = 5;

    public long Bytes => Data.Sum(static data => (long)data.Length);

    private protected override Kind KindOf => Kind.Entries;

    private protected override int Fields => 3;

    private protected override int SizeHint => Overhead + (int)Bytes + (EntryOverhead * Data.Length);

    internal static EntriesRecord Read(LogPlace key, ref MessagePackReader reader)
    {
        var first = reader.ReadInt64();
        LogPosition? spine = reader.TryReadNil() ? null : ReadPosition(ref reader);
        var data = new ReadOnlyMemory<byte>[reader.ReadCount()];
        if (first < 0 || data.Length == 0 || first > long.MaxValue - data.Length)
            throw new TangoFormatException("Entries of a ledger without ids");
        for (var i = 0; i < data.Length; i++) data[i] = reader.ReadBinary();
        return new EntriesRecord(key, first, spine, [.. data]);
    }

    private protected override void WriteBody(ref MessagePackWriter writer)
    {
        writer.Write(First);
        if (Spine is { } spine) writer.Write(spine.Offset);
        else writer.WriteNil();
        writer.WriteArrayHeader(Data.Length);
        foreach (var data in Data) writer.Write(data.Span);
    }
}

/// <summary>Leads to the entries: see <see cref="Ledgers.Records.Spine"/>.</summary>
internal sealed record SpineRecord(LogPlace Key, Spine Spine) : LedgerRecord(Key)
{
    private protected override Kind KindOf => Kind.Spine;

    private protected override int Fields => 6;

    private protected override void WriteBody(ref MessagePackWriter writer) => WriteSpine(ref writer, Spine);
}

/// <summary>Ends the ledger after what is dense below it.</summary>
/// <param name="IsWriters">The writer closes the ledger by it; else it is another process'.</param>
internal sealed record FenceRecord(LogPlace Key, bool IsWriters = false) : LedgerRecord(Key)
{
    private protected override Kind KindOf => Kind.Fence;

    private protected override int Fields => 1;

    private protected override void WriteBody(ref MessagePackWriter writer) => writer.Write(IsWriters);
}

/// <summary>The writer ends the ledger after the last entry that it has acknowledged.</summary>
internal sealed record CloseRecord(LogPlace Key, Spine Spine) : LedgerRecord(Key)
{
    private protected override Kind KindOf => Kind.Close;

    private protected override int Fields => 6;

    private protected override void WriteBody(ref MessagePackWriter writer) => WriteSpine(ref writer, Spine);
}
