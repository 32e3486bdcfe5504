using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Corfu.Hosting;
using Corfu.Integration.Tests.Support;
using Corfu.Protocol;
using Corfu.TestKit;
using Corfu.Transport;

namespace Corfu.Security.Tests.Certificates;

/// <summary>The authority of a cluster: what it writes, what it refuses to write.</summary>
public sealed class AuthorityTests : IDisposable
{
    private const UnixFileMode OwnerOnly = UnixFileMode.UserRead | UnixFileMode.UserWrite;

    private static readonly ClusterId Cluster = new(new Guid("5b3f6a0e-1c1d-4f0e-9a55-0c1d2e3f4a5b"));

    private readonly TempFolder _folder = new();

    private string Ca => _folder.File("ca");

    [Fact]
    public void Issued_identity_opens_as_ordered()
    {
        using var authority = CertificateAuthority.Create(Ca, Cluster);
        var order = new CertificateOrder(AccessRole.Node, "a.example-1")
        {
            Hosts = ["10.78.0.1", "a.example", "::1"],
        };
        authority.IssueTo(_folder.File("a"), order);

        using var opened = CertificateFolder.Open(_folder.File("a"));
        var own = opened.Current;
        Assert.Equal(new CertificateIdentity(Cluster, AccessRole.Node, "a.example-1"), own.Identity);
        Assert.Equal(["10.78.0.1", "::1", "a.example"],
            CertificateAuthority.HostsOf(own.Certificate).Order(StringComparer.Ordinal));
        Assert.Equal(90, Math.Round((own.NotAfter - own.NotBefore).TotalDays));
        Assert.Equal("1.2.840.10045.2.1", own.Certificate.PublicKey.Oid.Value);
        Assert.Equal(authority.Certificate.Thumbprint, Assert.Single(own.Anchors).Thumbprint);
    }

    [Fact]
    public void Authority_lasts_ten_years_and_has_no_authorities_below()
    {
        using var authority = CertificateAuthority.Create(Ca, Cluster);
        var own = authority.Certificate;
        Assert.Equal(Cluster, CertificateAuthority.ClusterOf(own));
        Assert.InRange((own.NotAfter - own.NotBefore).TotalDays, 3650, 3655);
        var constraints = Assert.Single(own.Extensions.OfType<X509BasicConstraintsExtension>());
        Assert.True(constraints.CertificateAuthority);
        Assert.True(constraints is { HasPathLengthConstraint: true, PathLengthConstraint: 0 });
    }

    [Theory]
    [InlineData(AccessRole.Node, true)]
    [InlineData(AccessRole.Admin, false)]
    [InlineData(AccessRole.Client, false)]
    [InlineData(AccessRole.Caller, false)]
    public void Certificates_of_nodes_alone_may_serve(AccessRole role, bool serves)
    {
        using var authority = CertificateAuthority.Create(Ca, Cluster);
        using var issued = authority.IssueTo(_folder.File("a"), new CertificateOrder(role, "a") { Hosts = ["h"] });
        var uses = Assert.Single(issued.Extensions.OfType<X509EnhancedKeyUsageExtension>()).EnhancedKeyUsages
            .Cast<Oid>().Select(use => use.Value);
        Assert.Equal(serves, uses.Contains("1.3.6.1.5.5.7.3.1"));
        Assert.Contains("1.3.6.1.5.5.7.3.2", uses);
    }

    [Theory]
    [InlineData("")]
    [InlineData(".")]
    [InlineData("..")]
    [InlineData("A")]
    [InlineData("a/b")]
    [InlineData("a b")]
    [InlineData("ä")]
    [InlineData("a\n")]
    public void Name_outside_the_alphabet_is_a_fault(string name) =>
        Assert.Contains("name", Assert.Single(new CertificateOrder(AccessRole.Client, name).Faults()));

    [Fact]
    public void Name_of_63_characters_is_the_longest()
    {
        Assert.Empty(new CertificateOrder(AccessRole.Client, new string('a', 63)).Faults());
        Assert.Single(new CertificateOrder(AccessRole.Client, new string('a', 64)).Faults());
    }

    [Theory]
    [InlineData("http://a")]
    [InlineData("a:7000")]
    [InlineData("")]
    [InlineData("a b")]
    public void Host_that_is_none_is_a_fault(string host) =>
        Assert.Single(new CertificateOrder(AccessRole.Node, "a") { Hosts = [host] }.Faults());

    [Fact]
    public void Files_with_keys_are_open_to_the_owner_alone_whatever_was_there()
    {
        if (OperatingSystem.IsWindows()) return;
        using var authority = CertificateAuthority.Create(Ca, Cluster);
        var identity = Path.Combine(_folder.File("a"), CertificateFolder.IdentityFile);
        authority.IssueTo(_folder.File("a"), new CertificateOrder(AccessRole.Client, "a"));
        // An interrupted renewal of another tool leaves a fresh file that all can read.
        File.WriteAllText(identity + ".new", "");
        File.SetUnixFileMode(identity + ".new", OwnerOnly | UnixFileMode.OtherRead);
        authority.Renew(_folder.File("a"));
        Assert.Equal(OwnerOnly, File.GetUnixFileMode(identity));
        Assert.Equal(OwnerOnly, File.GetUnixFileMode(Path.Combine(Ca, CertificateAuthority.KeyName)));
    }

    [Fact]
    public void Renewal_keeps_role_name_hosts_and_lifetime_and_takes_a_new_key()
    {
        using var authority = CertificateAuthority.Create(Ca, Cluster);
        var order = new CertificateOrder(AccessRole.Node, "a")
        {
            Hosts = ["a.example", "10.0.0.1"],
            Lifetime = TimeSpan.FromDays(7),
        };
        using var before = authority.IssueTo(_folder.File("a"), order);
        using var after = authority.Renew(_folder.File("a"));
        Assert.Equal(CertificateIdentity.Of(before, out _), CertificateIdentity.Of(after, out _));
        Assert.Equal(CertificateAuthority.HostsOf(before), CertificateAuthority.HostsOf(after));
        Assert.Equal(7, Math.Round((after.NotAfter - after.NotBefore).TotalDays));
        Assert.NotEqual(before.GetPublicKeyString(), after.GetPublicKeyString());
        Assert.NotEqual(before.SerialNumber, after.SerialNumber);
        using var opened = CertificateFolder.Open(_folder.File("a"));
        Assert.Equal(after.SerialNumber, opened.Current.Certificate.SerialNumber);
    }

    [Fact]
    public void Copy_of_an_issued_certificate_is_found_by_serial()
    {
        using var authority = CertificateAuthority.Create(Ca, Cluster);
        using var issued = authority.IssueTo(_folder.File("a"), new CertificateOrder(AccessRole.Client, "a"));
        Assert.Equal(issued.Thumbprint, authority.Find(issued.SerialNumber.ToLowerInvariant())?.Thumbprint);
        Assert.Null(authority.Find("00"));
        Assert.Null(authority.Find("*"));
        Assert.Null(authority.Find("../ca"));
    }

    [Fact]
    public void Key_of_a_request_stays_and_the_answer_has_none()
    {
        using var authority = CertificateAuthority.Create(Ca, Cluster);
        var request = CertificateFiles.MakeRequest(_folder.File("host"));
        authority.Answer(request, _folder.File("answer"), new CertificateOrder(AccessRole.Client, "app"));
        Assert.DoesNotContain("PRIVATE",
            File.ReadAllText(Path.Combine(_folder.File("answer"), CertificateFolder.IdentityFile)));

        CertificateFiles.TakeAnswer(_folder.File("host"), _folder.File("answer"));
        using var opened = CertificateFolder.Open(_folder.File("host"));
        Assert.Equal("app", opened.Current.Identity.Name);
        Assert.False(File.Exists(request));
        Assert.False(File.Exists(Path.Combine(_folder.File("host"), CertificateFiles.PendingKeyName)));
    }

    [Fact]
    public void Answer_to_another_request_is_refused_and_the_key_goes_on_waiting()
    {
        using var authority = CertificateAuthority.Create(Ca, Cluster);
        CertificateFiles.MakeRequest(_folder.File("host"));
        var other = CertificateFiles.MakeRequest(_folder.File("other"));
        authority.Answer(other, _folder.File("answer"), new CertificateOrder(AccessRole.Client, "app"));
        var refused = Assert.Throws<CertificateException>(
            () => CertificateFiles.TakeAnswer(_folder.File("host"), _folder.File("answer")));
        Assert.Contains("not for the key", refused.Message);
        Assert.True(File.Exists(Path.Combine(_folder.File("host"), CertificateFiles.PendingKeyName)));
    }

    [Fact]
    public void Request_of_another_kind_of_key_is_refused()
    {
        using var authority = CertificateAuthority.Create(Ca, Cluster);
        using var weak = RSA.Create(2048);
        var file = _folder.File("request.pem");
        File.WriteAllText(file, new CertificateRequest(
            "CN=x", weak, HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1).CreateSigningRequestPem());
        var refused = Assert.Throws<CertificateException>(
            () => authority.Answer(file, _folder.File("answer"), new CertificateOrder(AccessRole.Client, "app")));
        Assert.Contains("P-256", refused.Message);
        File.WriteAllText(file, "no request");
        Assert.Throws<CertificateException>(
            () => authority.Answer(file, _folder.File("answer"), new CertificateOrder(AccessRole.Client, "app")));
    }

    /// <summary>The three steps of a change of authority, and each of them too early.</summary>
    [Fact]
    public void Authority_changes_in_three_steps_and_in_no_other_order()
    {
        using var first = CertificateAuthority.Create(Ca, Cluster);
        using var second = CertificateAuthority.Create(_folder.File("second"), Cluster);
        var a = _folder.File("a");
        first.IssueTo(a, new CertificateOrder(AccessRole.Node, "a") { Hosts = ["h"] });
        using var opened = CertificateFolder.Open(a);

        Assert.Contains("cert trust", Assert.Throws<CertificateException>(() => second.Renew(a)).Message);
        Assert.Contains("cert renew",
            Assert.Throws<CertificateException>(() => CertificateFiles.KeepAnchor(a, second.Certificate)).Message);

        Assert.True(CertificateFiles.AddAnchor(a, second.Certificate));
        Assert.False(CertificateFiles.AddAnchor(a, second.Certificate));
        Assert.True(opened.Reload());
        Assert.Equal(2, opened.Current.Anchors.Count);
        Assert.Contains("--previous", Assert.Throws<CertificateException>(() => second.Renew(a)).Message);
        second.Renew(a, previous: first.Certificate);
        Assert.True(opened.Reload());
        CertificateFiles.KeepAnchor(a, second.Certificate);
        Assert.True(opened.Reload());
        Assert.Equal(second.Certificate.Thumbprint, Assert.Single(opened.Current.Anchors).Thumbprint);
        Assert.Null(opened.Fault);
    }

    [Fact]
    public void Identity_of_another_cluster_is_not_renewed()
    {
        using var authority = CertificateAuthority.Create(Ca, Cluster);
        using var other = CertificateAuthority.Create(_folder.File("other"), new ClusterId(Guid.NewGuid()));
        other.IssueTo(_folder.File("a"), new CertificateOrder(AccessRole.Client, "a"));
        Assert.Contains("cluster",
            Assert.Throws<CertificateException>(() => authority.Renew(_folder.File("a"))).Message);
    }

    /// <summary>The folder's holder writes what it likes there, and asks for a renewal.</summary>
    [Fact]
    public void Identity_that_no_authority_signed_is_not_renewed()
    {
        using var authority = CertificateAuthority.Create(Ca, Cluster);
        var folder = _folder.File("a");
        authority.IssueTo(folder, new CertificateOrder(AccessRole.Client, "a"));
        var forged = new TestAuthority(Cluster);
        using var admin = forged.Issue(new CertificateIdentity(Cluster, AccessRole.Admin, "root"));
        forged.Write(folder, admin, authority.Certificate, forged.Certificate);
        Assert.Contains("nothing proves",
            Assert.Throws<CertificateException>(() => authority.Renew(folder)).Message);
    }

    [Fact]
    public void Second_authority_never_replaces_the_one_of_a_folder()
    {
        using var authority = CertificateAuthority.Create(Ca, Cluster);
        Assert.Throws<CertificateException>(() => CertificateAuthority.Create(Ca, Cluster));
        using var opened = CertificateAuthority.Open(Ca);
        Assert.Equal(authority.Certificate.Thumbprint, opened.Certificate.Thumbprint);
    }

    [Fact]
    public void Creation_that_ended_after_the_key_is_done_again()
    {
        Directory.CreateDirectory(Ca);
        File.WriteAllText(Path.Combine(Ca, CertificateAuthority.KeyName), "half");
        Assert.Throws<CertificateException>(() => CertificateAuthority.Open(Ca));
        using var authority = CertificateAuthority.Create(Ca, Cluster);
        authority.IssueTo(_folder.File("a"), new CertificateOrder(AccessRole.Client, "a"));
    }

    [Fact]
    public void Key_of_another_authority_is_noticed()
    {
        CertificateAuthority.Create(Ca, Cluster).Dispose();
        CertificateAuthority.Create(_folder.File("other"), Cluster).Dispose();
        File.Copy(Path.Combine(_folder.File("other"), CertificateAuthority.KeyName),
            Path.Combine(Ca, CertificateAuthority.KeyName), overwrite: true);
        Assert.Contains("does not belong",
            Assert.Throws<CertificateException>(() => CertificateAuthority.Open(Ca)).Message);
    }

    [Fact]
    public void Certificate_never_outlives_the_authority()
    {
        var time = new ManualTime();
        using var authority = CertificateAuthority.Create(Ca, Cluster, time);
        var order = new CertificateOrder(AccessRole.Client, "a") { Lifetime = TimeSpan.FromDays(3660) };
        Assert.Contains("ends at",
            Assert.Throws<CertificateException>(() => authority.IssueTo(_folder.File("a"), order)).Message);
        Assert.False(File.Exists(Path.Combine(_folder.File("a"), CertificateFolder.IdentityFile)));
    }

    [Fact]
    public void Authority_that_has_ended_is_refused()
    {
        // The clock stands in the year 1.
        CertificateAuthority.Create(Ca, Cluster, new ManualTime()).Dispose();
        Assert.Contains("expired", Assert.Throws<CertificateException>(() => CertificateAuthority.Open(Ca)).Message);
    }

    public void Dispose() => _folder.Dispose();
}
