using System.Collections.Immutable;
using Corfu;
using Tango.Formatting;

namespace Tango.Records;

/// <summary>
/// A commit record: <c>[2, flags, snapshot end, [[object, nil | [key, ...]], ...], [[object, mutator, key | nil,
/// arguments], ...], spills]</c>.
/// </summary>
internal static class CommitFormat
{
    public const int ReadLength = 2;
    public const int WriteLength = 4;

    public static ReadOnlyMemory<byte> Encode(CommitFlags flags, LogPosition snapshotEnd,
        IReadOnlyCollection<TxRead> reads, List<TxWrite> writes, SpillList spills)
    {
        var buffer = new ArgumentBuffer();
        var writer = new MessagePackWriter(buffer);
        writer.WriteArrayHeader(RecordFormat.CommitLength);
        writer.Write((int)RecordKind.Commit);
        writer.Write((int)flags);
        writer.Write(snapshotEnd.Offset);
        writer.WriteArrayHeader(reads.Count);
        foreach (var read in reads) WriteRead(ref writer, read);
        writer.WriteArrayHeader(writes.Count);
        foreach (var write in writes) WriteWrite(ref writer, write);
        SpillFormat.WriteReferences(ref writer, spills);
        writer.Flush();
        return buffer.WrittenMemory;
    }

    /// <summary>A write as it stands in a commit record and in a spill.</summary>
    public static ReadOnlyMemory<byte> EncodeWrite(TxWrite write)
    {
        var buffer = new ArgumentBuffer();
        var writer = new MessagePackWriter(buffer);
        WriteWrite(ref writer, write);
        writer.Flush();
        return buffer.WrittenMemory;
    }

    /// <summary>The objects read, and the streams of all that are read or written.</summary>
    /// <param name="reader">Stands at the reads; taken by value, so that the caller's stays there.</param>
    public static Participants ReadParticipants(MessagePackReader reader)
    {
        var readSet = new List<ObjectId>();
        for (var reads = reader.ReadCount(); reads > 0; reads--)
        {
            reader.ReadArrayHeader(ReadLength);
            readSet.Add(new ObjectId(reader.ReadUInt64()));
            reader.SkipValue();
        }

        var streams = new SortedSet<StreamId>(readSet.Select(static id => id.Stream));
        for (var writes = reader.ReadCount(); writes > 0; writes--)
        {
            reader.ReadArrayHeader(WriteLength);
            streams.Add(CallRecord.Read(ref reader).Object.Stream);
        }

        foreach (var spill in SpillFormat.ReadReferences(ref reader).References)
            streams.UnionWith(spill.Objects.Select(static id => id.Stream));
        return new Participants(readSet, [.. streams]);
    }

    private static void WriteWrite(ref MessagePackWriter writer, TxWrite write)
    {
        writer.WriteArrayHeader(WriteLength);
        RecordFormat.WriteCall(ref writer, write.Object.Id, write.Mutator.Number, write.Key, write.Arguments.Span);
    }

    private static void WriteRead(ref MessagePackWriter writer, TxRead read)
    {
        writer.WriteArrayHeader(ReadLength);
        writer.Write(read.Object.Value);
        if (read.Keys is not { } keys)
        {
            writer.WriteNil();
            return;
        }

        writer.WriteArrayHeader(keys.Count);
        foreach (var key in keys) writer.Write(key.Bytes);
    }
}

/// <summary>Objects that a commit record concerns.</summary>
/// <param name="Streams">Streams of all objects that are read or written.</param>
internal sealed record Participants(List<ObjectId> ReadSet, ImmutableArray<StreamId> Streams);

/// <summary>Bits of a commit record; an unknown one makes it unreadable.</summary>
[Flags]
internal enum CommitFlags
{
    None = 0,

    /// <summary>R20: objects of more than one group, so that a decision record follows.</summary>
    NeedsDecision = 1,

    /// <summary>The sequencer has decided it as it granted the position: it commits wherever it is played (R29). Not
    /// with <see cref="NeedsDecision"/>, and without spills. Its snapshot end is the tail that was sent.</summary>
    Decided = 2,
}

/// <summary>The part of one object that a transaction has read.</summary>
/// <param name="Keys">Null: the whole object.</param>
internal readonly record struct TxRead(ObjectId Object, IReadOnlyList<ObjectKey>? Keys);
