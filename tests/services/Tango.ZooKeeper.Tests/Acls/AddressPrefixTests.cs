namespace Tango.ZooKeeper.Tests;

public sealed class AddressPrefixTests
{
    [Theory]
    [InlineData("10.0.0.1", "10.0.0.1", true)]
    [InlineData("10.0.0.1", "10.0.0.2", false)]
    [InlineData("10.0.0.0/8", "10.255.1.2", true)]
    [InlineData("10.0.0.0/8", "11.0.0.0", false)]
    [InlineData("10.0.0.77/30", "10.0.0.79", true)]
    [InlineData("10.0.0.77/30", "10.0.0.80", false)]
    [InlineData("10.0.0.1/32", "10.0.0.1", true)]
    [InlineData("1.2.3.4/0", "200.1.1.1", true)]
    [InlineData("1.2.3.4/0", "::1", false)]
    [InlineData("::1", "::1", true)]
    [InlineData("::1", "0:0:0:0:0:0:0:1", true)]
    [InlineData("fe80::/10", "fe80::1:2", true)]
    [InlineData("fe80::/10", "fe00::1", false)]
    [InlineData("2001:db8::/32", "2001:db8:ffff::", true)]
    [InlineData("::/0", "1::", true)]
    [InlineData("::/0", "1.2.3.4", false)]
    [InlineData("1.2.3.4", "nowhere", false)]
    public void Prefix_holds_addresses_of_the_family_with_equal_first_bits(string prefix, string address, bool holds)
    {
        Assert.True(AddressPrefix.TryParse(prefix, out var parsed));
        Assert.Equal(holds, parsed.Contains(address));
    }

    [Theory]
    [InlineData("")]
    [InlineData("1.2.3")]
    [InlineData("1.2.3.4.5")]
    [InlineData("1.2.3.256")]
    [InlineData("1.2.3.-4")]
    [InlineData("1.2.3. 4")]
    [InlineData("1.2.3.4/33")]
    [InlineData("1.2.3.4/-1")]
    [InlineData("1.2.3.4/")]
    [InlineData("1.2.3.4/8/8")]
    [InlineData("::1/129")]
    [InlineData("1:2:3:4:5:6:7")]
    [InlineData("1:2:3:4:5:6:7:8:9")]
    [InlineData("1::2::3")]
    [InlineData(":::1")]
    [InlineData("1:2:3:4::5:6:7:8")]
    [InlineData("12345::")]
    [InlineData("g::")]
    [InlineData("::ffff:1.2.3.4")]
    [InlineData(":1:2:3:4:5:6:7")]
    public void Text_without_the_form_of_an_address_is_refused(string text) =>
        Assert.False(AddressPrefix.TryParse(text, out _));
}
