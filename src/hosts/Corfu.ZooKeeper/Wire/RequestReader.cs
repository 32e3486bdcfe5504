namespace Corfu.ZooKeeper.Wire;

/// <summary>Head of each request.</summary>
/// <param name="Xid">Echoed by the reply; never interpreted.</param>
internal readonly record struct RequestHead(int Xid, OpCode Code)
{
    public const int PingXid = -2;
    public const int AuthXid = -4;
    public const int SetWatchesXid = -8;

    /// <summary>Xid of notifications.</summary>
    public const int EventXid = -1;
}

/// <summary>Reads requests. Bytes behind the last field are ignored.</summary>
internal static class RequestReader
{
    /// <summary>Reads the head; what is left is the body.</summary>
    /// <returns>False: the frame is too short, and the connection cannot go on.</returns>
    public static bool TryReadHead(ref JuteReader reader, out RequestHead head)
    {
        head = new RequestHead(reader.ReadInt32(), (OpCode)reader.ReadInt32());
        return !reader.IsMalformed;
    }

    /// <param name="code">A type that <see cref="OpCodes.IsRequest"/> knows.</param>
    /// <returns>Null: the body is malformed.</returns>
    public static ClientRequest? ReadBody(OpCode code, ref JuteReader reader)
    {
        var request = Read(code, ref reader);
        return reader.IsMalformed ? null : request;
    }

    /// <summary>A write that may be part of a multi.</summary>
    public static NodeOp ReadNodeOp(OpCode code, ref JuteReader reader) => code switch
    {
        OpCode.Delete => new DeleteOp(reader.RequireString(), reader.ReadInt32()),
        OpCode.SetData => new SetDataOp(reader.RequireString(), reader.ReadBuffer(), reader.ReadInt32()),
        OpCode.Check => new CheckOp(reader.RequireString(), reader.ReadInt32()),
        OpCode.CreateContainer => ReadCreate(CreateKind.Container, ref reader),
        OpCode.CreateTtl => ReadCreate(CreateKind.Ttl, ref reader),
        _ => ReadCreate(CreateKind.Plain, ref reader),
    };

    /// <summary>A read of a node, alone or in a multi.</summary>
    public static NodeRequest ReadNode(OpCode code, ref JuteReader reader) => code switch
    {
        OpCode.GetEphemerals => new NodeRequest(code, reader.ReadString() ?? ""),
        OpCode.GetAcl or OpCode.Sync or OpCode.GetAllChildrenNumber => new NodeRequest(code, reader.RequireString()),
        _ => new NodeRequest(code, reader.RequireString(), reader.ReadBoolean()),
    };

    private static ClientRequest? Read(OpCode code, ref JuteReader reader)
    {
        switch (code)
        {
            case OpCode.CloseSession:
                return new WriteRequest(code, new CloseSessionOp());
            case OpCode.SetAcl:
                return new WriteRequest(
                    code, new SetAclOp(reader.RequireString(), reader.ReadAcl(), reader.ReadInt32()));
            case OpCode.Multi:
                return MultiCodec.ReadWrites(ref reader);
            case OpCode.MultiRead:
                return MultiCodec.ReadReads(ref reader);
            case OpCode.CheckWatches or OpCode.RemoveWatches or OpCode.AddWatch:
                return new WatchRequest(code, reader.RequireString(), reader.ReadInt32());
            case OpCode.SetWatches or OpCode.SetWatches2:
                return ReadSetWatches(code, ref reader);
            case OpCode.Auth:
                reader.ReadInt32();
                return new AuthRequest(reader.RequireString(), reader.TryReadBytes(out var bytes) ? [.. bytes] : []);
            case OpCode.Ping or OpCode.WhoAmI or OpCode.Reconfig or OpCode.Sasl:
                return new PlainRequest(code);
            default:
                return OpCodes.IsWrite(code)
                    ? new WriteRequest(code, ReadNodeOp(code, ref reader))
                    : ReadNode(code, ref reader);
        }
    }

    private static CreateOp ReadCreate(CreateKind kind, ref JuteReader reader) => new(
        reader.RequireString(), reader.ReadBuffer(), reader.ReadAcl(), (CreateFlags)reader.ReadInt32(), kind,
        kind == CreateKind.Ttl ? reader.ReadInt64() : 0);

    private static SetWatchesRequest ReadSetWatches(OpCode code, ref JuteReader reader)
    {
        var zxid = reader.ReadInt64();
        var (data, exist, child) = (reader.ReadStrings(), reader.ReadStrings(), reader.ReadStrings());
        return code == OpCode.SetWatches
            ? new SetWatchesRequest(code, zxid, data, exist, child, [], [])
            : new SetWatchesRequest(code, zxid, data, exist, child, reader.ReadStrings(), reader.ReadStrings());
    }
}
