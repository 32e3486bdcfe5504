using Corfu.ZooKeeper.Connections;
using Corfu.ZooKeeper.Wire;

namespace Corfu.ZooKeeper.Serving;

/// <summary>Reads of one root.</summary>
internal static class Reads
{
    /// <summary>Writes the reply of a read.</summary>
    public static void Reply(
        JuteWriter writer, int xid, long zxid, NodeRequest request, in ServedRoots root, ReadCaller caller)
    {
        var error = Check(request, root, caller.Ids, out var node);
        ReplyWriter.Begin(writer, new ReplyHead(xid, zxid, error));
        if (error == ErrorCode.Ok) WriteBody(writer, request, root, node, caller);
        writer.EndFrame();
    }

    /// <summary>Writes the reply of several reads.</summary>
    public static void Reply(
        JuteWriter writer, int xid, long zxid, MultiReadRequest request, in ServedRoots root, ReadCaller caller)
    {
        ReplyWriter.Begin(writer, new ReplyHead(xid, zxid, ErrorCode.Ok));
        foreach (var part in request.Parts)
        {
            // A small request may name large nodes many times; the connection ends behind the reply in any case.
            if (writer.Length > ConnectionLimits.OutputBytes) break;
            var error = Check(part, root, caller.Ids, out var node);
            if (error != ErrorCode.Ok)
            {
                MultiCodec.WriteError(writer, error);
                continue;
            }

            MultiCodec.WriteHead(writer, (int)part.Code, ErrorCode.Ok);
            WriteBody(writer, part, root, node, caller);
        }

        MultiCodec.WriteEnd(writer);
        writer.EndFrame();
    }

    /// <summary>The code that a read has, and its node.</summary>
    public static ErrorCode Check(
        NodeRequest request, in ServedRoots root, ImmutableArray<AuthId> ids, out ZNode? node)
    {
        node = null;
        if (request.Code == OpCode.GetEphemerals) return ErrorCode.Ok;
        if (request.Path.Contains('\0', StringComparison.Ordinal)) return ErrorCode.BadArguments;
        node = root.Find(request.Path);
        if (node is null) return ErrorCode.NoNode;
        if (request.Code == OpCode.Exists) return ErrorCode.Ok;
        var permissions = request.Code == OpCode.GetAcl ? Permissions.Read | Permissions.Admin : Permissions.Read;
        return AclRules.IsPermitted(node.Acl, permissions, ids) ? ErrorCode.Ok : ErrorCode.NoAuth;
    }

    private static void WriteBody(
        JuteWriter writer, NodeRequest request, in ServedRoots root, ZNode? node, ReadCaller caller)
    {
        switch (request.Code)
        {
            case OpCode.Exists:
                writer.WriteStat(node!.Stat);
                break;
            case OpCode.GetData:
                writer.WriteBuffer(node!.Data);
                writer.WriteStat(node.Stat);
                break;
            case OpCode.GetAcl:
                var isAdmin = AclRules.IsPermitted(node!.Acl, Permissions.Admin, caller.Ids);
                writer.WriteAcl((isAdmin ? node.Acl : node.Acl.Redacted()).Entries);
                writer.WriteStat(node.Stat);
                break;
            case OpCode.GetChildren:
                ReplyWriter.WriteNames(writer, node!);
                break;
            case OpCode.GetChildren2:
                ReplyWriter.WriteNames(writer, node!);
                writer.WriteStat(node!.Stat);
                break;
            case OpCode.GetAllChildrenNumber:
                writer.WriteInt32(root.CountBelow(request.Path) - 1);
                break;
            case OpCode.GetEphemerals:
                writer.WriteStrings([.. root.All
                    .SelectMany(part => part.FindSession(caller.Session)?.Ephemerals ?? [])
                    .Where(path => path.StartsWith(request.Path, StringComparison.Ordinal))]);
                break;
            default:
                throw new ArgumentException($"{request.Code} is no read of a node");
        }
    }
}

/// <param name="Ids">All that the connection has proved.</param>
internal readonly record struct ReadCaller(long Session, ImmutableArray<AuthId> Ids);
