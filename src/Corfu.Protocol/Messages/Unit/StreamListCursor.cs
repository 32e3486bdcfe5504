namespace Corfu.Protocol;

/// <summary>How far a unit's streams have been listed. The default is the beginning.</summary>
/// <param name="Run">The unit's run: another one knows its streams in another order, and begins again.</param>
/// <param name="Next">Of the streams in that order, the first that was not looked at.</param>
public readonly record struct StreamListCursor(long Run, int Next)
{
    internal void Write(ref WireWriter w)
    {
        w.Int64(Run);
        w.Int32(Next);
    }

    internal static StreamListCursor Read(ref WireReader r)
    {
        var cursor = new StreamListCursor(r.Int64(), r.Int32());
        return cursor.Next >= 0 ? cursor : throw new MalformedDataException("A list of streams cannot go on from before its beginning.");
    }
}
