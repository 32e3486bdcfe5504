namespace Craq.Protocol;

/// <summary>Parts that the messages of chains share.</summary>
internal static class ChainAnswer
{
    // Last in every body that has it: what follows a failed status is a view, or nothing.
    public static void WriteView(Status status, ChainView? view, ref WireWriter w)
    {
        if (!Brings(status)) return;
        w.Bool(view is not null);
        if (view is not null) w.View(view);
    }

    public static ChainView? ReadView(Status status, ref WireReader r) =>
        Brings(status) && r.Remaining > 0 && r.Bool() ? r.View() : null;

    public static void Version(this ref WireWriter w, ObjectVersion version) => w.Int64(version.Value);

    public static ObjectVersion Version(this ref WireReader r)
    {
        var value = r.Int64();
        return value >= 0 ? new ObjectVersion(value) : throw new MalformedDataException("A version is negative.");
    }

    public static void Key(this ref WireWriter w, ObjectKey key) => w.Bytes(key.Bytes.Span);

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

    private static bool Brings(Status status) => status is Status.Sealed or CraqStatus.WrongRole;
}
