using System.Diagnostics;
using static System.Buffers.Binary.BinaryPrimitives;

namespace Corfu.Protocol;

/// <summary>Frames: length (4, of what follows it), correlation (4), epoch (8), opcode (1), status (1, zero in
/// requests), flags (2), body. All little-endian. Answers come in any order and are paired by correlation. A body
/// has the version that the connection's handshake settled on; a reader passes over fields of later versions at its
/// end. Flag 1 of a request, from version 2 on: 25 bytes of the caller's trace stand before the body, its id (16), its
/// span (8), and W3C's flags (1). Other flags are reserved.</summary>
public static class MessageCodec
{
    public const int LengthSize = 4;

    /// <summary>Bytes of a frame before its body, the length field included.</summary>
    public const int HeaderSize = 20;

    internal const ushort TraceFlag = 1;
    private const int TraceSize = 25;

    /// <summary>Appends one frame, or throws with nothing appended.</summary>
    /// <exception cref="EntryTooLargeException">The frame would exceed
    /// <see cref="MessageLimits.MaxFrame"/>.</exception>
    /// <param name="trace">The recorded activity, if any; none on a connection below
    /// <see cref="WireProtocol.Traces"/>.</param>
    public static void WriteRequest(FrameBuffer output, uint correlation, Request request,
        ushort version = WireProtocol.Baseline, ActivityContext trace = default) =>
        Write(output, correlation, request.Opcode, Status.Ok, request, version, trace);

    /// <summary>Appends one frame, or throws with nothing appended. An answer that would exceed
    /// <see cref="MessageLimits.MaxFrame"/> becomes a bare <see cref="Status.TooLarge"/>: its reader would drop the
    /// connection, and ask again.</summary>
    public static void WriteResponse(FrameBuffer output, uint correlation, Opcode opcode, Response response,
        ushort version = WireProtocol.Baseline) =>
        Write(output, correlation, opcode, response.Status, response, version, default);

    /// <summary>Takes the caller's trace from before the body of a request whose header states one.</summary>
    /// <exception cref="MalformedDataException">The body is shorter than a trace.</exception>
    public static ActivityContext TakeTrace(FrameHeader header, ref ReadOnlyMemory<byte> body)
    {
        if (body.Length < TraceSize)
            throw new MalformedDataException($"A {header.Opcode} ends inside its trace.");
        var span = body.Span;
        var trace = new ActivityContext(ActivityTraceId.CreateFromBytes(span[..16]),
            ActivitySpanId.CreateFromBytes(span.Slice(16, 8)), (ActivityTraceFlags)(span[24] & 1), isRemote: true);
        body = body[TraceSize..];
        return trace;
    }

    /// <summary>Decodes the body of a request; memory in the result is a slice of <paramref name="body"/>.</summary>
    /// <returns>Null for an opcode that the table does not have in that version.</returns>
    /// <exception cref="MalformedDataException">The body is damaged.</exception>
    public static Request? ReadRequest(FrameHeader header, ReadOnlyMemory<byte> body, RequestTable table,
        ushort version = WireProtocol.Baseline)
    {
        if (table.ReaderOf(header.Opcode, version) is not { } read) return null;
        var r = new WireReader(body, version);
        try
        {
            return read(header.Epoch, ref r);
        }
        catch (Exception e) when (e is not MalformedDataException)
        {
            throw Damaged(header, e);
        }
    }

    /// <summary>Decodes the answer to <paramref name="request"/>; memory in the result is a slice of
    /// <paramref name="body"/>.</summary>
    public static Response ReadResponse(Request request, FrameHeader header, ReadOnlyMemory<byte> body,
        ushort version = WireProtocol.Baseline)
    {
        if (header.Opcode != request.Opcode)
            throw new MalformedDataException($"A {header.Opcode} answers a {request.Opcode}.");
        var r = new WireReader(body, version);
        try
        {
            return request.ReadResponse(header.Status, header.Epoch, ref r);
        }
        catch (Exception e) when (e is not MalformedDataException)
        {
            throw Damaged(header, e);
        }
    }

    // Readers of roles from outside may find damage in any way.
    private static MalformedDataException Damaged(FrameHeader header, Exception e) =>
        new($"The body of a {header.Opcode}: {e.Message}");

    private static void Write(FrameBuffer output, uint correlation, Opcode opcode, Status status, Message message,
        ushort version, in ActivityContext trace)
    {
        var start = output.Length;
        try
        {
            var header = output.GetSpan(HeaderSize);
            WriteUInt32LittleEndian(header[4..], correlation);
            WriteInt64LittleEndian(header[8..], message.Epoch.Value);
            header[16] = (byte)opcode;
            header[17] = (byte)status;
            var isTraced = trace.TraceId != default;
            WriteUInt16LittleEndian(header[18..], isTraced ? TraceFlag : (ushort)0);
            output.Advance(HeaderSize);
            if (isTraced) Write(output, trace);
            var w = new WireWriter(output, version);
            message.WriteBody(ref w);
            w.Flush();
            var length = output.Length - start - LengthSize;
            if (length > MessageLimits.MaxFrame)
            {
                if (message is Request) throw CorfuStatusException.Create(Status.TooLarge, $"A {opcode} request");
                output.TruncateTo(start + HeaderSize);
                output.From(start)[17] = (byte)Status.TooLarge;
                length = HeaderSize - LengthSize;
            }

            WriteInt32LittleEndian(output.From(start), length);
        }
        catch
        {
            output.TruncateTo(start);
            throw;
        }
    }

    private static void Write(FrameBuffer output, in ActivityContext trace)
    {
        var span = output.GetSpan(TraceSize);
        trace.TraceId.CopyTo(span[..16]);
        trace.SpanId.CopyTo(span.Slice(16, 8));
        span[24] = (byte)trace.TraceFlags;
        output.Advance(TraceSize);
    }
}

/// <summary>The fixed part of a frame (<see cref="MessageCodec"/> gives the layout).</summary>
public readonly record struct FrameHeader(int BodyLength, uint Correlation, Epoch Epoch, Opcode Opcode, Status Status)
{
    /// <summary>A trace stands before the body of the request.</summary>
    public bool HasTrace { get; init; }

    /// <summary>Parses the first <see cref="MessageCodec.HeaderSize"/> bytes; the length is at most
    /// <see cref="MessageLimits.MaxFrame"/>.</summary>
    public static FrameHeader Parse(ReadOnlySpan<byte> span)
    {
        var length = ReadUInt32LittleEndian(span);
        if (length < MessageCodec.HeaderSize - MessageCodec.LengthSize || length > MessageLimits.MaxFrame)
            throw new MalformedDataException($"A frame states a length of {length}.");
        var epoch = ReadInt64LittleEndian(span[8..]);
        if (epoch < 0) throw new MalformedDataException("A frame states a negative epoch.");
        return new FrameHeader((int)length - (MessageCodec.HeaderSize - MessageCodec.LengthSize),
            ReadUInt32LittleEndian(span[4..]), new Epoch(epoch), (Opcode)span[16], (Status)span[17])
        {
            HasTrace = (span[18] & MessageCodec.TraceFlag) != 0,
        };
    }
}
