using MessagePack;
using Tango;
using Tango.Formatting;

namespace Corfu.WebConsole.Reading;

/// <summary>Reads the records of an entry (docs/formats/tango.md) without the types that wrote them.</summary>
internal static class TangoRecordReader
{
    private const int EntryVersion = 2;
    private const int EntryLength = 4;
    private const int NeedsDecision = 1;
    private const int Decided = 2;

    // Thousands of entries are kept at once; longer arguments are read again where they are shown.
    private const int LongestArguments = 1024;

    /// <summary>No records if the payload is not Tango's, or damaged.</summary>
    public static (ulong Runtime, ImmutableArray<TangoRecord> Records) Read(ReadOnlyMemory<byte> payload)
    {
        try
        {
            return payload.IsEmpty ? (0, []) : ReadEntry(payload);
        }
        catch (Exception e) when (StrictMessagePack.IsDamage(e))
        {
            return (0, []);
        }
    }

    private static (ulong, ImmutableArray<TangoRecord>) ReadEntry(ReadOnlyMemory<byte> payload)
    {
        var reader = new MessagePackReader(payload);
        if (reader.NextMessagePackType != MessagePackType.Array || reader.ReadCount() != EntryLength) return (0, []);
        if (reader.NextMessagePackType != MessagePackType.Integer || reader.ReadInt32() != EntryVersion)
            return (0, []);
        var runtime = reader.ReadUInt64();
        reader.ReadInt64();
        var count = reader.ReadCount();
        var records = ImmutableArray.CreateBuilder<TangoRecord>(count);
        for (var index = 0; index < count; index++) records.Add(ReadRecord(ref reader, index));
        return (runtime, records.MoveToImmutable());
    }

    private static TangoRecord ReadRecord(ref MessagePackReader reader, int index)
    {
        var length = reader.ReadCount();
        var kind = reader.ReadInt32();
        var rest = length - 1;
        TangoRecord record;
        switch ((RecordKind)kind)
        {
            case RecordKind.Update when length >= 5:
                record = new UpdateRecord(index, ReadCall(ref reader));
                rest -= 4;
                break;
            case RecordKind.Commit when length >= 6:
                record = ReadCommit(ref reader, index);
                rest -= 5;
                break;
            case RecordKind.Decision when length >= 4:
                record = new DecisionRecord(index, ReadPlace(ref reader), ReadAborted(ref reader));
                rest -= 3;
                break;
            case RecordKind.Spill when length >= 2:
                record = new SpillRecord(index, ReadCalls(ref reader));
                rest -= 1;
                break;
            default:
                record = new OtherRecord(index, kind);
                break;
        }

        for (; rest > 0; rest--) reader.SkipValue();
        return record;
    }

    private static CommitRecord ReadCommit(ref MessagePackReader reader, int index)
    {
        var flags = reader.ReadInt32();
        var snapshot = reader.ReadInt64();
        var reads = ImmutableArray.CreateBuilder<ReadPart>();
        for (var count = reader.ReadCount(); count > 0; count--)
        {
            reader.ReadCount();
            reads.Add(new ReadPart(reader.ReadUInt64(), reader.TryReadNil() ? null : ReadKeys(ref reader)));
        }

        var writes = ReadCalls(ref reader);
        var spills = ImmutableArray.CreateBuilder<RecordPlace>();
        for (var count = reader.ReadCount(); count > 0; count--)
        {
            var parts = reader.ReadCount();
            spills.Add(ReadPlace(ref reader));
            for (parts -= 2; parts > 0; parts--) reader.SkipValue();
        }

        return new CommitRecord(
            index, (flags & NeedsDecision) != 0, (flags & Decided) != 0, snapshot, reads.DrainToImmutable(), writes,
            spills.DrainToImmutable());
    }

    private static ImmutableArray<byte[]> ReadKeys(ref MessagePackReader reader)
    {
        var keys = ImmutableArray.CreateBuilder<byte[]>();
        for (var count = reader.ReadCount(); count > 0; count--) keys.Add(reader.ReadBinary().ToArray());
        return keys.DrainToImmutable();
    }

    private static ImmutableArray<TangoCallRecord> ReadCalls(ref MessagePackReader reader)
    {
        var calls = ImmutableArray.CreateBuilder<TangoCallRecord>();
        for (var count = reader.ReadCount(); count > 0; count--)
        {
            reader.ReadCount();
            calls.Add(ReadCall(ref reader));
        }

        return calls.DrainToImmutable();
    }

    private static TangoCallRecord ReadCall(ref MessagePackReader reader)
    {
        var id = reader.ReadUInt64();
        var mutator = reader.ReadInt32();
        var keys = reader.TryReadNil() ? (ImmutableArray<byte[]>?)null
            : reader.NextMessagePackType == MessagePackType.Array ? ReadKeys(ref reader)
            : [reader.ReadBinary().ToArray()];
        var arguments = reader.ReadBinary();
        // A copy: a slice would keep the whole entry.
        return new TangoCallRecord(
            id, mutator, keys, arguments.Length <= LongestArguments ? arguments.ToArray() : default, arguments.Length);
    }

    private static RecordPlace ReadPlace(ref MessagePackReader reader) => new(reader.ReadInt64(), reader.ReadInt32());

    private static AbortPart? ReadAborted(ref MessagePackReader reader)
    {
        if (reader.TryReadNil()) return null;
        reader.ReadCount();
        return new AbortPart(
            reader.ReadInt32(), reader.ReadUInt64(), reader.TryReadNil() ? null : reader.ReadBinary().ToArray(),
            ReadPlace(ref reader));
    }
}
