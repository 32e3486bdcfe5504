using Corfu.ZooKeeper.Wire;

namespace Corfu.ZooKeeper.Client;

/// <summary>Writes requests, each a frame.</summary>
internal static class RequestWriter
{
    public static void Write(JuteWriter writer, int xid, ClientRequest request)
    {
        writer.BeginFrame();
        writer.WriteInt32(xid);
        writer.WriteInt32((int)request.Code);
        WriteBody(writer, request);
        writer.EndFrame();
    }

    private static void WriteBody(JuteWriter writer, ClientRequest request)
    {
        switch (request)
        {
            case PlainRequest:
                break;
            case WriteRequest write:
                WriteOp(writer, write.Op);
                break;
            case NodeRequest node:
                WriteNode(writer, node);
                break;
            case MultiRequest multi:
                for (var i = 0; i < multi.Parts.Length; i++)
                {
                    MultiCodec.WriteRequestHead(writer, multi.Parts[i]);
                    WriteOp(writer, multi.Op.Parts[i]);
                }

                MultiCodec.WriteEnd(writer);
                break;
            case MultiReadRequest reads:
                foreach (var part in reads.Parts)
                {
                    MultiCodec.WriteRequestHead(writer, part.Code);
                    WriteNode(writer, part);
                }

                MultiCodec.WriteEnd(writer);
                break;
            case WatchRequest watch:
                writer.WriteString(watch.Path);
                writer.WriteInt32(watch.Kind);
                break;
            case SetWatchesRequest watches:
                WriteWatches(writer, watches);
                break;
            case AuthRequest auth:
                writer.WriteInt32(0);
                writer.WriteString(auth.Scheme);
                writer.WriteBuffer(auth.Credential.AsSpan());
                break;
            default:
                throw new ArgumentException($"{request.GetType().Name} has no form on the wire");
        }
    }

    private static void WriteOp(JuteWriter writer, TreeOp op)
    {
        switch (op)
        {
            case CreateOp create:
                writer.WriteString(create.Path);
                Write(writer, create.Data);
                writer.WriteAcl(create.Acl);
                writer.WriteInt32((int)create.Flags);
                if (create.Kind == CreateKind.Ttl) writer.WriteInt64(create.Ttl);
                break;
            case DeleteOp delete:
                writer.WriteString(delete.Path);
                writer.WriteInt32(delete.Version);
                break;
            case SetDataOp set:
                writer.WriteString(set.Path);
                Write(writer, set.Data);
                writer.WriteInt32(set.Version);
                break;
            case SetAclOp set:
                writer.WriteString(set.Path);
                writer.WriteAcl(set.Acl);
                writer.WriteInt32(set.Version);
                break;
            case CheckOp check:
                writer.WriteString(check.Path);
                writer.WriteInt32(check.Version);
                break;
            case CloseSessionOp:
                break;
            default:
                throw new ArgumentException($"{op.GetType().Name} has no form on the wire");
        }
    }

    private static void WriteNode(JuteWriter writer, NodeRequest request)
    {
        writer.WriteString(request.Path);
        if (request.Code is OpCode.Exists or OpCode.GetData or OpCode.GetChildren or OpCode.GetChildren2)
            writer.WriteBoolean(request.Watch);
    }

    private static void WriteWatches(JuteWriter writer, SetWatchesRequest request)
    {
        writer.WriteInt64(request.Zxid);
        writer.WriteStrings(request.Data);
        writer.WriteStrings(request.Exist);
        writer.WriteStrings(request.Child);
        if (request.Code != OpCode.SetWatches2) return;
        writer.WriteStrings(request.Persistent);
        writer.WriteStrings(request.Recursive);
    }

    // A null array is no empty span.
    private static void Write(JuteWriter writer, byte[]? data)
    {
        if (data is null) writer.WriteNull();
        else writer.WriteBuffer(data.AsSpan());
    }
}
