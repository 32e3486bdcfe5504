using System.Runtime.InteropServices;

namespace Tango.ZooKeeper;

/// <summary>Values of records and of checkpoints that MessagePack has in another form.</summary>
internal static class RecordReading
{
    public static string RequireText(ref this MessagePackReader reader) => reader.ReadText()
        ?? throw new TangoFormatException(FormatError.WrongType, "A text is nil", reader.Consumed);

    /// <summary>A text that <see cref="RequireText"/> reads: a nil in the log would stop the tree in every
    /// process.</summary>
    /// <exception cref="ArgumentNullException">The text is null.</exception>
    public static void WriteRequiredText(ref this MessagePackWriter writer, string text)
    {
        ArgumentNullException.ThrowIfNull(text);
        writer.WriteText(text);
    }

    /// <summary>Bytes of their own: a node must not keep the entry that its data came in.</summary>
    public static byte[]? ReadData(ref this MessagePackReader reader) =>
        reader.TryReadNil() ? null : reader.ReadBinary().ToArray();

    public static void WriteData(ref this MessagePackWriter writer, byte[]? data)
    {
        if (data is null) writer.WriteNil();
        else writer.Write(data);
    }

    /// <summary>A list as a client sent it, or nil.</summary>
    public static ImmutableArray<AclEntry> ReadAcl(ref this MessagePackReader reader)
    {
        if (reader.TryReadNil()) return default;
        var entries = new AclEntry[reader.ReadCount()];
        for (var i = 0; i < entries.Length; i++)
        {
            reader.ReadArrayHeader(3);
            entries[i] = new AclEntry(
                (Permissions)reader.ReadInt32(), AclSchemes.Shared(reader.ReadText()), reader.ReadText());
        }

        return ImmutableCollectionsMarshal.AsImmutableArray(entries);
    }

    public static void WriteAcl(ref this MessagePackWriter writer, ImmutableArray<AclEntry> acl)
    {
        if (acl.IsDefault)
        {
            writer.WriteNil();
            return;
        }

        writer.WriteArrayHeader(acl.Length);
        foreach (var entry in acl)
        {
            writer.WriteArrayHeader(3);
            writer.Write((int)entry.Permissions);
            writer.WriteText(entry.Scheme);
            writer.WriteText(entry.Id);
        }
    }
}
