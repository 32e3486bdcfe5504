using System.Buffers;
using Corfu.Simulation.Cluster;
using Tango;
using Tango.Checkpoints;
using Tango.Formatting;
using Tango.Records;

namespace Corfu.Simulation.Workload.Objects;

/// <summary>Reads the entries of objects, from their bytes alone.</summary>
internal static class LoggedWrites
{
    /// <summary>Entries of checkpoints hold values too, which are no writes.</summary>
    public static bool IsOfCheckpoint(LogEntry entry) =>
        entry.Streams.Any(static header => header.Stream.Value >= ObjectId.EndOfUser && !header.Stream.IsRaw);

    /// <summary>Notes where the values of updates and commit records stand, from the bytes of an entry alone. Entries
    /// come in log order.</summary>
    public static void Locate(TxHistory history, LogEntry entry, ClusterMonitor monitor)
    {
        long position = entry.Position.Offset;
        if (!history.Located.Add(position)) return;
        NoteFacts(history.Facts, entry.Payload, [.. entry.Streams.Select(static header => header.Stream)], position);
        if (IsOfCheckpoint(entry)) return;
        int order = 0;
        var reader = new MessagePackReader(entry.Payload);
        reader.ReadArrayHeader();
        for (int i = 0; i < 3; i++) reader.SkipValue();
        for (int left = reader.ReadArrayHeader(), index = 0; left > 0; left--, index++)
        {
            var record = new MessagePackReader(reader.ReadRaw());
            MessagePackReader whole = record;
            int elements = record.ReadArrayHeader();
            var kind = (RecordKind)record.ReadInt32();
            if (kind == RecordKind.Spill)
            {
                history.Spilled.Add((position, index), [.. WrittenValue.NumbersIn(whole.ReadRaw().ToArray())]);
                monitor.Mark("transaction spilled");
                continue;
            }

            if (kind == RecordKind.Commit)
            {
                if (((CommitFlags)record.ReadInt32()).HasFlag(CommitFlags.Decided))
                {
                    MessagePackReader decided = whole;
                    history.Decided.UnionWith(WrittenValue.NumbersIn(decided.ReadRaw().ToArray()));
                    monitor.Mark("transaction decided by the sequencer");
                }

                for (int i = 3; i < elements; i++) record.SkipValue();
                List<long> values = SpilledValues(history, ref record, out long first);
                if (position - first > history.MaxSpan) history.SpilledTooEarly.UnionWith(values);
                values.ForEach(Place);
            }
            else if (kind == RecordKind.Update && IsDeletion(ref record, out ulong cohort))
            {
                history.Delete(cohort, position, order++);
            }

            foreach (long value in WrittenValue.NumbersIn(whole.ReadRaw().ToArray())) Place(value);
        }

        void Place(long value)
        {
            if (history.Places.TryAdd(value, (position, order++))) return;
            monitor.Found(CheckerNames.ExactlyOnce,
                $"the write of {value} stands at {history.Places[value].Position} and again at {position}");
        }
    }

    /// <summary>Notes what an object's entry says about history, whether its writes are noted or not.</summary>
    public static void NoteFacts(HistoryFacts facts, ReadOnlyMemory<byte> payload, StreamId[] streams, long position)
    {
        foreach (StreamId stream in streams)
        {
            ulong id = stream.Value;
            if (stream.IsRaw) return;
            if (id >= ObjectId.EndOfUser)
            {
                facts.PartOfCheckpoint(position);
                if (CheckpointFormat.TryDecodeFinal(payload) is { } final)
                    facts.Checkpoint(id - ObjectId.EndOfUser, final.End.Offset,
                        [.. final.Positions.Select(static part => part.Offset)]);
                return;
            }

            if (id == ObjectId.Directory.Value || id >= ObjectId.FirstUser.Value) facts.Entry(id, position);
        }

        var reader = new MessagePackReader(payload);
        int records = EntryFormat.ReadHeader(ref reader).Records;
        for (int index = 0; index < records; index++)
        {
            var record = new MessagePackReader(reader.ReadRaw());
            record.ReadArrayHeader();
            var kind = (RecordKind)record.ReadInt32();
            if (kind == RecordKind.Decision)
            {
                RecordVersion commit = DecisionFormat.Read(ref record).Commit;
                facts.Decision((commit.Position.Offset, commit.Index), position);
            }
            else if (kind == RecordKind.Update)
            {
                CallRecord update = CallRecord.Read(ref record);
                if (TangoDirectory.IsDeletion(update, out ObjectId cohort)) facts.Deleted.Add(cohort.Value);
            }
            else if (kind == RecordKind.Commit && ((CommitFlags)record.ReadInt32()).HasFlag(CommitFlags.NeedsDecision))
            {
                record.SkipValue();
                facts.Commits[(position, index)] =
                    [.. CommitFormat.ReadParticipants(record).ReadSet.Select(static id => id.Value)];
            }
        }
    }

    public static bool HoldsDecision(ReadOnlyMemory<byte> payload)
    {
        var reader = new MessagePackReader(payload);
        for (int left = EntryFormat.ReadHeader(ref reader).Records; left > 0; left--)
        {
            var record = new MessagePackReader(reader.ReadRaw());
            record.ReadArrayHeader();
            if ((RecordKind)record.ReadInt32() == RecordKind.Decision) return true;
        }

        return false;
    }

    private static bool IsDeletion(ref MessagePackReader update, out ulong cohort)
    {
        bool isDeletion = TangoDirectory.IsDeletion(CallRecord.Read(ref update), out ObjectId id);
        cohort = id.Value;
        return isDeletion;
    }

    /// <param name="reader">At a commit record's list of spills.</param>
    /// <param name="first">The lowest spill's position, or the highest there is.</param>
    private static List<long> SpilledValues(TxHistory history, ref MessagePackReader reader, out long first)
    {
        first = long.MaxValue;
        List<long> values = [];
        for (int left = reader.ReadArrayHeader(); left > 0; left--)
        {
            reader.ReadArrayHeader();
            long position = reader.ReadInt64();
            int index = reader.ReadInt32();
            reader.SkipValue();
            first = Math.Min(first, position);
            values.AddRange(history.Spilled[(position, index)]);
        }

        return values;
    }
}
