using System.Text;

namespace Corfu.ZooKeeper.Tests.Support;

/// <summary>Requests as tests send them.</summary>
internal static class Ops
{
    private static readonly ImmutableArray<AclEntry> s_open = AclList.Open.Entries;

    public static CreateOp Op(string path, string data = "", CreateFlags flags = CreateFlags.Persistent) =>
        new(path, Encoding.UTF8.GetBytes(data), s_open, flags);

    public static WriteRequest Create(string path, string data, CreateFlags flags = CreateFlags.Persistent) =>
        new(OpCode.Create, Op(path, data, flags));

    public static WriteRequest Delete(string path) => new(OpCode.Delete, new DeleteOp(path, -1));

    public static MultiRequest Multi(params (OpCode Code, NodeOp Op)[] parts) => new(
        [.. parts.Select(part => part.Code)], new MultiOp([.. parts.Select(part => part.Op)]));
}
