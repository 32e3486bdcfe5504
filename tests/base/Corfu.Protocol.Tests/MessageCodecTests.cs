using Corfu.Protocol;

namespace Corfu.Protocol.Tests;

public sealed class MessageCodecTests
{
    [Fact]
    public void Every_opcode_has_a_sample()
    {
        var sampled = SampleMessages.Requests().Select(r => r.Opcode).Order();
        Assert.Equal(Enum.GetValues<Opcode>().Where(o => o != Opcode.None).Order(), sampled);
    }

    [Fact]
    public void Every_request_round_trips_to_the_same_bytes()
    {
        foreach (var request in SampleMessages.Requests())
        {
            var frame = SampleMessages.Frame(request);
            var header = FrameHeader.Parse(frame);
            Assert.Equal(frame.Length - MessageCodec.HeaderSize, header.BodyLength);
            Assert.Equal((17u, request.Epoch, request.Opcode), (header.Correlation, header.Epoch, header.Opcode));
            var back = MessageCodec.ReadRequest(
                header, frame.AsMemory(MessageCodec.HeaderSize), SampleMessages.Table, VersionOf(request));
            Assert.NotNull(back);
            Assert.Equal(request.GetType(), back.GetType());
            Assert.Equal(Convert.ToHexString(frame), Convert.ToHexString(SampleMessages.Frame(back)));
        }
    }

    [Fact]
    public void Every_response_round_trips_to_the_same_bytes()
    {
        foreach (var (request, response) in SampleMessages.Responses())
        {
            var frame = SampleMessages.Frame(request.Opcode, response);
            var back = MessageCodec.ReadResponse(request, FrameHeader.Parse(frame),
                frame.AsMemory(MessageCodec.HeaderSize));
            Assert.Equal(response.GetType(), back.GetType());
            Assert.Equal(response.Status, back.Status);
            Assert.Equal(Convert.ToHexString(frame), Convert.ToHexString(SampleMessages.Frame(request.Opcode, back)));
        }
    }

    [Fact]
    public void Golden_bytes_of_a_token_request()
    {
        Assert.Equal(
            "2A000000" + "11000000" + "0500000000000000" + "21" + "00" + "0000"
            + "02000000" + "1E00" + "02000000" + "0001000000000000" + "2C01000000000000",
            Convert.ToHexString(SampleMessages.Frame(SampleMessages.Requests().Single(r => r.Opcode == Opcode.Token))));
    }

    /// <summary>A later version's fields stand behind those of this one.</summary>
    [Fact]
    public void Later_fields_at_the_end_of_a_body_are_passed_over()
    {
        foreach (var request in SampleMessages.Requests())
        {
            var frame = SampleMessages.Frame(request);
            byte[] longer = [.. frame[MessageCodec.HeaderSize..], 1, 2, 3];
            var back = MessageCodec.ReadRequest(
                FrameHeader.Parse(frame) with { BodyLength = longer.Length }, longer, SampleMessages.Table,
                VersionOf(request));
            Assert.Equal(Convert.ToHexString(frame), Convert.ToHexString(SampleMessages.Frame(back!)));
        }

        foreach (var (request, response) in SampleMessages.Responses())
        {
            var frame = SampleMessages.Frame(request.Opcode, response);
            byte[] longer = [.. frame[MessageCodec.HeaderSize..], 1, 2, 3];
            var back = MessageCodec.ReadResponse(request, FrameHeader.Parse(frame) with { BodyLength = longer.Length },
                longer);
            Assert.Equal(Convert.ToHexString(frame), Convert.ToHexString(SampleMessages.Frame(request.Opcode, back)));
        }
    }

    [Fact]
    public void Tails_of_further_streams_are_told_from_version_2_on()
    {
        var request = new TokenRequest(SampleMessages.Epoch, 1, [new StreamId(300)], Besides: [new StreamId(301)]);
        var tail = new StreamTail(new StreamId(301), [new LogPosition(7)]);
        var response = new TokenResponse(Status.Ok, SampleMessages.Epoch, new LogPosition(8), [], [])
        {
            Besides = [tail],
        };
        foreach (var version in new[] { WireProtocol.Baseline, WireProtocol.Version2 })
        {
            var frame = new FrameBuffer();
            MessageCodec.WriteRequest(frame, 1, request, version);
            var asked = (TokenRequest)MessageCodec.ReadRequest(FrameHeader.Parse(frame.WrittenSpan),
                frame.WrittenMemory[MessageCodec.HeaderSize..], SampleMessages.Table, version)!;
            var answer = new FrameBuffer();
            MessageCodec.WriteResponse(answer, 1, Opcode.Token, response, version);
            var told = (TokenResponse)MessageCodec.ReadResponse(request, FrameHeader.Parse(answer.WrittenSpan),
                answer.WrittenMemory[MessageCodec.HeaderSize..], version);
            Assert.Equal(version == WireProtocol.Baseline ? [] : request.Besides, asked.Besides);
            Assert.Equal(version == WireProtocol.Baseline ? [] : [tail], told.Besides);
        }
    }

    [Fact]
    public void Token_of_a_build_of_version_2_without_the_field_is_read()
    {
        var frame = SampleMessages.Frame(new TokenRequest(SampleMessages.Epoch, 1, [new StreamId(300)]));
        var body = frame.AsMemory(MessageCodec.HeaderSize);
        var request = (TokenRequest)MessageCodec.ReadRequest(
            FrameHeader.Parse(frame), body, SampleMessages.Table, WireProtocol.Version2)!;
        Assert.Empty(request.Besides);
        frame = SampleMessages.Frame(Opcode.Token,
            new TokenResponse(Status.Ok, SampleMessages.Epoch, new LogPosition(8), [], []));
        var response = (TokenResponse)MessageCodec.ReadResponse(
            request, FrameHeader.Parse(frame), frame.AsMemory(MessageCodec.HeaderSize), WireProtocol.Version2);
        Assert.Empty(response.Besides);
    }

    [Fact]
    public void Body_that_cannot_be_written_leaves_no_bytes_behind()
    {
        var output = new FrameBuffer();
        MessageCodec.WriteRequest(output, 1, new ConfirmEpochRequest(SampleMessages.Epoch));
        var before = Convert.ToHexString(output.WrittenSpan);
        var large = new WriteRequest(SampleMessages.Epoch, new byte[MessageLimits.MaxFrame]);
        Assert.Throws<EntryTooLargeException>(() => MessageCodec.WriteRequest(output, 2, large));
        Assert.Equal(before, Convert.ToHexString(output.WrittenSpan));
    }

    [Theory]
    [InlineData(0u)]
    [InlineData(15u)]
    [InlineData((uint)MessageLimits.MaxFrame + 1)]
    [InlineData(uint.MaxValue)]
    public void A_frame_length_out_of_bounds_is_refused(uint length)
    {
        var frame = SampleMessages.Frame(new ConfirmEpochRequest(SampleMessages.Epoch));
        BitConverter.TryWriteBytes(frame, length);
        Assert.Throws<MalformedDataException>(() => FrameHeader.Parse(frame));
    }

    [Fact]
    public void Unknown_opcode_decodes_to_null() =>
        Assert.Null(MessageCodec.ReadRequest(
            new FrameHeader(0, 1, Epoch.First, (Opcode)200, Status.Ok), default, SampleMessages.Table));

    /// <summary>The first version that has the request. Samples are written in the baseline.</summary>
    private static ushort VersionOf(Request request) =>
        request.Opcode is Opcode.Deny or Opcode.ProcessInfo ? WireProtocol.Version2 : WireProtocol.Baseline;
}
