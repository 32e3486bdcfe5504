using System.Buffers;

namespace Corfu.ZooKeeper.Tests.Wire;

public sealed class JuteTests
{
    [Fact]
    public void Null_and_empty_differ()
    {
        using var writer = new JuteWriter();
        writer.WriteBuffer((ReadOnlyMemory<byte>?)null);
        writer.WriteBuffer(ReadOnlySpan<byte>.Empty);
        writer.WriteString(null);
        writer.WriteString("");
        var reader = new JuteReader(writer.Written);
        Assert.Null(reader.ReadBuffer());
        Assert.Empty(Assert.IsType<byte[]>(reader.ReadBuffer()));
        Assert.Null(reader.ReadString());
        Assert.Equal("", reader.ReadString());
        Assert.False(reader.IsMalformed);
        Assert.Equal(0, reader.Left);
    }

    [Theory]
    [InlineData(-2)]
    [InlineData(int.MinValue)]
    [InlineData(2)]
    [InlineData(int.MaxValue)]
    public void Length_that_is_not_left_is_malformed_and_so_is_the_rest(int length)
    {
        using var writer = new JuteWriter();
        writer.WriteInt32(length);
        writer.WriteBoolean(true);
        var reader = new JuteReader(writer.Written);
        Assert.Null(reader.ReadBuffer());
        Assert.True(reader.IsMalformed);
        Assert.Equal(0, reader.ReadInt32());
        Assert.False(reader.ReadBoolean());
        Assert.Empty(reader.ReadStrings());
    }

    [Theory]
    [InlineData(int.MaxValue)]
    [InlineData(1 << 20)]
    public void Count_of_more_elements_than_fit_takes_no_memory(int count)
    {
        using var writer = new JuteWriter();
        writer.WriteInt32(count);
        writer.WriteInt64(0);
        Assert.True(IsMalformed(writer.Written, out var allocated));
        Assert.True(allocated < 10_000, $"{allocated} bytes were allocated.");
    }

    [Fact]
    public void Bytes_that_are_no_text_become_a_character_that_no_path_may_have()
    {
        using var writer = new JuteWriter();
        writer.WriteBuffer([(byte)'/', 0xFF, 0xC0]);
        var reader = new JuteReader(writer.Written);
        var path = reader.ReadString();
        Assert.False(reader.IsMalformed);
        Assert.False(NodePath.IsValid(path));
    }

    [Fact]
    public void Stat_has_68_bytes_in_the_order_of_the_protocol()
    {
        var stat = new NodeStat(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
        using var writer = new JuteWriter();
        writer.WriteStat(stat);
        Assert.Equal(68, writer.Length);
        var reader = new JuteReader(writer.Written);
        Assert.Equal(stat, reader.ReadStat());
        Assert.Equal(3, writer.Written[^1]);
    }

    [Fact]
    public void Frames_in_many_pieces_come_out_whole()
    {
        using var writer = new JuteWriter();
        for (var i = 0; i < 50; i++)
        {
            writer.BeginFrame();
            for (var j = 0; j < i; j++) writer.WriteInt32(j);
            writer.EndFrame();
        }

        var input = Pieces.Of(writer.Written, 3);
        for (var i = 0; i < 50; i++)
        {
            Assert.Equal(FrameState.Whole, Frames.Take(ref input, out var frame));
            using var whole = RentedFrame.Of(frame);
            Assert.Equal(i * sizeof(int), whole.Span.Length);
            var reader = new JuteReader(whole.Span);
            for (var j = 0; j < i; j++) Assert.Equal(j, reader.ReadInt32());
        }

        Assert.Equal(FrameState.Partial, Frames.Take(ref input, out _));
        Assert.Equal(0, input.Length);
    }

    [Theory]
    [InlineData(0xFFFFF, false)]
    [InlineData(0x100000, true)]
    [InlineData(-1, true)]
    [InlineData(int.MinValue, true)]
    [InlineData(int.MaxValue, true)]
    public void Length_above_the_limit_or_below_0_ends_the_connection(int length, bool isMalformed)
    {
        using var writer = new JuteWriter();
        writer.WriteInt32(length);
        var input = new ReadOnlySequence<byte>(writer.WrittenMemory);
        Assert.Equal(isMalformed ? FrameState.Malformed : FrameState.Partial, Frames.Take(ref input, out _));
        Assert.Equal(sizeof(int), input.Length);
    }

    private static bool IsMalformed(ReadOnlySpan<byte> bytes, out long allocated)
    {
        var before = GC.GetAllocatedBytesForCurrentThread();
        var strings = new JuteReader(bytes);
        strings.ReadStrings();
        var acl = new JuteReader(bytes);
        acl.ReadAcl();
        allocated = GC.GetAllocatedBytesForCurrentThread() - before;
        return strings.IsMalformed && acl.IsMalformed;
    }
}
