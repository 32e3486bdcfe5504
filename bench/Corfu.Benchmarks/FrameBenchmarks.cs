using System.Buffers;
using BenchmarkDotNet.Attributes;
using Corfu.Protocol;

namespace Corfu.Benchmarks;

/// <summary>The frame codec, on both ends of a token request and a write.</summary>
[MemoryDiagnoser]
public class FrameBenchmarks
{
    private readonly FrameBuffer _output = new(4096);
    private readonly TokenRequest _token = new(new Epoch(3), 1, [new StreamId(300), new StreamId(301)]);
    private readonly WriteRequest _write = new(new Epoch(3), new byte[256]);
    private readonly AckResponse _ack = new(Status.Ok, new Epoch(3));
    private byte[] _tokenFrame = [];
    private byte[] _writeFrame = [];

    [GlobalSetup]
    public void Setup()
    {
        _tokenFrame = Frame(_token);
        _writeFrame = Frame(_write);
    }

    [Benchmark]
    public void WriteTokenRequest() => Write(_token);

    [Benchmark]
    public void WriteWriteRequest() => Write(_write);

    [Benchmark]
    public void WriteAck()
    {
        _output.Clear();
        MessageCodec.WriteResponse(_output, 7, Opcode.ConfirmEpoch, _ack);
    }

    [Benchmark]
    public Request? ReadTokenRequest() => Read(_tokenFrame);

    [Benchmark]
    public Request? ReadWriteRequest() => Read(_writeFrame);

    private void Write(Request request)
    {
        _output.Clear();
        MessageCodec.WriteRequest(_output, 7, request);
    }

    private static Request? Read(byte[] frame) =>
        MessageCodec.ReadRequest(FrameHeader.Parse(frame), frame.AsMemory(MessageCodec.HeaderSize));

    private static byte[] Frame(Request request)
    {
        var output = new FrameBuffer();
        MessageCodec.WriteRequest(output, 7, request);
        return output.WrittenSpan.ToArray();
    }
}
