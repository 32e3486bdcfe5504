using Tango.Formatting;

namespace Tango.Records;

/// <summary>
/// The payload of a Tango entry: <c>[2, runtime, sequence, [record, ...]]</c>. Runtime and sequence let the writer
/// recognise its own entries while it plays them, before it has heard of its append.
/// </summary>
internal static class EntryFormat
{
    public const int Version = 2;

    // No entry of it is read: other forms of the same records, so that a guess would be a wrong state.
    private const int VersionBeforeRelease = 1;

    /// <summary>Upper bound of the bytes before the first record.</summary>
    public const int MaxHeaderSize = 1 + 1 + 9 + 9 + 5;

    public static void WriteHeader(ref MessagePackWriter writer, ulong runtime, long sequence, int records)
    {
        writer.WriteArrayHeader(4);
        writer.Write(Version);
        writer.Write(runtime);
        writer.Write(sequence);
        writer.WriteArrayHeader(records);
    }

    /// <summary>Whether some version of Tango wrote it: all begin with an array that begins with their number. Anything
    /// else has no effect on versions, in newer code neither.</summary>
    public static bool IsTango(ReadOnlyMemory<byte> payload)
    {
        var reader = new MessagePackReader(payload);
        try
        {
            return reader.ReadCount() > 0 && reader.ReadInt32() > 0;
        }
        catch (Exception e) when (StrictMessagePack.IsDamage(e))
        {
            return false;
        }
    }

    /// <exception cref="TangoFormatException">Not a Tango entry, or a newer format.</exception>
    /// <exception cref="TangoLevelException">From before the first release. The directory is opened before any other
    /// object, so that a log of that time ends here.</exception>
    public static EntryHeader ReadHeader(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(4);
        var version = reader.ReadInt32();
        if (version == VersionBeforeRelease) throw TangoLevelException.TooOld();
        if (version != Version) throw new TangoFormatException($"Tango entry format {version} is not known here");
        return new EntryHeader(reader.ReadUInt64(), reader.ReadInt64(), reader.ReadCount());
    }
}

internal readonly record struct EntryHeader(ulong Runtime, long Sequence, int Records);
