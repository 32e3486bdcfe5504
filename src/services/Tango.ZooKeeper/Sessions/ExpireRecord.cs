namespace Tango.ZooKeeper;

/// <summary>
/// Ends sessions of a front end whose clients, or which itself, were silent for too long. An observer may be late: a
/// session ends only if the front end has not beaten since, and the session has not attached again (Z8).
/// </summary>
/// <param name="Beat">The last that the observer knows of the front end.</param>
public sealed record ExpireRecord(long FrontEnd, long Beat, ImmutableArray<ExpiredSession> Sessions) : TreeRecord
{
    private const int Fields = 3;

    public override int Number => Mutators.Expire;

    internal override bool IsShared => true;

    internal override TreeResult Decide(WorkingTree tree)
    {
        var ended = ImmutableArray.CreateBuilder<long>();
        if (tree.FrontEnds.Find(FrontEnd)?.Beat == Beat || Planted.Is("any-beat-expires"))
        {
            foreach (var seen in Sessions)
            {
                if (tree.Sessions.Find(seen.Session) is not { } session || session.FrontEnd != FrontEnd
                    || (session.Attachment != seen.Attachment && !Planted.Is("any-attachment-expires"))) continue;
                tree.End(session);
                ended.Add(session.Id);
            }
        }

        return new ExpireResult(ended.ToImmutable());
    }

    internal override void Write(ref MessagePackWriter writer)
    {
        writer.WriteArrayHeader(Fields);
        writer.Write(FrontEnd);
        writer.Write(Beat);
        writer.WriteArrayHeader(Sessions.Length);
        foreach (var session in Sessions)
        {
            writer.WriteArrayHeader(2);
            writer.Write(session.Session);
            writer.Write(session.Attachment);
        }
    }

    internal static ExpireRecord Read(ref MessagePackReader reader)
    {
        reader.ReadArrayHeader(Fields);
        var (frontEnd, beat) = (reader.ReadInt64(), reader.ReadInt64());
        var sessions = ImmutableArray.CreateBuilder<ExpiredSession>(reader.ReadCount());
        while (sessions.Count < sessions.Capacity)
        {
            reader.ReadArrayHeader(2);
            sessions.Add(new ExpiredSession(reader.ReadInt64(), reader.ReadInt32()));
        }

        return new ExpireRecord(frontEnd, beat, sessions.MoveToImmutable());
    }
}

/// <summary>A session as the observer saw it.</summary>
public readonly record struct ExpiredSession(long Session, int Attachment);
