using System.Runtime.InteropServices;

namespace Tango.ZooKeeper;

/// <summary>Beginning of each client's request.</summary>
/// <param name="Session">0: this program itself, which has no session.</param>
/// <param name="Attachment">The session's, as its front end knows it.</param>
/// <param name="Number">Counts the connection's writes.</param>
/// <param name="Time">The front end's clock, in ms since 1970. Advisory.</param>
/// <param name="Ids">All that the connection has proved.</param>
public sealed record RequestHeader(
    long Session, int Attachment, long Number, long Time, ImmutableArray<AuthId> Ids)
{
    private const int Fields = 5;

    public bool Equals(RequestHeader? other) => other is not null
        && (Session, Attachment, Number, Time) == (other.Session, other.Attachment, other.Number, other.Time)
        && Ids.AsSpan().SequenceEqual(other.Ids.AsSpan());

    public override int GetHashCode() => HashCode.Combine(Session, Attachment, Number, Time);

    internal void Write(ref MessagePackWriter writer)
    {
        writer.WriteArrayHeader(Fields);
        writer.Write(Session);
        writer.Write(Attachment);
        writer.Write(Number);
        writer.Write(Time);
        writer.WriteArrayHeader(Ids.Length);
        foreach (var id in Ids)
        {
            writer.WriteArrayHeader(2);
            writer.WriteRequiredText(id.Scheme);
            writer.WriteRequiredText(id.Id);
        }
    }

    internal static RequestHeader Read(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(Fields);
        var (session, attachment) = (reader.ReadInt64(), reader.ReadInt32());
        var (number, time) = (reader.ReadInt64(), reader.ReadInt64());
        var ids = new AuthId[reader.ReadCount()];
        for (var i = 0; i < ids.Length; i++)
        {
            reader.ReadArrayHeader(2);
            ids[i] = new AuthId(AclSchemes.Shared(reader.RequireText()), reader.RequireText());
        }

        return new RequestHeader(session, attachment, number, time, ImmutableCollectionsMarshal.AsImmutableArray(ids));
    }
}
