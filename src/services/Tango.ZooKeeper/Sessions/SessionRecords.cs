using System.Buffers.Binary;

namespace Tango.ZooKeeper;

/// <summary>Creates a session, attached to a front end that is up.</summary>
/// <param name="Session">Random, from 1 to 2^62.</param>
/// <param name="Hash">The first 16 bytes of the password's SHA-256.</param>
/// <param name="Timeout">In ms.</param>
public sealed record CreateSessionRecord(long Session, UInt128 Hash, int Timeout, long FrontEnd) : TreeRecord
{
    public override int Number => Mutators.CreateSession;

    internal override ObjectKey Keys => TreeKeys.All([TreeKeys.Sessions, TreeKeys.Session(Session)]);

    internal override bool IsShared => true;

    internal override TreeResult Decide(WorkingTree tree)
    {
        if (Session is < 1 or > NodeOwner.MaxSession || Timeout <= 0 || !tree.FrontEnds.IsUp(FrontEnd)
            || tree.Sessions.Find(Session) is not null)
            return new SessionResult(ZooKeeperError.SystemError, Session, 0);
        tree.Sessions = tree.Sessions.Set(
            new ZooKeeperSession(Session, Hash, Timeout, Attachment: 1, FrontEnd, ZooKeeperSession.NoEphemerals));
        tree.FrontEnds = tree.FrontEnds.Enter(FrontEnd);
        return new SessionResult(ZooKeeperError.Ok, Session, 1);
    }

    internal override void Write(ref MessagePackWriter writer) =>
        SessionFields.Write(ref writer, Session, Hash, Timeout, FrontEnd);

    internal static CreateSessionRecord Read(ref MessagePackReader reader)
    {
        var (session, hash, timeout, frontEnd) = SessionFields.Read(ref reader);
        return new CreateSessionRecord(session, hash, timeout, frontEnd);
    }
}

/// <summary>Attaches a session to a front end that is up: the one that had it serves it no longer.</summary>
/// <param name="Hash">Hash of the password that the client gave: with another one the session is not found.</param>
/// <param name="Timeout">In ms, from now on.</param>
public sealed record AttachRecord(long Session, UInt128 Hash, int Timeout, long FrontEnd) : TreeRecord
{
    public override int Number => Mutators.Attach;

    internal override ObjectKey Keys => TreeKeys.All([TreeKeys.Sessions, TreeKeys.Session(Session)]);

    internal override bool IsShared => true;

    internal override TreeResult Decide(WorkingTree tree)
    {
        if (Timeout <= 0 || !tree.FrontEnds.IsUp(FrontEnd))
            return new SessionResult(ZooKeeperError.SystemError, Session, 0);
        if (tree.Sessions.Find(Session) is not { } session || session.Hash != Hash)
            return new SessionResult(ZooKeeperError.SessionExpired, Session, 0);
        var attachment = session.Attachment + 1;
        tree.Sessions = tree.Sessions.Set(
            session with { Attachment = attachment, Timeout = Timeout, FrontEnd = FrontEnd });
        tree.FrontEnds = tree.FrontEnds.Enter(FrontEnd).Leave(session.FrontEnd);
        return new SessionResult(ZooKeeperError.Ok, Session, attachment);
    }

    internal override void Write(ref MessagePackWriter writer) =>
        SessionFields.Write(ref writer, Session, Hash, Timeout, FrontEnd);

    internal static AttachRecord Read(ref MessagePackReader reader)
    {
        var (session, hash, timeout, frontEnd) = SessionFields.Read(ref reader);
        return new AttachRecord(session, hash, timeout, frontEnd);
    }
}

/// <summary>Fields of both records, and of sessions in checkpoints.</summary>
internal static class SessionFields
{
    private const int Count = 4;
    private const int HashBytes = 16;

    public static void Write(ref MessagePackWriter writer, long session, UInt128 hash, int timeout, long frontEnd)
    {
        writer.WriteArrayHeader(Count);
        writer.Write(session);
        var bytes = new byte[HashBytes];
        BinaryPrimitives.WriteUInt128BigEndian(bytes, hash);
        writer.Write(bytes);
        writer.Write(timeout);
        writer.Write(frontEnd);
    }

    public static (long Session, UInt128 Hash, int Timeout, long FrontEnd) Read(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(Count);
        var session = reader.ReadInt64();
        var hash = reader.ReadBinary();
        if (hash.Length != HashBytes)
            throw new TangoFormatException(FormatError.OutOfRange, $"A hash has {hash.Length} bytes", reader.Consumed);
        return (session, BinaryPrimitives.ReadUInt128BigEndian(hash.Span), reader.ReadInt32(), reader.ReadInt64());
    }
}
