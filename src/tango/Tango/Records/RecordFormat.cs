using System.Buffers;
using Corfu;
using Tango.Formatting;

namespace Tango.Records;

/// <summary>Writes records and reads their parts; docs/formats/tango.md gives the bytes.</summary>
internal static class RecordFormat
{
    public const int UpdateLength = 5;

    /// <summary>Upper bound of an update's bytes besides its key and arguments: array, kind, object, mutator, a binary
    /// header.</summary>
    public const int MaxUpdateHeader = 1 + 1 + 9 + 5 + 5;

    public const int CommitLength = 6;
    public const int DecisionLength = 4;
    public const int SpillLength = 2;

    /// <summary>Kinds from here on are kept for records without effect on state and versions: code that does not know
    /// one passes over it (R23).</summary>
    public const RecordKind FirstWithoutEffect = (RecordKind)128;

    public static void WriteUpdate(ref MessagePackWriter writer, ObjectId id, int mutator, ObjectKey key,
        ReadOnlySpan<byte> arguments)
    {
        writer.WriteArrayHeader(UpdateLength);
        writer.Write((int)RecordKind.Update);
        WriteCall(ref writer, id, mutator, key, arguments);
    }

    /// <summary>The four elements that updates and the writes of a commit record have in common.</summary>
    public static void WriteCall(ref MessagePackWriter writer, ObjectId id, int mutator, ObjectKey key,
        ReadOnlySpan<byte> arguments)
    {
        writer.Write(id.Value);
        writer.Write(mutator);
        WriteKey(ref writer, key);
        writer.Write(arguments);
    }

    public static void WriteKey(ref MessagePackWriter writer, ObjectKey key)
    {
        if (key.IsNone)
        {
            writer.WriteNil();
        }
        else if (key.IsList)
        {
            writer.WriteArrayHeader(key.Parts.Length);
            foreach (var part in key.Parts) writer.Write(part.Bytes);
        }
        else
        {
            writer.Write(key.Bytes);
        }
    }

    /// <summary>Upper bound of a key's bytes, with its header and those of its parts.</summary>
    public static int MaxKeyLength(ObjectKey key)
    {
        const int header = 5;
        var length = header + key.Bytes.Length;
        foreach (var part in key.Parts) length += header + part.Bytes.Length;
        return length;
    }

    public static CallRecord ReadCall(ref MessagePackReader reader) => new()
    {
        Object = new ObjectId(reader.ReadUInt64()),
        Mutator = reader.ReadInt32(),
        HasKey = !reader.TryReadNil(),
    };

    /// <summary>A position that an entry can have: there is one behind it.</summary>
    public static LogPosition ReadPosition(ref MessagePackReader reader)
    {
        var offset = reader.ReadInt64();
        return offset is >= 0 and < long.MaxValue
            ? new LogPosition(offset)
            : throw new TangoFormatException($"There is no position {offset}");
    }

    public static void WriteVersion(ref MessagePackWriter writer, RecordVersion version)
    {
        writer.Write(version.Position.Offset);
        writer.Write(version.Index);
    }

    public static RecordVersion ReadVersion(ref MessagePackReader reader) =>
        new(ReadPosition(ref reader), reader.ReadInt32());
}

/// <summary>A mutator call as it stands in the log. Keys and arguments point into the entry.</summary>
internal ref struct CallRecord
{
    private const int FewestInList = 2;

    public ObjectId Object { get; init; }

    public int Mutator { get; init; }

    /// <summary>False: the call concerns the whole object.</summary>
    public bool HasKey { get; init; }

    /// <summary>Empty for a call with several keys.</summary>
    public ReadOnlyMemory<byte> Key { get; private set; }

    /// <summary>Several keys, as one MessagePack array; empty for a call with one or none.</summary>
    public ReadOnlyMemory<byte> KeyList { get; private set; }

    public ReadOnlyMemory<byte> Arguments { get; private set; }

    public static CallRecord Read(ref MessagePackReader reader)
    {
        var call = RecordFormat.ReadCall(ref reader);
        if (call.HasKey && reader.NextMessagePackType == MessagePackType.Array) call.KeyList = ReadKeyList(ref reader);
        else if (call.HasKey) call.Key = reader.ReadBinary();
        call.Arguments = reader.ReadBinary();
        return call;
    }

    // All of it is read here: a record takes effect as a whole or not at all.
    private static ReadOnlyMemory<byte> ReadKeyList(ref MessagePackReader reader)
    {
        var start = reader;
        var keys = reader.ReadCount();
        if (keys < FewestInList)
            throw new TangoFormatException(FormatError.OutOfRange, $"A list has {keys} keys", reader.Consumed);
        for (; keys > 0; keys--) reader.ReadBinary();
        var raw = start.Sequence.Slice(start.Position, reader.Position);
        return raw.IsSingleSegment ? raw.First : raw.ToArray();
    }
}
