using System.Collections.Immutable;
using Corfu;
using Tango.Formatting;

namespace Tango.Records;

/// <summary>
/// R19. A spill: <c>[4, [[object, mutator, key | nil, arguments], ...]]</c>, speculative writes without effect of their
/// own. A commit record lists its spills as <c>[[position, index, [object, ...]], ...]</c>.
/// </summary>
internal static class SpillFormat
{
    /// <summary>All spills stand in one stream, which is not played: an entry in no stream would count as a raw
    /// one.</summary>
    public static readonly StreamId Stream = new(2);

    /// <summary>Upper bound of a spill's bytes around its writes.</summary>
    private const int MaxOverhead = 1 + 1 + 5;

    private const int ReferenceLength = 3;

    /// <summary>Distributes the writes, in order, over as few spills as their order allows.</summary>
    /// <param name="limit">Most bytes of one spill.</param>
    /// <exception cref="TangoTooLargeException">A single write is larger than that.</exception>
    public static List<(ReadOnlyMemory<byte> Record, ImmutableArray<ObjectId> Objects)> Encode(
        List<TxWrite> writes, long limit)
    {
        var spills = new List<(ReadOnlyMemory<byte>, ImmutableArray<ObjectId>)>();
        var batch = new List<ReadOnlyMemory<byte>>();
        var objects = new SortedSet<ObjectId>();
        long size = MaxOverhead;
        foreach (var write in writes)
        {
            var encoded = CommitFormat.EncodeWrite(write);
            if (MaxOverhead + encoded.Length > limit)
                throw new TangoTooLargeException(MaxOverhead + encoded.Length, limit);
            if (size + encoded.Length > limit) Flush();
            batch.Add(encoded);
            objects.Add(write.Object.Id);
            size += encoded.Length;
        }

        Flush();
        return spills;

        void Flush()
        {
            spills.Add((EncodeSpill(batch), [.. objects]));
            batch.Clear();
            objects.Clear();
            size = MaxOverhead;
        }
    }

    public static void WriteReferences(ref MessagePackWriter writer, SpillList spills)
    {
        writer.WriteArrayHeader(spills.References.Length);
        foreach (var spill in spills.References)
        {
            writer.WriteArrayHeader(ReferenceLength);
            writer.Write(spill.Version.Position.Offset);
            writer.Write(spill.Version.Index);
            writer.WriteArrayHeader(spill.Objects.Length);
            foreach (var id in spill.Objects) writer.Write(id.Value);
        }
    }

    public static SpillList ReadReferences(ref MessagePackReader reader)
    {
        var count = reader.ReadCount();
        if (count == 0) return SpillList.Empty;
        var references = ImmutableArray.CreateBuilder<SpillReference>();
        for (; count > 0; count--)
        {
            reader.ReadArrayHeader(ReferenceLength);
            var version = new RecordVersion(RecordFormat.ReadPosition(ref reader), reader.ReadInt32());
            var objects = ImmutableArray.CreateBuilder<ObjectId>();
            for (var left = reader.ReadCount(); left > 0; left--) objects.Add(new ObjectId(reader.ReadUInt64()));
            references.Add(new SpillReference(version, objects.ToImmutable()));
        }

        return new SpillList(references.ToImmutable());
    }

    /// <summary>The array of writes within the entry's record of that index.</summary>
    /// <exception cref="TangoFormatException">The record is no spill.</exception>
    public static ReadOnlyMemory<byte> ReadWrites(LogEntry entry, int index)
    {
        var reader = new MessagePackReader(entry.Payload);
        var records = EntryFormat.ReadHeader(ref reader).Records;
        if (index < 0 || index >= records)
            throw new TangoFormatException($"Entry {entry.Position} has {records} records, none with index {index}");
        for (; index > 0; index--) reader.SkipValue();
        var elements = reader.ReadCount();
        var kind = reader.ReadInt32();
        if (elements != RecordFormat.SpillLength || kind != (int)RecordKind.Spill)
            throw new TangoFormatException($"A commit record names {entry.Position} as a spill, which it is not");
        var start = (int)reader.Consumed;
        // All of it: a commit record takes effect as a whole or not at all.
        for (var writes = reader.ReadCount(); writes > 0; writes--)
        {
            reader.ReadArrayHeader(CommitFormat.WriteLength);
            CallRecord.Read(ref reader);
        }

        return entry.Payload[start..(int)reader.Consumed];
    }

    private static ReadOnlyMemory<byte> EncodeSpill(List<ReadOnlyMemory<byte>> writes)
    {
        var buffer = new ArgumentBuffer();
        var writer = new MessagePackWriter(buffer);
        writer.WriteArrayHeader(RecordFormat.SpillLength);
        writer.Write((int)RecordKind.Spill);
        writer.WriteArrayHeader(writes.Count);
        foreach (var write in writes) writer.WriteRaw(write.Span);
        writer.Flush();
        return buffer.WrittenMemory;
    }
}

/// <summary>R19: where the writes of a transaction above one entry stand, in their order.</summary>
internal sealed record SpillList(ImmutableArray<SpillReference> References)
{
    public static SpillList Empty { get; } = new([]);

    public bool IsEmpty => References.IsEmpty;

    /// <summary>
    /// R19: forgotten history ends MaxSpan below a checkpoint: a record further than that from its first spill
    /// may find it trimmed. It aborts, at every runtime alike: the positions alone decide.
    /// </summary>
    /// <returns>Null: the spills are near enough.</returns>
    public TxOutcome.Aborted? AbortAt(RecordVersion commit, long maxSpan)
    {
        if (References.IsEmpty) return null;
        var first = References.MinBy(static spill => spill.Version)!;
        if (commit.Position.Offset - first.Version.Position.Offset <= maxSpan) return null;
        var id = first.Objects.FirstOrDefault();
        return new TxOutcome.Aborted(AbortReason.SpilledTooEarly, id, id.ToString(), ObjectKey.None, first.Version);
    }
}

/// <param name="Objects">Objects that the writes concern: other hosts need not fetch the spill.</param>
internal sealed record SpillReference(RecordVersion Version, ImmutableArray<ObjectId> Objects);
