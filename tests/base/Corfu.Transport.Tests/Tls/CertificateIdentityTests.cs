using Corfu.Protocol;

namespace Corfu.Transport.Tests.Tls;

public sealed class CertificateIdentityTests
{
    private const string Cluster = "11111111-2222-3333-4444-555555555555";

    [Theory]
    [InlineData(AccessRole.Node, "a")]
    [InlineData(AccessRole.Admin, "host-1.example")]
    [InlineData(AccessRole.Client, "0")]
    [InlineData(AccessRole.Caller, "billing")]
    public void Identity_is_read_back_from_text_and_from_a_certificate(AccessRole role, string name)
    {
        var identity = new CertificateIdentity(TestServer.Cluster, role, name);
        Assert.Equal(identity, CertificateIdentity.Parse(identity.ToString()));
        using var certificate = new TestAuthority(TestServer.Cluster).Issue(identity);
        Assert.Equal(identity, CertificateIdentity.Of(certificate, out _));
        Assert.Equal(["localhost"], CertificateIdentity.HostsOf(certificate));
    }

    [Theory]
    [InlineData("corfu://" + Cluster + "/node")]
    [InlineData("corfu://" + Cluster + "/node/")]
    [InlineData("corfu://" + Cluster + "/node/a/b")]
    [InlineData("corfu://" + Cluster + "/root/a")]
    [InlineData("corfu://" + Cluster + "/Node/a")]
    [InlineData("corfu://" + Cluster + "/node/A")]
    [InlineData("corfu://" + Cluster + "/node/a b")]
    [InlineData("corfu://00000000-0000-0000-0000-000000000000/node/a")]
    [InlineData("corfu://1/node/a")]
    [InlineData("http://" + Cluster + "/node/a")]
    [InlineData("")]
    public void Other_text_is_no_identity(string text)
    {
        Assert.False(CertificateIdentity.TryParse(text, out _));
        Assert.Contains("corfu://CLUSTER/ROLE/NAME",
            Assert.Throws<FormatException>(() => CertificateIdentity.Parse(text)).Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Names_have_63_characters_at_most()
    {
        Assert.True(CertificateIdentity.IsName(new string('a', 63)));
        Assert.False(CertificateIdentity.IsName(new string('a', 64)));
    }
}
