using System.Buffers.Binary;

namespace Corfu.Protocol;

/// <summary>
/// Frames: length (4, of what follows it), correlation (4), epoch (8), opcode (1), status (1, zero in requests),
/// reserved (2), body. All little-endian. Answers may come in any order; correlation pairs them. A body is read and
/// written in the version that the connection's handshake settled on; bytes behind the fields that a reader knows are a
/// later version's, and passed over.
/// </summary>
public static class MessageCodec
{
    public const int LengthSize = 4;

    /// <summary>Bytes of a frame before its body, the length field included.</summary>
    public const int HeaderSize = 20;

    /// <summary>Appends one frame, or throws with nothing appended.</summary>
    /// <exception cref="EntryTooLargeException">The frame would exceed
    /// <see cref="MessageLimits.MaxFrame"/>.</exception>
    public static void WriteRequest(FrameBuffer output, uint correlation, Request request,
        ushort version = WireProtocol.Baseline)
    {
        var start = output.Length;
        try
        {
            Begin(output, correlation, request.Epoch, request.Opcode, Status.Ok);
            var w = new WireWriter(output, version);
            request.WriteBody(ref w);
            w.Flush();
            if (output.Length - start - LengthSize > MessageLimits.MaxFrame)
                throw CorfuException.FromStatus(Status.TooLarge, $"A {request.Opcode} request");
            End(output, start);
        }
        catch
        {
            output.TruncateTo(start);
            throw;
        }
    }

    /// <summary>Appends one frame, or throws with nothing appended.</summary>
    public static void WriteResponse(
        FrameBuffer output, uint correlation, Opcode opcode, Response response, ushort version = WireProtocol.Baseline)
    {
        var start = output.Length;
        try
        {
            Begin(output, correlation, response.Epoch, opcode, response.Status);
            var w = new WireWriter(output, version);
            response.WriteBody(ref w);
            w.Flush();
            End(output, start);
        }
        catch
        {
            output.TruncateTo(start);
            throw;
        }
    }

    /// <summary>
    /// Decodes the body of a request. Memory in the result is a slice of <paramref name="body"/>. Throws
    /// <see cref="MalformedDataException"/> on damage; null for an opcode that the protocol does not have in that
    /// version.
    /// </summary>
    public static Request? ReadRequest(
        FrameHeader header, ReadOnlyMemory<byte> body, ushort version = WireProtocol.Baseline,
        WireProtocol? protocol = null)
    {
        if ((protocol ?? WireProtocol.Current).ReaderOf(header.Opcode, version) is not { } read) return null;
        var r = new WireReader(body, version);
        return read(header.Epoch, ref r);
    }

    /// <summary>Decodes the answer to <paramref name="request"/>. Memory in the result is a slice of
    /// <paramref name="body"/>.</summary>
    public static Response ReadResponse(Request request, FrameHeader header, ReadOnlyMemory<byte> body,
        ushort version = WireProtocol.Baseline)
    {
        if (header.Opcode != request.Opcode)
            throw new MalformedDataException($"A {header.Opcode} answers a {request.Opcode}.");
        var r = new WireReader(body, version);
        return request.ReadResponse(header.Status, header.Epoch, ref r);
    }

    private static void Begin(FrameBuffer output, uint correlation, Epoch epoch, Opcode opcode, Status status)
    {
        var span = output.GetSpan(HeaderSize);
        BinaryPrimitives.WriteUInt32LittleEndian(span[4..], correlation);
        BinaryPrimitives.WriteInt64LittleEndian(span[8..], epoch.Value);
        span[16] = (byte)opcode;
        span[17] = (byte)status;
        BinaryPrimitives.WriteUInt16LittleEndian(span[18..], 0);
        output.Advance(HeaderSize);
    }

    /// <summary>The body has its length now, so the frame's is put where it was left out.</summary>
    private static void End(FrameBuffer output, int start) =>
        BinaryPrimitives.WriteInt32LittleEndian(output.From(start), output.Length - start - LengthSize);
}
