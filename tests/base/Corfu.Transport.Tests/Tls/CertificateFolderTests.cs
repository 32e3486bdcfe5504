using Corfu.Protocol;

namespace Corfu.Transport.Tests.Tls;

public sealed class CertificateFolderTests : IDisposable
{
    private readonly TestAuthority _authority = new(TestServer.Cluster, DateTimeOffset.UtcNow.AddDays(-100));
    private readonly string _path = Directory.CreateTempSubdirectory("corfu-certs-").FullName;

    public void Dispose() => Directory.Delete(_path, recursive: true);

    [Fact]
    public void Folder_gives_the_identity_and_the_anchors()
    {
        Write(AccessRole.Admin);
        using var folder = CertificateFolder.Open(_path);
        Assert.Equal(new CertificateIdentity(TestServer.Cluster, AccessRole.Admin, "a"), folder.Current.Identity);
        Assert.Equal(_authority.Certificate.Thumbprint, Assert.Single(folder.Current.Anchors).Thumbprint);
        Assert.True(folder.Current.Certificate.HasPrivateKey);
    }

    [Fact]
    public void Key_that_other_users_can_read_is_refused()
    {
        if (OperatingSystem.IsWindows()) return;
        Write(AccessRole.Node);
        File.SetUnixFileMode(Path.Combine(_path, CertificateFolder.IdentityFile),
            UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.GroupRead);
        Assert.Contains("chmod 600", Refused(), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(CertificateFolder.AnchorsFile)]
    [InlineData(CertificateFolder.IdentityFile)]
    public void Missing_file_is_named(string file)
    {
        Write(AccessRole.Node);
        File.Delete(Path.Combine(_path, file));
        Assert.Contains(file, Refused(), StringComparison.Ordinal);
        Assert.Contains("corfu cert issue", Refused(), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(CertificateFolder.AnchorsFile)]
    [InlineData(CertificateFolder.IdentityFile)]
    public void Damaged_file_is_refused(string file)
    {
        Write(AccessRole.Node);
        var path = Path.Combine(_path, file);
        var text = File.ReadAllText(path);
        File.WriteAllText(path, text[..(text.Length / 2)]);
        Assert.Contains(_path, Refused(), StringComparison.Ordinal);
    }

    [Fact]
    public void Certificate_of_an_authority_that_is_not_among_the_anchors_is_refused()
    {
        var other = new TestAuthority(TestServer.Cluster);
        other.Write(_path, other.Issue(Identity(AccessRole.Client)), _authority.Certificate);
        Assert.Contains("ca.pem", Refused(), StringComparison.Ordinal);
    }

    [Fact]
    public void Renewal_counts_when_the_folder_is_looked_at()
    {
        Write(AccessRole.Client);
        using var folder = CertificateFolder.Open(_path);
        var first = folder.Current;
        var changes = 0;
        folder.Changed += () => changes++;
        Assert.False(folder.Reload());
        Write(AccessRole.Client);
        Assert.True(folder.Reload());
        Assert.NotEqual(first.Certificate.SerialNumber, folder.Current.Certificate.SerialNumber);
        Assert.Equal(1, changes);
    }

    [Fact]
    public async Task Renewal_counts_after_the_interval()
    {
        Write(AccessRole.Client);
        using var folder =
            CertificateFolder.Open(_path, new TlsOptions { RefreshInterval = TimeSpan.FromMilliseconds(20) });
        var first = folder.Current;
        Write(AccessRole.Client);
        await Poll.UntilAsync(() => folder.Current != first);
    }

    [Fact]
    public void Renewal_counts_from_the_first_valid_moment_on()
    {
        Write(AccessRole.Client);
        var time = new ShiftedTime();
        using var folder = CertificateFolder.Open(_path, time: time);
        var first = folder.Current;
        _authority.Write(_path, _authority.Issue(Identity(AccessRole.Client),
            new TestOrder { NotBefore = DateTimeOffset.UtcNow.AddHours(1) }));
        Assert.False(folder.Reload());
        Assert.Same(first, folder.Current);
        time.Shift = TimeSpan.FromHours(2);
        Assert.True(folder.Reload());
        Assert.NotSame(first, folder.Current);
        Assert.Null(folder.Fault);
    }

    [Fact]
    public void Fault_ends_when_the_files_can_be_read_again()
    {
        Write(AccessRole.Client);
        using var folder = CertificateFolder.Open(_path);
        var file = Path.Combine(_path, CertificateFolder.IdentityFile);
        File.Move(file, file + ".away");
        Assert.False(folder.Reload());
        Assert.NotNull(folder.Fault);
        File.Move(file + ".away", file);
        folder.Reload();
        Assert.Null(folder.Fault);
    }

    [Theory]
    [InlineData("another role", "keeps cluster and role")]
    [InlineData("another cluster", "keeps cluster and role")]
    [InlineData("expired", "ended at")]
    [InlineData("another authority", "ca.pem")]
    [InlineData("half", "damaged")]
    public void Bad_renewal_leaves_the_certificate_before_in_force(string what, string reason)
    {
        Write(AccessRole.Client);
        var log = new Lines();
        using var folder = CertificateFolder.Open(_path, logger: log);
        var first = folder.Current;
        var now = DateTimeOffset.UtcNow;
        switch (what)
        {
            case "another role":
                Write(AccessRole.Admin);
                break;
            case "another cluster":
                _authority.Write(_path,
                    _authority.Issue(Identity(AccessRole.Client) with { Cluster = new ClusterId(Guid.NewGuid()) }));
                break;
            case "expired":
                _authority.Write(_path, _authority.Issue(Identity(AccessRole.Client),
                    new TestOrder { NotBefore = now.AddDays(-2), NotAfter = now.AddDays(-1) }));
                break;
            case "another authority":
                var other = new TestAuthority(TestServer.Cluster);
                other.Write(_path, other.Issue(Identity(AccessRole.Client)), _authority.Certificate);
                break;
            default:
                var path = Path.Combine(_path, CertificateFolder.IdentityFile);
                File.WriteAllText(path, File.ReadAllText(path)[..400]);
                break;
        }

        Assert.False(folder.Reload());
        Assert.False(folder.Reload());
        Assert.Same(first, folder.Current);
        Assert.Contains(reason, folder.Fault!, StringComparison.Ordinal);
        Assert.Contains(reason, Assert.Single(log.Written), StringComparison.Ordinal);
        Write(AccessRole.Client);
        Assert.True(folder.Reload());
        Assert.Null(folder.Fault);
    }

    [Theory]
    [InlineData(AccessRole.Node, 3, true)]
    [InlineData(AccessRole.Node, 9, false)]
    [InlineData(AccessRole.Client, 3, false)]
    public void Process_with_an_ended_certificate_starts_only_as_a_node_within_days(AccessRole role, int days,
        bool opens)
    {
        var now = DateTimeOffset.UtcNow;
        _authority.Write(_path, _authority.Issue(Identity(role),
            new TestOrder { NotBefore = now.AddDays(-90), NotAfter = now.AddDays(-days) }));
        if (opens) CertificateFolder.Open(_path).Dispose();
        else Assert.Contains("corfu cert renew", Refused(), StringComparison.Ordinal);
    }

    private static CertificateIdentity Identity(AccessRole role) => new(TestServer.Cluster, role, "a");

    private void Write(AccessRole role) => _authority.Write(_path, _authority.Issue(Identity(role)));

    private string Refused() => Assert.Throws<CertificateException>(() => CertificateFolder.Open(_path)).Message;
}
