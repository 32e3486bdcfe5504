using System.Buffers;
using System.Buffers.Binary;

namespace Corfu.Protocol;

/// <summary>
/// Frames: length (4, of what follows it), correlation (4), epoch (8), opcode (1), status (1, zero in requests), reserved (2), body.
/// All little-endian. Answers may come in any order; correlation pairs them.
/// </summary>
public static class MessageCodec
{
    public const int LengthSize = 4;

    /// <summary>Bytes of a frame before its body, the length field included.</summary>
    public const int HeaderSize = 20;

    public static void WriteRequest(IBufferWriter<byte> output, uint correlation, Request request) =>
        Write(output, correlation, request.Epoch, request.Opcode, Status.Ok, request, null);

    public static void WriteResponse(IBufferWriter<byte> output, uint correlation, Opcode opcode, Response response) =>
        Write(output, correlation, response.Epoch, opcode, response.Status, null, response);

    /// <summary>
    /// Decodes the body of a request. Memory in the result is a slice of <paramref name="body"/>. Throws
    /// <see cref="MalformedDataException"/> on damage; null for an opcode that is not known.
    /// </summary>
    public static Request? ReadRequest(FrameHeader header, ReadOnlyMemory<byte> body)
    {
        var r = new WireReader(body);
        var epoch = header.Epoch;
        Request? request = header.Opcode switch
        {
            Opcode.Write => new WriteRequest(epoch, r.RawBytes(r.Remaining)),
            Opcode.Complete => new CompleteRequest(epoch, r.RawBytes(r.Remaining)),
            Opcode.Fill => new FillRequest(epoch, r.RawBytes(r.Remaining)),
            Opcode.Read => ReadRequestOf(epoch, ref r),
            Opcode.Trim => TrimRequest.Read(epoch, ref r),
            Opcode.TrimPrefix => TrimPrefixRequest.Read(epoch, ref r),
            Opcode.Seal => new SealRequest(epoch),
            Opcode.Install => InstallRequest.Read(epoch, ref r),
            Opcode.ConfirmEpoch => new ConfirmEpochRequest(epoch),
            Opcode.StreamTails => StreamTailsRequest.Read(epoch, ref r),
            Opcode.UnitInfo => new UnitInfoRequest(epoch),
            Opcode.Repair => new RepairRequest(epoch, r.RawBytes(r.Remaining)),
            Opcode.CompleteMany => CompleteManyRequest.Read(epoch, ref r),
            Opcode.ListStreamTails => ListStreamTailsRequest.Read(epoch, ref r),
            Opcode.TakeStreamTails => TakeStreamTailsRequest.Read(epoch, ref r),
            Opcode.Bootstrap => BootstrapRequest.Read(epoch, ref r),
            Opcode.Token => TokenRequest.Read(epoch, ref r),
            Opcode.Tail => TailRequest.Read(epoch, ref r),
            Opcode.LoadStreams => LoadStreamsRequest.Read(epoch, ref r),
            Opcode.Grants => GrantsRequest.Read(epoch, ref r),
            Opcode.SequencerInfo => new SequencerInfoRequest(epoch),
            Opcode.Advance => AdvanceRequest.Read(epoch, ref r),
            Opcode.Prepare => PrepareRequest.Read(epoch, ref r),
            Opcode.Accept => AcceptRequest.Read(epoch, ref r),
            Opcode.Decided => DecidedRequest.Read(epoch, ref r),
            Opcode.Latest => new LatestRequest(epoch),
            Opcode.ReadSlot => new ReadSlotRequest(epoch),
            Opcode.Watch => new WatchRequest(epoch),
            Opcode.Ping => PingRequest.Read(epoch, ref r),
            Opcode.Opinion => OpinionRequest.Read(epoch, ref r),
            Opcode.AgentInfo => new AgentInfoRequest(epoch),
            Opcode.SetAutomation => SetAutomationRequest.Read(epoch, ref r),
            _ => null,
        };
        if (request is not null) r.End();
        return request;
    }

    /// <summary>Decodes the answer to <paramref name="request"/>. Memory in the result is a slice of <paramref name="body"/>.</summary>
    public static Response ReadResponse(Request request, FrameHeader header, ReadOnlyMemory<byte> body)
    {
        if (header.Opcode != request.Opcode) throw new MalformedDataException($"A {header.Opcode} answers a {request.Opcode}.");
        var r = new WireReader(body);
        var response = request.ReadResponse(header.Status, header.Epoch, ref r);
        r.End();
        return response;
    }

    private static ReadRequest ReadRequestOf(Epoch epoch, ref WireReader r) => Protocol.ReadRequest.Read(epoch, ref r);

    private static void Write(
        IBufferWriter<byte> output, uint correlation, Epoch epoch, Opcode opcode, Status status, Request? request, Response? response)
    {
        var body = Scratch.Rent();
        try
        {
            var w = new WireWriter(body);
            request?.WriteBody(ref w);
            response?.WriteBody(ref w);
            w.Flush();
            var total = HeaderSize + body.WrittenCount;
            var span = output.GetSpan(total);
            BinaryPrimitives.WriteInt32LittleEndian(span, total - LengthSize);
            BinaryPrimitives.WriteUInt32LittleEndian(span[4..], correlation);
            BinaryPrimitives.WriteInt64LittleEndian(span[8..], epoch.Value);
            span[16] = (byte)opcode;
            span[17] = (byte)status;
            BinaryPrimitives.WriteUInt16LittleEndian(span[18..], 0);
            body.WrittenSpan.CopyTo(span[HeaderSize..]);
            output.Advance(total);
        }
        finally
        {
            Scratch.Return(body);
        }
    }

    /// <summary>Body buffers, kept per thread: a body's length must be known before its frame's header is written.</summary>
    private static class Scratch
    {
        private const int LargestKept = 4 << 20;

        [ThreadStatic]
        private static ArrayBufferWriter<byte>? _cached;

        public static ArrayBufferWriter<byte> Rent()
        {
            var buffer = _cached ?? new ArrayBufferWriter<byte>(512);
            _cached = null;
            return buffer;
        }

        public static void Return(ArrayBufferWriter<byte> buffer)
        {
            if (buffer.Capacity > LargestKept) return;
            buffer.ResetWrittenCount();
            _cached = buffer;
        }
    }
}
