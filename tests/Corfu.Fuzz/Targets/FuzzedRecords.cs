using Tango;
using Tango.Formatting;
using Tango.Records;

namespace Corfu.Fuzz;

/// <summary>A batch of records, read part by part as playback reads them. What is accepted means the same when it is
/// written again.</summary>
internal static class FuzzedRecords
{
    public static void Feed(byte[] payload)
    {
        var reader = new MessagePackReader(payload);
        var header = EntryFormat.ReadHeader(ref reader);
        for (var i = 0; i < header.Records; i++)
        {
            var start = (int)reader.Consumed;
            var elements = reader.ReadCount();
            var kind = elements > 0 ? (RecordKind)reader.ReadInt32() : 0;
            switch (kind)
            {
                case RecordKind.Update when elements == RecordFormat.UpdateLength:
                    var call = CallRecord.Read(ref reader);
                    Same(Update(call), payload.AsSpan(start, (int)reader.Consumed - start));
                    break;
                case RecordKind.Commit when elements == RecordFormat.CommitLength:
                    FeedCommit(ref reader);
                    break;
                case RecordKind.Decision when elements == RecordFormat.DecisionLength:
                    var decision = DecisionFormat.Read(ref reader);
                    var written = DecisionFormat.Encode(decision.Commit, decision.Aborted);
                    Same(written.Span, payload.AsSpan(start, (int)reader.Consumed - start));
                    break;
                case RecordKind.Spill when elements == RecordFormat.SpillLength:
                    _ = SpillFormat.ReadWrites(Entry(payload), i);
                    reader.SkipValue();
                    break;
                default:
                    throw new TangoFormatException($"Kind {(int)kind} with {elements} elements");
            }
        }
    }

    private static void FeedCommit(ref MessagePackReader reader)
    {
        reader.ReadInt32();
        RecordFormat.ReadPosition(ref reader);
        var (readSet, streams) = CommitFormat.ReadParticipants(reader);
        if (readSet.Exists(id => !streams.Contains(id.Stream)))
            throw new InvalidOperationException("A read object is no participant");
        reader.SkipValue();
        reader.SkipValue();
        var spills = SpillFormat.ReadReferences(ref reader);
        var buffer = new ArgumentBuffer();
        var writer = new MessagePackWriter(buffer);
        SpillFormat.WriteReferences(ref writer, spills);
        writer.Flush();
        var again = new MessagePackReader(buffer.WrittenMemory);
        var read = SpillFormat.ReadReferences(ref again);
        if (spills.AbortAt(new RecordVersion(new LogPosition(1 << 20), 0), 1000)
            != read.AbortAt(new RecordVersion(new LogPosition(1 << 20), 0), 1000)
            || read.References.Length != spills.References.Length)
            throw new InvalidOperationException("A list of spills means another thing when it is written again");
    }

    private static ReadOnlySpan<byte> Update(scoped in CallRecord call)
    {
        var buffer = new ArgumentBuffer();
        var writer = new MessagePackWriter(buffer);
        RecordFormat.WriteUpdate(ref writer, call.Object, call.Mutator, KeyOf(call), call.Arguments.Span);
        writer.Flush();
        return buffer.WrittenSpan;
    }

    private static ObjectKey KeyOf(scoped in CallRecord call)
    {
        if (call.KeyList.IsEmpty) return call.HasKey ? new ObjectKey(call.Key.Span) : ObjectKey.None;
        var keys = new List<ObjectKey>();
        var reader = new MessagePackReader(call.KeyList);
        for (var left = reader.ReadCount(); left > 0; left--) keys.Add(new ObjectKey(reader.ReadBinary().Span));
        // Equal keys are written once.
        var distinct = keys.Distinct().Count();
        return distinct == keys.Count
            ? ObjectKey.List([.. keys])
            : throw new TangoFormatException("A key stands twice");
    }

    // Numbers and lengths may be written in more than one width; the tool's reading knows nothing of the types here.
    private static void Same(ReadOnlySpan<byte> expected, ReadOnlySpan<byte> found)
    {
        if (!expected.SequenceEqual(found) && Summary(expected) != Summary(found))
            throw new InvalidOperationException("A record means another thing when it is written again");
    }

    private static string Summary(ReadOnlySpan<byte> record)
    {
        var buffer = new ArgumentBuffer();
        var writer = new MessagePackWriter(buffer);
        EntryFormat.WriteHeader(ref writer, 1, 1, 1);
        writer.WriteRaw(record);
        writer.Flush();
        return string.Join('\n', Cli.TangoRecords.Read(buffer.WrittenMemory).Select(Cli.TangoRecords.ToLine));
    }

    private static LogEntry Entry(byte[] payload) =>
        new(LogPosition.Zero, default, EntryKind.Data, default, [], payload);
}
