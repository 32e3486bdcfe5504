using System.Collections.Immutable;
using Tango.Formatting;

namespace Tango;

/// <summary>The arguments of the directory's mutators; docs/formats-tango.md gives the bytes.</summary>
internal static class DirectoryFormat
{
    public const int StateLengthOfFirstLevel = 2;
    public const int StateLength = 5;

    private const int NewObjectLength = 3;
    private const int EntryLength = 5;

    public static ArgumentBuffer Create(string? group, ImmutableArray<TangoDirectory.NewObject> members)
    {
        var buffer = new ArgumentBuffer();
        var writer = new MessagePackWriter(buffer);
        writer.WriteArrayHeader(2);
        WriteMembers(ref writer, group, members);
        writer.Flush();
        return buffer;
    }

    public static ArgumentBuffer CreateFirst(
        int level, long maxSpan, string? group, ImmutableArray<TangoDirectory.NewObject> members)
    {
        var buffer = new ArgumentBuffer();
        var writer = new MessagePackWriter(buffer);
        writer.WriteArrayHeader(4);
        writer.Write(level);
        writer.Write(maxSpan);
        WriteMembers(ref writer, group, members);
        writer.Flush();
        return buffer;
    }

    public static ArgumentBuffer RaiseLevel(int level)
    {
        var buffer = new ArgumentBuffer();
        var writer = new MessagePackWriter(buffer);
        writer.WriteArrayHeader(1);
        writer.Write(level);
        writer.Flush();
        return buffer;
    }

    public static (string? Group, ImmutableArray<TangoDirectory.NewObject> Members) ReadMembers(
        ref MessagePackReader reader)
    {
        var group = reader.ReadText();
        var members = ImmutableArray.CreateBuilder<TangoDirectory.NewObject>();
        for (var count = reader.ReadCount(); count > 0; count--)
        {
            reader.ReadArrayHeader(NewObjectLength);
            members.Add(new TangoDirectory.NewObject(ReadText(ref reader), ReadText(ref reader), reader.ReadInt32()));
        }

        return (group, members.ToImmutable());
    }

    public static void WriteEntries(ref MessagePackWriter writer, IReadOnlyCollection<DirectoryEntry> entries)
    {
        writer.WriteArrayHeader(entries.Count);
        foreach (var entry in entries.OrderBy(static entry => entry.Id))
        {
            writer.WriteArrayHeader(EntryLength);
            writer.Write(entry.Id.Value);
            writer.WriteText(entry.Name);
            writer.WriteText(entry.TypeName);
            writer.WriteText(entry.Group);
            writer.Write(entry.VersionCapacity);
        }
    }

    public static ImmutableArray<DirectoryEntry> ReadEntries(ref MessagePackReader reader)
    {
        var entries = ImmutableArray.CreateBuilder<DirectoryEntry>();
        for (var count = reader.ReadCount(); count > 0; count--)
        {
            reader.ReadArrayHeader(EntryLength);
            var id = new ObjectId(reader.ReadUInt64());
            entries.Add(new DirectoryEntry(
                id, ReadText(ref reader), ReadText(ref reader), reader.ReadText(), reader.ReadInt32()));
        }

        return entries.ToImmutable();
    }

    public static string ReadText(ref MessagePackReader reader) =>
        reader.ReadText() ?? throw new TangoFormatException("A name in the directory is nil");

    private static void WriteMembers(
        ref MessagePackWriter writer, string? group, ImmutableArray<TangoDirectory.NewObject> members)
    {
        writer.WriteText(group);
        writer.WriteArrayHeader(members.Length);
        foreach (var member in members)
        {
            writer.WriteArrayHeader(NewObjectLength);
            writer.WriteText(member.Name);
            writer.WriteText(member.TypeName);
            writer.Write(member.VersionCapacity);
        }
    }
}
