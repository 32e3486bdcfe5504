namespace Craq.Protocol.Tests;

public sealed class ObjectVersionTests
{
    [Fact]
    public void Later_epoch_stands_above_all_versions_of_earlier_ones()
    {
        var last = new ObjectVersion((4L << 40) | ObjectVersion.MaxCounter);
        Assert.True(last.IsLast);
        Assert.True(ObjectVersion.First(new Epoch(5)) > last);
        Assert.Throws<InvalidOperationException>(() => last.Next());
    }

    [Fact]
    public void Version_prints_the_epoch_and_the_counter()
    {
        Assert.Equal("e5:1", ObjectVersion.First(new Epoch(5)).ToString());
        Assert.Equal("e5:2", ObjectVersion.First(new Epoch(5)).Next().ToString());
        Assert.Equal("none", ObjectVersion.None.ToString());
    }

    [Theory]
    [InlineData(0)]
    [InlineData(ObjectVersion.MaxEpoch + 1)]
    public void Epoch_outside_the_range_has_no_version(long epoch) =>
        Assert.Throws<ArgumentOutOfRangeException>(() => ObjectVersion.First(new Epoch(epoch)));

    [Theory]
    [InlineData(0)]
    [InlineData(ObjectKey.MaxLength + 1)]
    public void Key_of_another_length_is_refused(int length) =>
        Assert.Throws<ArgumentException>(() => new ObjectKey(new byte[length]));

    [Fact]
    public void Keys_with_equal_bytes_are_equal()
    {
        ObjectKey a = "user:1", b = new("user:1"u8.ToArray());
        Assert.True(a == b);
        Assert.Equal(a.GetHashCode(), b.GetHashCode());
        Assert.Equal("user:1", a.ToString());
        Assert.Equal("00ff", new ObjectKey(new byte[] { 0, 255 }).ToString());
    }

    [Fact]
    public void Name_leads_to_one_chain() =>
        Assert.Equal(ChainId.FromName("orders"), ChainId.FromName(new string("orders")));
}
