using System.Buffers.Binary;

namespace Corfu.ZooKeeper.Wire;

/// <summary>Head of each reply: <c>i xid, l zxid, i error</c>. A body follows if the error is 0.</summary>
internal readonly record struct ReplyHead(int Xid, long Zxid, ErrorCode Error);

/// <summary>Writes replies and notifications, each a frame.</summary>
internal static class ReplyWriter
{
    // The state that notifications tell: connected.
    private const int Connected = 3;

    /// <summary>Begins a reply; the caller writes its body and ends the frame.</summary>
    public static void Begin(JuteWriter writer, in ReplyHead head)
    {
        writer.BeginFrame();
        writer.WriteInt32(head.Xid);
        writer.WriteInt64(head.Zxid);
        writer.WriteInt32((int)head.Error);
    }

    /// <summary>The code in the first frame of what was written.</summary>
    public static ErrorCode ErrorIn(ReadOnlySpan<byte> written)
    {
        const int offset = sizeof(int) + sizeof(int) + sizeof(long);
        return written.Length < offset + sizeof(int)
            ? ErrorCode.Ok
            : (ErrorCode)BinaryPrimitives.ReadInt32BigEndian(written[offset..]);
    }

    /// <summary>A reply without a body.</summary>
    public static void Write(JuteWriter writer, in ReplyHead head)
    {
        Begin(writer, head);
        writer.EndFrame();
    }

    /// <summary>Reply to a write, by what the tree decided.</summary>
    /// <param name="zxid">The record's.</param>
    public static void Write(JuteWriter writer, int xid, long zxid, ClientRequest request, TreeResult result)
    {
        if (result is MultiResult multi && request is MultiRequest parts)
        {
            // The head of a failed multi says nothing of the failure.
            Begin(writer, new ReplyHead(xid, zxid, ErrorCode.Ok));
            MultiCodec.WriteResult(writer, parts.Parts, multi);
        }
        else
        {
            Begin(writer, new ReplyHead(xid, zxid, (ErrorCode)result.Error));
            if (result is OpResult { Error: ZooKeeperError.Ok } done) WriteBody(writer, request.Code, done);
        }

        writer.EndFrame();
    }

    /// <summary>Body of a write that succeeded.</summary>
    public static void WriteBody(JuteWriter writer, OpCode code, OpResult result)
    {
        if (OpCodes.IsCreate(code)) writer.WriteString(result.Path);
        if (code is OpCode.SetData or OpCode.SetAcl || OpCodes.IsCreate(code) && code != OpCode.Create)
            writer.WriteStat(result.Stat!.Value);
    }

    public static void WriteEvent(JuteWriter writer, long zxid, TreeChangeKind kind, string path)
    {
        Begin(writer, new ReplyHead(RequestHead.EventXid, zxid, ErrorCode.Ok));
        writer.WriteInt32((int)kind);
        writer.WriteInt32(Connected);
        writer.WriteString(path);
        writer.EndFrame();
    }

    public static void WriteNames(JuteWriter writer, ZNode node)
    {
        writer.WriteInt32(node.ChildCount);
        foreach (var name in node.ChildNames()) writer.WriteString(name);
    }

    public static void WriteIds(JuteWriter writer, ImmutableArray<AuthId> ids)
    {
        writer.WriteInt32(ids.Length);
        foreach (var id in ids)
        {
            writer.WriteString(id.Scheme);
            writer.WriteString(id.Id);
        }
    }
}
