using CsCheck;

namespace Corfu.ZooKeeper.Tests.Support;

/// <summary>Requests of all types, at random.</summary>
internal static class Requests
{
    private static readonly Gen<string> s_path =
        Const("/", "/a", "/ä/ü", "/a/very/long/path/of/a/node", "", "none", "/\u4e2d\u6587");

    private static readonly Gen<byte[]?> s_data = Gen.Frequency(
        (1, Gen.Const((byte[]?)null)), (4, Gen.Byte.Array[0, 40].Select(static bytes => (byte[]?)bytes)));

    private static readonly Gen<AclEntry> s_entry = Gen.Select(Gen.Int[0, 40],
        Const("world", "digest", "ip", "auth", "", (string?)null), Const("anyone", "user:hash", "", (string?)null),
        static (permissions, scheme, id) =>
            new AclEntry((Permissions)permissions, scheme, id));

    private static readonly Gen<ImmutableArray<AclEntry>> s_acl = Gen.Frequency(
        (1, Gen.Const(default(ImmutableArray<AclEntry>))),
        (4, s_entry.Array[0, 4].Select(static entries => ImmutableArray.Create(entries))));

    private static readonly Gen<ImmutableArray<string>> s_paths =
        s_path.Array[0, 5].Select(static paths => ImmutableArray.Create(paths));

    private static readonly Gen<(OpCode Code, NodeOp Op)> s_part = Gen.OneOf(
        Create(OpCode.Create, CreateKind.Plain), Create(OpCode.Create2, CreateKind.Plain),
        Create(OpCode.CreateContainer, CreateKind.Container), Create(OpCode.CreateTtl, CreateKind.Ttl),
        Gen.Select(s_path, Gen.Int, static (path, version) => (OpCode.Delete, (NodeOp)new DeleteOp(path, version))),
        Gen.Select(s_path, s_data, Gen.Int,
            static (path, data, version) => (OpCode.SetData, (NodeOp)new SetDataOp(path, data, version))),
        Gen.Select(s_path, Gen.Int, static (path, version) => (OpCode.Check, (NodeOp)new CheckOp(path, version))));

    private static readonly Gen<ClientRequest> s_node = Gen.Select(
        Const(OpCode.Exists, OpCode.GetData, OpCode.GetAcl, OpCode.GetChildren, OpCode.GetChildren2,
            OpCode.Sync, OpCode.GetEphemerals, OpCode.GetAllChildrenNumber), s_path, Gen.Bool,
        static (code, path, watch) => (ClientRequest)new NodeRequest(code, path, watch && HasWatch(code)));

    private static readonly Gen<ClientRequest> s_multiRead = Gen.Select(
            Const(OpCode.GetData, OpCode.GetChildren), s_path, Gen.Bool,
            static (code, path, watch) => new NodeRequest(code, path, watch)).Array[0, 6]
        .Select(static parts => (ClientRequest)new MultiReadRequest([.. parts]));

    private static readonly Gen<ClientRequest> s_setWatches = Gen.Select(
        Const(OpCode.SetWatches, OpCode.SetWatches2), Gen.Long, s_paths.Array[5, 5],
        static (code, zxid, paths) => (ClientRequest)(code == OpCode.SetWatches
            ? new SetWatchesRequest(code, zxid, paths[0], paths[1], paths[2], [], [])
            : new SetWatchesRequest(code, zxid, paths[0], paths[1], paths[2], paths[3], paths[4])));

    public static Gen<ClientRequest> All { get; } = Gen.OneOf(
        s_part.Where(static part => part.Code != OpCode.Check)
            .Select(static part => (ClientRequest)new WriteRequest(part.Code, part.Op)),
        s_part.Array[0, 6].Select(static parts => (ClientRequest)new MultiRequest(
            [.. parts.Select(static part => part.Code)], new MultiOp([.. parts.Select(static part => part.Op)]))),
        Gen.Select(s_path, s_acl, Gen.Int, static (path, acl, version) =>
            (ClientRequest)new WriteRequest(OpCode.SetAcl, new SetAclOp(path, acl, version))),
        s_node, s_multiRead, s_setWatches,
        Gen.Select(Const(OpCode.CheckWatches, OpCode.RemoveWatches, OpCode.AddWatch), s_path, Gen.Int[0, 6],
            static (code, path, kind) => (ClientRequest)new WatchRequest(code, path, kind)),
        Gen.Select(Const("digest", "ip", ""), Gen.Byte.Array[0, 20],
            static (scheme, credential) => (ClientRequest)new AuthRequest(scheme, [.. credential])),
        Const(OpCode.Ping, OpCode.WhoAmI, OpCode.Reconfig, OpCode.Sasl)
            .Select(static code => (ClientRequest)new PlainRequest(code)),
        Gen.Const((ClientRequest)new WriteRequest(OpCode.CloseSession, new CloseSessionOp())));

    /// <summary>A request without its frame's length.</summary>
    public static byte[] Encode(int xid, ClientRequest request)
    {
        using var writer = new JuteWriter();
        RequestWriter.Write(writer, xid, request);
        return writer.Written[sizeof(int)..].ToArray();
    }

    /// <returns>Null: malformed, or of an unknown type.</returns>
    public static ClientRequest? Decode(ReadOnlySpan<byte> frame, out RequestHead head)
    {
        var reader = new JuteReader(frame);
        return RequestReader.TryReadHead(ref reader, out head) && OpCodes.IsRequest(head.Code)
            ? RequestReader.ReadBody(head.Code, ref reader)
            : null;
    }

    private static Gen<T> Const<T>(params T[] values) => Gen.Int[0, values.Length - 1].Select(i => values[i]);

    private static bool HasWatch(OpCode code) =>
        code is OpCode.Exists or OpCode.GetData or OpCode.GetChildren or OpCode.GetChildren2;

    private static Gen<(OpCode Code, NodeOp Op)> Create(OpCode code, CreateKind kind) => Gen.Select(
        s_path, s_data, s_acl, Gen.Int[0, 7], Gen.Long, (path, data, acl, flags, ttl) => (code, (NodeOp)new CreateOp(
            path, data, acl, (CreateFlags)flags, kind, kind == CreateKind.Ttl ? ttl : 0)));
}
