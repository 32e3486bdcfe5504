using Corfu;
using Tango.Formatting;
using Tango.Records;

namespace Tango.Tests;

/// <summary>Entries written by hand, as clients that are no more or have other code leave them.</summary>
internal static class RawRecords
{
    // By value: the delegate flushes its copy, which continues the header's bytes.
    public delegate void WriteRecord(MessagePackWriter writer);

    /// <summary>A commit record: it read x of one object and sets x of another to 7.</summary>
    public static void WriteOrphan(
        ref MessagePackWriter writer, long snapshotEnd, int read, int written, int spills = 0) =>
        WriteOrphan(ref writer, snapshotEnd, [read], written, spills);

    /// <summary>Writes the commit record of an orphan, which read x of some objects.</summary>
    public static void WriteOrphan(
        ref MessagePackWriter writer, long snapshotEnd, int[] reads, int written, int spills = 0)
    {
        var key = new ArgumentBuffer();
        Wire.WriteString(key, "x");
        var arguments = new ArgumentBuffer();
        Wire.WriteInt64(arguments, 7);
        writer.WriteArrayHeader(6);
        writer.Write(2);
        writer.Write(1);
        writer.Write(snapshotEnd);
        writer.WriteArrayHeader(reads.Length);
        foreach (var read in reads)
        {
            writer.WriteArrayHeader(2);
            writer.Write(read);
            writer.WriteArrayHeader(1);
            writer.Write(key.WrittenSpan);
        }

        writer.WriteArrayHeader(1);
        writer.WriteArrayHeader(4);
        writer.Write(written);
        writer.Write(1);
        writer.Write(key.WrittenSpan);
        writer.Write(arguments.WrittenSpan);
        writer.WriteArrayHeader(spills);
        for (; spills > 0; spills--)
        {
            writer.WriteArrayHeader(3);
            writer.Write(0);
            writer.Write(0);
            writer.WriteArrayHeader(1);
            writer.Write(written);
        }
    }

    public static ReadOnlyMemory<byte> Entry(int records, WriteRecord record)
    {
        var buffer = new ArgumentBuffer();
        var writer = new MessagePackWriter(buffer);
        writer.WriteArrayHeader(4);
        writer.Write(EntryFormat.Version);
        writer.Write(12345);
        writer.Write(1);
        writer.WriteArrayHeader(records);
        record(writer);
        return buffer.WrittenMemory;
    }

    /// <summary>A call of the directory.</summary>
    public static async Task AppendToDirectoryAsync(World world, int mutator, ArgumentBuffer arguments)
    {
        var entry = new ArgumentBuffer();
        var writer = new MessagePackWriter(entry);
        EntryFormat.WriteHeader(ref writer, 1, 1, 1);
        RecordFormat.WriteUpdate(
            ref writer, ObjectId.Directory, mutator, ObjectKey.None, arguments.WrittenSpan);
        writer.Flush();
        var result = await world.Log.AppendToObjectsAsync(entry.WrittenMemory, [ObjectId.Directory.Stream]);
        Assert.Equal(AppendOutcome.Appended, result.Outcome);
    }
}
