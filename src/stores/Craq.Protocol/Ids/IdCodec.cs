namespace Craq.Protocol;

/// <summary>Bytes of versions, keys and write ids, in messages and in records.</summary>
internal static class IdCodec
{
    public static void Version(this ref WireWriter w, ObjectVersion version) => w.Int64(version.Value);

    public static ObjectVersion Version(this ref WireReader r)
    {
        var value = r.Int64();
        return value >= 0 ? new ObjectVersion(value) : throw new MalformedDataException("A version is negative.");
    }

    public static void Key(this ref WireWriter w, ObjectKey key) => w.Bytes(key.Bytes.Span);

    /// <summary>The key is a slice of the reader's input.</summary>
    public static ObjectKey Key(this ref WireReader r)
    {
        var bytes = r.Bytes();
        return bytes.Length is 0 or > ObjectKey.MaxLength
            ? throw new MalformedDataException("A key is empty or too long.")
            : new ObjectKey(bytes);
    }

    public static void Id(this ref WireWriter w, WriteId id)
    {
        w.Guid(id.Writer);
        w.Int64(id.Sequence);
    }

    public static WriteId Id(this ref WireReader r) => new(r.Guid(), r.Int64());
}
