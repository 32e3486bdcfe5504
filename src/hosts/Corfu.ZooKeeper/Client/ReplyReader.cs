using Corfu.ZooKeeper.Wire;

namespace Corfu.ZooKeeper.Client;

/// <summary>Reads replies and notifications.</summary>
internal static class ReplyReader
{
    /// <returns>False: malformed.</returns>
    public static bool TryReadHead(ref JuteReader reader, out ReplyHead head)
    {
        head = new ReplyHead(reader.ReadInt32(), reader.ReadInt64(), (ErrorCode)reader.ReadInt32());
        return !reader.IsMalformed;
    }

    /// <summary>Reads what stands behind the head.</summary>
    /// <returns>Null: malformed.</returns>
    public static ServerReply? ReadBody(OpCode code, in ReplyHead head, ref JuteReader reader)
    {
        var reply = new ServerReply(head.Zxid, head.Error);
        if (head.Error != ErrorCode.Ok) return reply;
        reply = code is OpCode.Multi or OpCode.MultiRead ? ReadParts(reply, ref reader) : Read(code, reply, ref reader);
        return reader.IsMalformed ? null : reply;
    }

    /// <returns>Null: malformed.</returns>
    public static ServerEvent? ReadEvent(long zxid, ref JuteReader reader)
    {
        var (kind, state) = ((TreeChangeKind)reader.ReadInt32(), reader.ReadInt32());
        var path = reader.RequireString();
        return reader.IsMalformed ? null : new ServerEvent(zxid, kind, state, path);
    }

    private static ServerReply Read(OpCode code, ServerReply reply, ref JuteReader reader) => code switch
    {
        OpCode.Create or OpCode.Sync => reply with { Path = reader.ReadString() },
        OpCode.Create2 or OpCode.CreateContainer or OpCode.CreateTtl =>
            reply with { Path = reader.ReadString(), Stat = reader.ReadStat() },
        OpCode.Exists or OpCode.SetData or OpCode.SetAcl => reply with { Stat = reader.ReadStat() },
        OpCode.GetData => reply with { Data = reader.ReadBuffer(), Stat = reader.ReadStat() },
        OpCode.GetAcl => reply with { Acl = reader.ReadAcl(), Stat = reader.ReadStat() },
        OpCode.GetChildren or OpCode.GetEphemerals => reply with { Names = reader.ReadStrings() },
        OpCode.GetChildren2 => reply with { Names = reader.ReadStrings(), Stat = reader.ReadStat() },
        // The body of an added watch is a code, which repeats that of the head.
        OpCode.AddWatch when reader.ReadInt32() != 0 => reader.Fail(reply),
        OpCode.GetAllChildrenNumber => reply with { Count = reader.ReadInt32() },
        OpCode.WhoAmI => reply with { Ids = ReadIds(ref reader) },
        _ => reply,
    };

    private static ServerReply ReadParts(ServerReply reply, ref JuteReader reader)
    {
        var parts = ImmutableArray.CreateBuilder<ServerReply>();
        while (MultiCodec.TryReadHead(ref reader, out var code, out _))
        {
            var part = new ServerReply(reply.Zxid, ErrorCode.Ok);
            parts.Add((int)code == OpCodes.Failed
                ? part with { Error = (ErrorCode)reader.ReadInt32() }
                : Read(code, part, ref reader));
        }

        return reply with { Parts = parts.DrainToImmutable() };
    }

    private static ImmutableArray<AuthId> ReadIds(ref JuteReader reader)
    {
        const int Smallest = 2 * sizeof(int);
        var ids = ImmutableArray.CreateBuilder<AuthId>();
        for (var left = reader.ReadCount(Smallest); left > 0 && !reader.IsMalformed; left--)
            ids.Add(new AuthId(reader.RequireString(), reader.RequireString()));
        return ids.DrainToImmutable();
    }
}
