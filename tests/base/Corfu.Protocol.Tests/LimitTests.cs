using System.Buffers;
using System.Buffers.Binary;
using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Protocol.Tests;

/// <summary>Bounds of what one message may carry.</summary>
public sealed class LimitTests
{
    [Fact]
    public void A_host_name_longer_than_253_bytes_is_neither_written_nor_read()
    {
        var longest = PingFrom(new string('h', MessageLimits.MaxHost));
        var frame = SampleMessages.Frame(longest);
        Assert.Equal(longest, Read(frame));
        Assert.Throws<ArgumentException>(() => SampleMessages.Frame(PingFrom(new string('h', 254))));

        // The length of the host stands behind the identity.
        BinaryPrimitives.WriteInt32LittleEndian(frame.AsSpan(MessageCodec.HeaderSize + 16), MessageLimits.MaxHost + 1);
        Assert.Throws<MalformedDataException>(() => Read(frame));
        Assert.False(NodeEndpoint.TryParse(new string('h', 254) + ":1", out _));
        Assert.True(NodeEndpoint.TryParse(new string('h', 253) + ":1", out _));
    }

    [Fact]
    public void Error_of_any_reader_is_damage_of_the_body()
    {
        var table = new RequestTable(static table => table.Add(
            (Opcode)200, static (_, ref _) => throw new ArgumentOutOfRangeException("date"),
            lowest: AccessRole.Client));
        var header = FrameHeader.Parse(SampleMessages.Frame(new SealRequest(SampleMessages.Epoch))) with
        {
            Opcode = (Opcode)200,
        };
        Assert.Throws<MalformedDataException>(() => MessageCodec.ReadRequest(header, default, table));
    }

    [Fact]
    public void A_text_for_people_is_cut_between_two_characters()
    {
        var request = new SuspicionRequest(SampleMessages.Epoch, NodeRole.Unit, SampleMessages.Node(1));
        var why = new string('a', MessageLimits.MaxReason - 1) + "\u00e9\u00e9";
        var frame = SampleMessages.Frame(
            Opcode.Suspicion, new SuspicionResponse(Status.Ok, SampleMessages.Epoch, true, NodeHealth.Alive, why));
        var read = (SuspicionResponse)MessageCodec.ReadResponse(request, FrameHeader.Parse(frame), BodyOf(frame));
        Assert.Equal(why[..^2], read.Why);

        byte[] longer = [1, 1, .. LengthOf(MessageLimits.MaxReason + 1), .. new byte[MessageLimits.MaxReason + 1]];
        Assert.Throws<MalformedDataException>(
            () => MessageCodec.ReadResponse(request, FrameHeader.Parse(frame), longer));
    }

    /// <summary>Proposers compare what was decided with what they proposed: both are cut alike.</summary>
    [Fact]
    public void Projection_with_a_long_reason_equals_the_decoded_one()
    {
        var p = SampleMessages.Projection(SampleMessages.Epoch);
        var wordy = new Projection(p.Cluster, p.Epoch, p.Sequencer, p.Start, p.TrimMark, p.Segments, p.Units,
            p.Acceptors, new string('r', 5000));
        Assert.Equal(MessageLimits.MaxReason, wordy.Reason.Length);
        Assert.Equal(wordy, ProjectionCodec.Decode(ProjectionCodec.Encode(wordy)));
    }

    [Fact]
    public void A_token_for_more_streams_than_an_entry_has_is_refused()
    {
        ImmutableArray<StreamId> streams =
            [.. Enumerable.Range(0, EntryLimits.MaxStreams + 1).Select(i => new StreamId(1000 + (ulong)i))];
        var frame = SampleMessages.Frame(new TokenRequest(SampleMessages.Epoch, 1, streams));
        Assert.Throws<MalformedDataException>(() => Read(frame));
    }

    /// <summary>The reader of such an answer would drop the connection, and ask again.</summary>
    [Fact]
    public void An_answer_larger_than_a_frame_is_a_status()
    {
        var output = new FrameBuffer();
        var request = new ReadRequest(SampleMessages.Epoch, [new LogPosition(1)], ReadDetail.Full);
        var page = new PageResult(new LogPosition(1), PageState.Data, false, default,
            new byte[MessageLimits.MaxFrame]);
        MessageCodec.WriteResponse(
            output, 7, Opcode.Read, new ReadResponse(Status.Ok, SampleMessages.Epoch, [page]));
        var header = FrameHeader.Parse(output.WrittenSpan);
        Assert.Equal(new FrameHeader(0, 7, SampleMessages.Epoch, Opcode.Read, Status.TooLarge), header);
        Assert.Equal(MessageCodec.HeaderSize, output.Length);
        Assert.Equal(Status.TooLarge, MessageCodec.ReadResponse(request, header, default).Status);
    }

    [Fact]
    public void Every_answer_may_be_a_bare_status()
    {
        foreach (var request in SampleMessages.Requests())
        {
            var header = new FrameHeader(0, 7, SampleMessages.Epoch, request.Opcode, Status.TooLarge);
            Assert.Equal(Status.TooLarge, MessageCodec.ReadResponse(request, header, default).Status);
        }
    }

    /// <summary>Counted before they are built: a byte each would become an object.</summary>
    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public void More_chains_than_bytes_follow_are_refused(byte replicas)
    {
        var bytes = WithChains(60_000, new byte[60_000].Select(_ => replicas).ToArray());
        var before = GC.GetAllocatedBytesForCurrentThread();
        Assert.Throws<MalformedDataException>(() => ProjectionCodec.Decode(bytes));
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 200_000);
    }

    [Fact]
    public void A_chain_without_a_replica_is_refused() =>
        Assert.Throws<MalformedDataException>(() => ProjectionCodec.Decode(WithChains(1, [0, 0, 0])));

    [Fact]
    public void A_projection_larger_than_two_in_one_answer_is_refused()
    {
        // Two units in 900 chains of each of 1,000 segments.
        byte[] chains = [.. Enumerable.Repeat<byte[]>([1, 0, 0], 900).SelectMany(c => c)];
        var output = new ArrayBufferWriter<byte>();
        output.Write(WithChains(0, [])[..^14]);
        output.Write(LengthOf(1000));
        for (var i = 0; i < 1000; i++)
        {
            var from = new byte[10];
            BinaryPrimitives.WriteInt64LittleEndian(from, i);
            BinaryPrimitives.WriteUInt16LittleEndian(from.AsSpan(8), 900);
            output.Write(from);
            output.Write(chains);
        }

        var e = Assert.Throws<MalformedDataException>(() => ProjectionCodec.Decode(output.WrittenMemory));
        Assert.Contains("too large", e.Message, StringComparison.Ordinal);
    }

    private static PingRequest PingFrom(string host) =>
        new(SampleMessages.Epoch, new NodeAddress(new NodeId(SampleMessages.Id(1)), new NodeEndpoint(host, 1)), false,
            default);

    private static Request? Read(byte[] frame) =>
        MessageCodec.ReadRequest(FrameHeader.Parse(frame), BodyOf(frame), SampleMessages.Table);

    private static ReadOnlyMemory<byte> BodyOf(byte[] frame) => frame.AsMemory(MessageCodec.HeaderSize);

    private static byte[] LengthOf(int length)
    {
        var bytes = new byte[4];
        BinaryPrimitives.WriteInt32LittleEndian(bytes, length);
        return bytes;
    }

    // A projection whose only segment begins with this count and these bytes.
    private static byte[] WithChains(ushort count, byte[] chains)
    {
        var p = SampleMessages.Projection(SampleMessages.Epoch);
        var small = new Projection(p.Cluster, p.Epoch, p.Sequencer, LogPosition.Zero, LogPosition.Zero,
            [new Segment(LogPosition.Zero, null, [new Chain([new Replica(SampleMessages.Units[0].Id)])])],
            [SampleMessages.Units[0]], [SampleMessages.Node(1)], "why");
        var bytes = ProjectionCodec.Encode(small);

        // The last five bytes are the count of chains and the chain.
        bytes = [.. bytes[..^5], 0, 0, .. chains];
        BinaryPrimitives.WriteUInt16LittleEndian(bytes.AsSpan(bytes.Length - chains.Length - 2), count);
        return bytes;
    }
}
