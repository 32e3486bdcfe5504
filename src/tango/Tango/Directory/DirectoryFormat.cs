using System.Collections.Immutable;
using Tango.Formatting;
using Tango.Model;
using Tango.Records;

namespace Tango;

/// <summary>The arguments of the directory's mutators; docs/formats/tango.md gives the bytes.</summary>
internal static class DirectoryFormat
{
    public const int StateLength = 7;

    private const int CreateLength = 5;
    private const int NewObjectLength = 3;
    private const int EntryLength = 9;
    private const int OriginLength = 2;
    private const int CreateForkLength = 5;
    private const int ReserveMemberLength = 4;
    private const int AddMemberLength = 6;

    public static ArgumentBuffer Create(
        TangoDirectory.LogBeginning begin, string? group, ImmutableArray<TangoDirectory.NewObject> members)
    {
        var buffer = new ArgumentBuffer();
        var writer = new MessagePackWriter(buffer);
        writer.WriteArrayHeader(CreateLength);
        writer.Write(begin.Level);
        writer.Write(begin.MaxSpan);
        writer.Write(begin.VersionAge);
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

    public static ArgumentBuffer Rename(ObjectId id, string name, string newName)
    {
        var buffer = new ArgumentBuffer();
        var writer = new MessagePackWriter(buffer);
        writer.WriteArrayHeader(3);
        writer.Write(id.Value);
        writer.WriteText(name);
        writer.WriteText(newName);
        writer.Flush();
        return buffer;
    }

    public static ArgumentBuffer CreateFork(TangoDirectory.NewObject fork, ForkOrigin origin, TimeSpan lease)
    {
        var buffer = new ArgumentBuffer();
        var writer = new MessagePackWriter(buffer);
        writer.WriteArrayHeader(CreateForkLength);
        writer.WriteText(fork.Name);
        writer.WriteText(fork.TypeName);
        writer.Write(fork.VersionCapacity);
        WriteOrigin(ref writer, origin);
        ClaimFormat.WriteDuration(ref writer, lease);
        writer.Flush();
        return buffer;
    }

    public static (TangoDirectory.NewObject Fork, ForkOrigin Origin, TimeSpan Lease) ReadFork(
        ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(CreateForkLength);
        var fork = new TangoDirectory.NewObject(ReadText(ref reader), ReadText(ref reader), reader.ReadInt32());
        return (fork, ReadOrigin(ref reader), ClaimFormat.ReadDuration(ref reader));
    }

    public static ArgumentBuffer ReserveMember(string group, TangoDirectory.NewObject member)
    {
        var buffer = new ArgumentBuffer();
        var writer = new MessagePackWriter(buffer);
        writer.WriteArrayHeader(ReserveMemberLength);
        writer.WriteText(group);
        writer.WriteText(member.Name);
        writer.WriteText(member.TypeName);
        writer.Write(member.VersionCapacity);
        writer.Flush();
        return buffer;
    }

    public static (string Group, TangoDirectory.NewObject Member) ReadReservedMember(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(ReserveMemberLength);
        var group = ReadText(ref reader);
        return (group, new TangoDirectory.NewObject(ReadText(ref reader), ReadText(ref reader), reader.ReadInt32()));
    }

    /// <param name="cohort">The group's first member.</param>
    public static ArgumentBuffer AddMember(ObjectId cohort, DirectoryEntry reserved)
    {
        var buffer = new ArgumentBuffer();
        var writer = new MessagePackWriter(buffer);
        writer.WriteArrayHeader(AddMemberLength);
        writer.Write(cohort.Value);
        writer.Write(reserved.Id.Value);
        writer.WriteText(reserved.Name);
        writer.WriteText(reserved.TypeName);
        writer.Write(reserved.VersionCapacity);
        writer.Write(reserved.Created.Offset);
        writer.Flush();
        return buffer;
    }

    /// <returns>The member without its group, which the cohort knows, and without its birth; created where it was
    /// reserved.</returns>
    public static (ObjectId Cohort, DirectoryEntry Member) ReadAddedMember(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(AddMemberLength);
        var (cohort, id) = (new ObjectId(reader.ReadUInt64()), new ObjectId(reader.ReadUInt64()));
        var member = new DirectoryEntry(id, ReadText(ref reader), ReadText(ref reader), null, reader.ReadInt32());
        return (cohort, member with { Created = RecordFormat.ReadPosition(ref reader) });
    }

    public static (TangoDirectory.LogBeginning Begin, string? Group, ImmutableArray<TangoDirectory.NewObject> Members)
        ReadCreate(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(CreateLength);
        var begin = new TangoDirectory.LogBeginning(
            reader.ReadInt32(), reader.ReadInt64(), reader.ReadInt64());
        var group = reader.ReadText();
        var members = ImmutableArray.CreateBuilder<TangoDirectory.NewObject>();
        for (var count = reader.ReadCount(); count > 0; count--)
        {
            reader.ReadArrayHeader(NewObjectLength);
            members.Add(new TangoDirectory.NewObject(ReadText(ref reader), ReadText(ref reader), reader.ReadInt32()));
        }

        return (begin, group, members.ToImmutable());
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
            writer.Write(entry.Created.Offset);
            ClaimFormat.WriteOptional(ref writer, entry.Birth);
            if (entry.Origin is { } origin) WriteOrigin(ref writer, origin);
            else writer.WriteNil();
            ClaimFormat.WriteOptional(ref writer, entry.Removed);
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
                id, ReadText(ref reader), ReadText(ref reader), reader.ReadText(), reader.ReadInt32())
            {
                Created = RecordFormat.ReadPosition(ref reader),
                Birth = ClaimFormat.ReadOptional(ref reader),
                Origin = reader.TryReadNil() ? null : ReadOrigin(ref reader),
                Removed = ClaimFormat.ReadOptional(ref reader),
            });
        }

        return entries.ToImmutable();
    }

    public static string ReadText(ref MessagePackReader reader) =>
        reader.ReadText() ?? throw new TangoFormatException("A name in the directory is nil");

    private static void WriteOrigin(ref MessagePackWriter writer, ForkOrigin origin)
    {
        writer.WriteArrayHeader(OriginLength);
        writer.WriteText(origin.Source);
        writer.Write(origin.Position.Offset);
    }

    private static ForkOrigin ReadOrigin(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(OriginLength);
        return new ForkOrigin(ReadText(ref reader), RecordFormat.ReadPosition(ref reader));
    }

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
