using System.Collections.Immutable;
using Corfu;
using Tango.Formatting;
using Tango.Records;

namespace Tango;

/// <summary>The arguments of the directory's mutators about the trim point, and the claims in its state;
/// docs/formats/tango.md gives the bytes.</summary>
internal static class ClaimFormat
{
    public const int CheckpointedLength = 4;

    private const int StateLength = 7;
    private const int CohortLength = 4;
    private const int HoldLength = 4;
    private const int StreamLength = 3;
    private const int DeletedLength = 4;

    public static ArgumentBuffer Checkpointed(
        ObjectId cohort, LogPosition end, LogPosition forget, LogPosition? lowest = null)
    {
        var buffer = new ArgumentBuffer();
        var writer = new MessagePackWriter(buffer);
        writer.WriteArrayHeader(CheckpointedLength);
        writer.Write(cohort.Value);
        writer.Write(end.Offset);
        writer.Write(forget.Offset);
        WriteOptional(ref writer, lowest);
        writer.Flush();
        return buffer;
    }

    public static ArgumentBuffer Release(LogPosition asked)
    {
        var buffer = new ArgumentBuffer();
        var writer = new MessagePackWriter(buffer);
        writer.WriteArrayHeader(1);
        writer.Write(asked.Offset);
        writer.Flush();
        return buffer;
    }

    public static ArgumentBuffer Hold(string name, LogPosition position, TimeSpan lease)
    {
        var buffer = new ArgumentBuffer();
        var writer = new MessagePackWriter(buffer);
        writer.WriteArrayHeader(3);
        writer.WriteText(name);
        writer.Write(position.Offset);
        WriteDuration(ref writer, lease);
        writer.Flush();
        return buffer;
    }

    public static ArgumentBuffer Expire(string name, long version)
    {
        var buffer = new ArgumentBuffer();
        var writer = new MessagePackWriter(buffer);
        writer.WriteArrayHeader(2);
        writer.WriteText(name);
        writer.Write(version);
        writer.Flush();
        return buffer;
    }

    public static ArgumentBuffer Delete(ObjectId id)
    {
        var buffer = new ArgumentBuffer();
        var writer = new MessagePackWriter(buffer);
        writer.WriteArrayHeader(1);
        writer.Write(id.Value);
        writer.Flush();
        return buffer;
    }

    public static ArgumentBuffer Retain(Retention retention)
    {
        var buffer = new ArgumentBuffer();
        var writer = new MessagePackWriter(buffer);
        WriteRetention(ref writer, retention);
        writer.Flush();
        return buffer;
    }

    public static ArgumentBuffer Declare(StreamId stream, StreamClaim claim)
    {
        var buffer = new ArgumentBuffer();
        var writer = new MessagePackWriter(buffer);
        WriteStream(ref writer, stream, claim);
        writer.Flush();
        return buffer;
    }

    public static Retention ReadRetention(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(2);
        long? positions = reader.TryReadNil() ? null : reader.ReadInt64();
        TimeSpan? time = reader.TryReadNil() ? null : ReadDuration(ref reader);
        return new Retention(positions, time);
    }

    public static (StreamId Stream, StreamClaim Claim) ReadStream(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(StreamLength);
        var stream = new StreamId(reader.ReadUInt64());
        var name = reader.ReadText();
        return (stream, new StreamClaim(name, ReadOptional(ref reader)));
    }

    public static TimeSpan ReadDuration(ref MessagePackReader reader)
    {
        var milliseconds = reader.ReadInt64();
        return milliseconds is >= 0 and <= uint.MaxValue * 1000L
            ? TimeSpan.FromMilliseconds(milliseconds)
            : throw new TangoFormatException($"{milliseconds} ms are no duration");
    }

    public static void WriteState(ref MessagePackWriter writer, TrimClaims claims)
    {
        writer.WriteArrayHeader(StateLength);
        writer.Write(claims.Released.Offset);
        writer.WriteArrayHeader(claims.Cohorts.Count);
        foreach (var (id, cohort) in claims.Cohorts)
        {
            writer.WriteArrayHeader(CohortLength);
            writer.Write(id.Value);
            writer.Write(cohort.Forget.Offset);
            WriteOptional(ref writer, cohort.Checkpoint);
            WriteOptional(ref writer, cohort.Lowest);
        }

        writer.WriteArrayHeader(claims.Holds.Count);
        foreach (var (name, hold) in claims.Holds)
        {
            writer.WriteArrayHeader(HoldLength);
            writer.WriteText(name);
            writer.Write(hold.Position.Offset);
            writer.Write(hold.Version);
            WriteDuration(ref writer, hold.Lease);
        }

        writer.WriteArrayHeader(claims.Streams.Count);
        foreach (var (stream, claim) in claims.Streams) WriteStream(ref writer, stream, claim);
        WriteRetention(ref writer, claims.Retention);
        writer.Write(claims.NextVersion);
        writer.WriteArrayHeader(claims.Deleted.Count);
        foreach (var (id, deleted) in claims.Deleted)
        {
            writer.WriteArrayHeader(DeletedLength);
            writer.Write(id.Value);
            writer.Write(deleted.Forget.Offset);
            writer.Write(deleted.At.Offset);
            DirectoryFormat.WriteEntries(ref writer, deleted.Members);
        }
    }

    public static TrimClaims ReadState(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(StateLength);
        var released = RecordFormat.ReadPosition(ref reader);
        var cohorts = TrimClaims.None.Cohorts.ToBuilder();
        for (var count = reader.ReadCount(); count > 0; count--)
        {
            reader.ReadArrayHeader(CohortLength);
            var id = new ObjectId(reader.ReadUInt64());
            cohorts.Add(id, new CohortClaim(
                RecordFormat.ReadPosition(ref reader), ReadOptional(ref reader), ReadOptional(ref reader)));
        }

        var holds = TrimClaims.None.Holds.ToBuilder();
        for (var count = reader.ReadCount(); count > 0; count--)
        {
            reader.ReadArrayHeader(HoldLength);
            var name = DirectoryFormat.ReadText(ref reader);
            var position = RecordFormat.ReadPosition(ref reader);
            holds.Add(name, new HoldClaim(position, reader.ReadInt64(), ReadDuration(ref reader)));
        }

        var streams = TrimClaims.None.Streams.ToBuilder();
        for (var count = reader.ReadCount(); count > 0; count--)
        {
            var (stream, claim) = ReadStream(ref reader);
            streams.Add(stream, claim);
        }

        var (retention, next) = (ReadRetention(ref reader), reader.ReadInt64());
        var deleted = TrimClaims.None.Deleted.ToBuilder();
        for (var count = reader.ReadCount(); count > 0; count--)
        {
            reader.ReadArrayHeader(DeletedLength);
            var id = new ObjectId(reader.ReadUInt64());
            var forget = RecordFormat.ReadPosition(ref reader);
            var at = RecordFormat.ReadPosition(ref reader);
            deleted.Add(id, new DeletedCohort(forget, at, DirectoryFormat.ReadEntries(ref reader)));
        }

        return new TrimClaims
        {
            Released = released,
            Cohorts = cohorts.ToImmutable(),
            Holds = holds.ToImmutable(),
            Streams = streams.ToImmutable(),
            Retention = retention,
            NextVersion = next,
            Deleted = deleted.ToImmutable(),
        };
    }

    private static void WriteRetention(ref MessagePackWriter writer, Retention retention)
    {
        writer.WriteArrayHeader(2);
        if (retention.Positions is { } positions) writer.Write(positions);
        else writer.WriteNil();
        if (retention.Time is { } time) WriteDuration(ref writer, time);
        else writer.WriteNil();
    }

    private static void WriteStream(ref MessagePackWriter writer, StreamId stream, StreamClaim claim)
    {
        writer.WriteArrayHeader(StreamLength);
        writer.Write(stream.Value);
        writer.WriteText(claim.Name);
        WriteOptional(ref writer, claim.RetainFrom);
    }

    public static void WriteOptional(ref MessagePackWriter writer, LogPosition? position)
    {
        if (position is { } known) writer.Write(known.Offset);
        else writer.WriteNil();
    }

    public static LogPosition? ReadOptional(ref MessagePackReader reader) =>
        reader.TryReadNil() ? null : RecordFormat.ReadPosition(ref reader);

    public static void WriteDuration(ref MessagePackWriter writer, TimeSpan time) =>
        writer.Write((long)time.TotalMilliseconds);
}
