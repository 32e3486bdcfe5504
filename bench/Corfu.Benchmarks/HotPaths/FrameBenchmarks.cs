using System.Buffers;
using BenchmarkDotNet.Attributes;
using Corfu.Protocol;

namespace Corfu.Benchmarks;

/// <summary>The frame codec, on both ends of what an append and a read exchange: a token request and its answer, a
/// write and its answer, the answer with a page.</summary>
[HotPath]
public class FrameBenchmarks
{
    private static readonly RequestTable s_requests = new(UnitMessages.AddTo, SequencerMessages.AddTo);

    private readonly FrameBuffer _output = new(4096);
    private readonly TokenRequest _token = new(new Epoch(3), 1, [new StreamId(300), new StreamId(301)]);
    private readonly WriteRequest _write = new(new Epoch(3), new byte[256]);
    private readonly AckResponse _ack = new(Status.Ok, new Epoch(3));
    private readonly ReadRequest _read = new(new Epoch(3), [new LogPosition(7)], ReadDetail.Full);
    private readonly TokenResponse _granted = new(
        Status.Ok, new Epoch(3), new LogPosition(1000), [Tail(300), Tail(301)], []);
    private readonly ReadResponse _page = new(
        Status.Ok, new Epoch(3),
        [new PageResult(new LogPosition(7), PageState.Data, false, default, new byte[256])]);
    private byte[] _tokenFrame = [];
    private byte[] _writeFrame = [];
    private byte[] _grantedFrame = [];
    private byte[] _pageFrame = [];

    [GlobalSetup]
    public void Setup()
    {
        _tokenFrame = Frame(_token);
        _writeFrame = Frame(_write);
        _grantedFrame = Frame(Opcode.Token, _granted);
        _pageFrame = Frame(Opcode.Read, _page);
    }

    [Benchmark]
    public void WriteTokenRequest() => Write(_token);

    [Benchmark]
    public void WriteWriteRequest() => Write(_write);

    [Benchmark]
    public void WriteAck() => Write(Opcode.ConfirmEpoch, _ack);

    [Benchmark]
    public void WriteTokenResponse() => Write(Opcode.Token, _granted);

    [Benchmark]
    public void WritePageResponse() => Write(Opcode.Read, _page);

    [Benchmark]
    public Request? ReadTokenRequest() => Read(_tokenFrame);

    [Benchmark]
    public Request? ReadWriteRequest() => Read(_writeFrame);

    [Benchmark]
    public Response ReadTokenResponse() => Read(_token, _grantedFrame);

    [Benchmark]
    public Response ReadPageResponse() => Read(_read, _pageFrame);

    private void Write(Request request)
    {
        _output.Clear();
        MessageCodec.WriteRequest(_output, 7, request);
    }

    private void Write(Opcode opcode, Response response)
    {
        _output.Clear();
        MessageCodec.WriteResponse(_output, 7, opcode, response);
    }

    private static Request? Read(byte[] frame) =>
        MessageCodec.ReadRequest(FrameHeader.Parse(frame), frame.AsMemory(MessageCodec.HeaderSize), s_requests);

    private static Response Read(Request request, byte[] frame) =>
        MessageCodec.ReadResponse(request, FrameHeader.Parse(frame), frame.AsMemory(MessageCodec.HeaderSize));

    private static byte[] Frame(Opcode opcode, Response response)
    {
        var output = new FrameBuffer();
        MessageCodec.WriteResponse(output, 7, opcode, response);
        return output.WrittenSpan.ToArray();
    }

    private static StreamTail Tail(ulong stream) => new(
        new StreamId(stream), [new LogPosition(990), new LogPosition(900), new LogPosition(500), new LogPosition(10)]);

    private static byte[] Frame(Request request)
    {
        var output = new FrameBuffer();
        MessageCodec.WriteRequest(output, 7, request);
        return output.WrittenSpan.ToArray();
    }
}
