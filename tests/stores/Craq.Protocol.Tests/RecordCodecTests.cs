namespace Craq.Protocol.Tests;

public sealed class RecordCodecTests
{
    [Fact]
    public void Record_comes_back_whole()
    {
        var record = SampleMessages.Record();
        var bytes = RecordCodec.Encode(record);
        var back = RecordCodec.Decode(bytes);
        Assert.Equal((record.Chain, record.Kind, record.Version, record.Previous, record.Transaction),
            (back.Chain, back.Kind, back.Version, back.Previous, back.Transaction));
        Assert.Equal(record.Locked, back.Locked);
        Assert.Equal(record.Origins.Select(o => (o.Id, Convert.ToHexString(o.Result.Span))),
            back.Origins.Select(o => (o.Id, Convert.ToHexString(o.Result.Span))));
        Assert.Equal(record.Writes.Select(Text), back.Writes.Select(Text));
        Assert.Equal(bytes, RecordCodec.Encode(back));
        Assert.Equal((record.Chain, record.Version, record.Previous),
            (RecordCodec.ChainOf(bytes), RecordCodec.VersionOf(bytes), RecordCodec.PreviousOf(bytes)));
    }

    [Fact]
    public void Any_flipped_bit_is_noticed()
    {
        var bytes = RecordCodec.Encode(SampleMessages.Record());
        for (var bit = 0; bit < bytes.Length * 8; bit++)
        {
            var damaged = bytes.AsSpan().ToArray();
            damaged[bit / 8] ^= (byte)(1 << (bit % 8));
            Assert.Throws<MalformedDataException>(() => RecordCodec.Decode(damaged));
        }
    }

    [Fact]
    public void Damaged_value_leaves_the_heads_readable()
    {
        var bytes = RecordCodec.Encode(SampleMessages.Record());
        bytes[^1] ^= 1;
        Assert.Equal(3, RecordCodec.Decode(bytes, valuesChecked: false).Writes.Length);
    }

    [Fact]
    public void Heads_are_told_from_a_whole_record()
    {
        var bytes = RecordCodec.Encode(SampleMessages.Record());
        var heads = bytes.AsSpan(0, RecordCodec.HeadsLengthOf(bytes)).ToArray();
        Assert.Equal(bytes.Length - 3, heads.Length);
        Assert.Equal(bytes.Length, RecordCodec.LengthOf(heads));
        Assert.Equal(RecordCodec.VersionOf(bytes), RecordCodec.VersionOf(heads));
        Assert.True(RecordCodec.AreHeadsAlone(heads));
        Assert.False(RecordCodec.AreHeadsAlone(bytes));
        Assert.Throws<MalformedDataException>(() => RecordCodec.Decode(heads));
        for (var bit = 0; bit < heads.Length * 8; bit++)
        {
            heads[bit / 8] ^= (byte)(1 << (bit % 8));
            Assert.False(RecordCodec.AreHeadsAlone(heads));
            heads[bit / 8] ^= (byte)(1 << (bit % 8));
        }

        var none = RecordCodec.Encode(SampleMessages.Record() with { Writes = [] });
        Assert.Equal(none.Length, RecordCodec.HeadsLengthOf(none));
        Assert.False(RecordCodec.AreHeadsAlone(none));
    }

    [Fact]
    public void Record_has_the_recorded_bytes()
    {
        var recorded = File.ReadAllText(Path.Combine(AppContext.BaseDirectory, "Golden", "record.txt")).Trim();
        Assert.Equal(recorded, Convert.ToHexString(RecordCodec.Encode(SampleMessages.Record())));
    }

    private static string Text(ObjectWrite write) =>
        $"{write.Key} {write.Flags} {write.Expiry} "
        + (write.Value is { } value ? Convert.ToHexString(value.Span) : "deleted");
}
