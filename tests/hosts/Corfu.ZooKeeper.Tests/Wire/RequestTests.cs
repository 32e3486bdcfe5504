using CsCheck;

namespace Corfu.ZooKeeper.Tests.Wire;

public sealed class RequestTests
{
    private const int Programs = 2_000;

    [Fact]
    public void Request_that_is_written_is_read_again()
    {
        Gen.Select(Requests.All, Gen.Int).Sample((request, xid) =>
        {
            var frame = Requests.Encode(xid, request);
            var read = Requests.Decode(frame, out var head);
            // Records with arrays are compared by their bytes.
            return read is not null && head == new RequestHead(xid, request.Code)
                && frame.AsSpan().SequenceEqual(Requests.Encode(xid, read));
        }, iter: Programs, threads: 1);
    }

    [Fact]
    public void Bytes_behind_the_last_field_are_ignored()
    {
        Requests.All.Sample(request =>
        {
            var frame = Requests.Encode(1, request);
            var read = Requests.Decode([.. frame, 1, 2, 3], out _);
            return read is not null && frame.AsSpan().SequenceEqual(Requests.Encode(1, read));
        }, iter: Programs, threads: 1);
    }

    [Fact]
    public void Prefix_of_a_request_is_malformed()
    {
        Gen.Select(Requests.All, Gen.Int).Sample((request, cut) =>
        {
            var frame = Requests.Encode(1, request);
            // Requests without fields, and credentials that are missing, have no prefix that differs.
            if (request is PlainRequest or AuthRequest || request.Code == OpCode.CloseSession) return true;
            var length = (int)((uint)cut % (uint)frame.Length);
            return Requests.Decode(frame.AsSpan(0, length), out _) is null;
        }, iter: Programs, threads: 1);
    }

    [Fact]
    public void Garbage_is_read_or_malformed_and_does_not_throw()
    {
        var codes = Enum.GetValues<OpCode>();
        Gen.Select(Gen.Byte.Array[0, 120], Gen.Int[0, codes.Length - 1]).Sample((bytes, index) =>
        {
            var reader = new JuteReader(bytes);
            var request = RequestReader.ReadBody(codes[index], ref reader);
            Assert.Equal(reader.IsMalformed, request is null);
            _ = ConnectRequest.Read(bytes);
            _ = ConnectResponse.Read(bytes);
            reader = new JuteReader(bytes);
            _ = ReplyReader.ReadBody(codes[index], new ReplyHead(1, 1, ErrorCode.Ok), ref reader);
            reader = new JuteReader(bytes);
            _ = ReplyReader.ReadEvent(1, ref reader);
        }, iter: Programs, threads: 1);
    }

    [Fact]
    public void Request_with_a_changed_byte_does_not_throw()
    {
        Gen.Select(Requests.All, Gen.Int, Gen.Byte).Sample((request, place, value) =>
        {
            var frame = Requests.Encode(1, request);
            frame[(uint)place % (uint)frame.Length] = value;
            var read = Requests.Decode(frame, out var head);
            Assert.True(read is null || read.Code == head.Code);
        }, iter: Programs, threads: 1);
    }

    [Theory]
    [InlineData(13)]
    [InlineData(20)]
    [InlineData(-10)]
    [InlineData(0)]
    public void Types_that_no_client_may_send_are_told(int type) => Assert.False(OpCodes.IsRequest((OpCode)type));

    [Fact]
    public void Multi_with_a_part_of_another_type_is_malformed()
    {
        using var writer = new JuteWriter();
        MultiCodec.WriteRequestHead(writer, OpCode.Exists);
        writer.WriteString("/a");
        writer.WriteBoolean(false);
        MultiCodec.WriteEnd(writer);
        var reader = new JuteReader(writer.Written);
        Assert.Null(RequestReader.ReadBody(OpCode.Multi, ref reader));
        Assert.True(reader.IsMalformed);
    }

    [Fact]
    public void Path_that_is_null_is_malformed()
    {
        using var writer = new JuteWriter();
        writer.WriteNull();
        writer.WriteBoolean(false);
        var reader = new JuteReader(writer.Written);
        Assert.Null(RequestReader.ReadBody(OpCode.Exists, ref reader));
    }

    [Fact]
    public void Credentials_are_not_in_the_text_of_a_request() =>
        Assert.DoesNotContain("115", new AuthRequest("digest", [115, 115]).ToString(), StringComparison.Ordinal);
}
