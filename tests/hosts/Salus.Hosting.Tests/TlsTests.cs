using System.Buffers.Binary;
using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using Salus.Protocol;
using Samples = Salus.Protocol.Tests.SampleMessages;

namespace Salus.Hosting.Tests;

/// <summary>Nodes, drivers and NBD beside a log that has TLS: what each role of a certificate may do.</summary>
public sealed class TlsTests : IAsyncLifetime
{
    private const uint StartTls = 5;
    private const uint Ack = 1;

    private static readonly RequestTable s_table = new(SalusMessages.AddTo);

    private readonly string _folder = Directory.CreateTempSubdirectory("salus-tls-").FullName;
    private EmbeddedCluster _cluster = null!;
    private EmbeddedSalus _salus = null!;

    private string Authority => ClusterCertificates.AuthorityOf(Path.Combine(_folder, "log"));

    public async ValueTask InitializeAsync()
    {
        _cluster = await EmbeddedCluster.StartAsync(new EmbeddedClusterOptions
        { Folder = Path.Combine(_folder, "log"), Units = 1, Replicas = 1, Tls = true });
        _salus = await EmbeddedSalus.StartAsync(_cluster.ConnectionString,
            new EmbeddedSalusOptions { Folder = Path.Combine(_folder, "nodes"), Authority = Authority });
    }

    public async ValueTask DisposeAsync()
    {
        await _salus.DisposeAsync();
        await _cluster.DisposeAsync();
        Directory.Delete(_folder, recursive: true);
    }

    [Fact]
    public async Task Driver_with_a_certificate_writes_and_a_plain_one_reaches_no_node()
    {
        await using var connection = await SalusConnection.OpenAsync(_cluster.ConnectionString);
        await connection.Log.Admin.CreateAsync("v", VolumeGeometry.Create(64 << 20));
        var written = new byte[8192];
        written.AsSpan().Fill(7);
        await using (var volume = await (await connection.FindVolumeAsync("v")).MountAsync(default))
            await volume.WriteAsync(3, written, durable: true);
        await using var again = await (await connection.FindVolumeAsync("v")).MountAsync(default);
        var read = new byte[8192];
        await again.ReadAsync(3, read, null, default);
        Assert.Equal(written, read);

        using var plain = new TcpTransport(
            new TcpTransportOptions { Cluster = connection.Log.Cluster }, TimeProvider.System);
        var store = (await connection.Log.Admin.NodesAsync()).Stores.Values.First();
        await Assert.ThrowsAnyAsync<TransportException>(() =>
            plain.CallAsync(store.StoreAddress, new StoreInfoRequest(Epoch.None), default).AsTask());
    }

    // The form of FaultRuns' permissions, over every message of Salus. No node has the region of the samples: an
    // allowed request is answered, and changes nothing.
    [Theory]
    [InlineData(AccessRole.Client)]
    [InlineData(AccessRole.Admin)]
    [InlineData(AccessRole.Node)]
    public async Task Every_message_is_answered_or_denied_as_the_table_says(AccessRole role)
    {
        await using var connection = await SalusConnection.OpenAsync(_cluster.ConnectionString);
        using var tls = ClusterTls.Open(Issue(role));
        using var transport = new TcpTransport(
            new TcpTransportOptions { Cluster = connection.Log.Cluster, Tls = tls }, TimeProvider.System);
        var store = (await connection.Log.Admin.NodesAsync()).Stores.Values.First();
        var (denied, answered) = (0, 0);
        foreach (var (request, _) in Samples.All())
        {
            var address = request.Opcode >= SalusOpcode.Seal ? store.StoreAddress : store.RegionAddress;
            var status = await StatusAsync(transport, address, request);
            var isDenied = s_table.Judge(request.Opcode, role) != AccessVerdict.Allowed;
            Assert.True(isDenied == (status == Status.Denied), $"{request.GetType().Name} as {role}: {status}");
            if (isDenied) denied++;
            else answered++;
        }

        Assert.True(answered >= 5 && (denied > 0) == (role != AccessRole.Node), $"{answered} and {denied}");
    }

    [Theory]
    [InlineData(AccessRole.Caller, false)]
    [InlineData(AccessRole.Client, true)]
    public async Task Port_of_NBD_takes_clients_of_the_cluster_and_no_callers(AccessRole role, bool isTaken)
    {
        var node = Issue(AccessRole.Node, "127.0.0.1");
        using var tls = ClusterTls.Open(node);
        await using var server = await VolumeServer.StartAsync(
            new VolumeServerOptions(_cluster.ConnectionString, [], new IPEndPoint(IPAddress.Loopback, 0))
            { Tls = tls });
        if (isTaken) await EncryptAsync(server.EndPoint, Issue(role));
        else
        {
            await Assert.ThrowsAnyAsync<Exception>(() => EncryptAsync(server.EndPoint, Issue(role)));
            await EncryptAsync(server.EndPoint, Issue(AccessRole.Client));
        }
    }

    private static async Task<Status> StatusAsync(TcpTransport transport, NodeAddress address, Request request)
    {
        // The answers of messages have types of their own.
        Response response = await transport.CallAsync(address, (dynamic)request, default(CancellationToken));
        return response.Status;
    }

    private TlsOptions Issue(AccessRole role, string? host = null)
    {
        var folder = Path.Combine(_folder, $"{role}-{Guid.NewGuid():N}");
        using var authority = CertificateAuthority.Open(Authority);
        using var issued = authority.IssueTo(
            folder, new CertificateOrder(role, "own") { Hosts = host is null ? [] : [host] });
        return new TlsOptions { Folder = folder };
    }

    // Greeting, STARTTLS, a handshake with the certificate, and the first bytes behind it.
    private static async Task EncryptAsync(IPEndPoint server, TlsOptions own)
    {
        using var socket = new Socket(SocketType.Stream, ProtocolType.Tcp);
        await socket.ConnectAsync(server);
        await using var plain = new NetworkStream(socket);
        await plain.ReadExactlyAsync(new byte[18]);
        await plain.WriteAsync((byte[])[0, 0, 0, 3, .. Option(StartTls)]);
        var reply = new byte[20];
        await plain.ReadExactlyAsync(reply);
        Assert.Equal(Ack, BinaryPrimitives.ReadUInt32BigEndian(reply.AsSpan(12)));
        using var certificates = CertificateFolder.Open(own.Folder!);
        await using var encrypted = new SslStream(plain, leaveInnerStreamOpen: true);
        await encrypted.AuthenticateAsClientAsync(new SslClientAuthenticationOptions
        {
            TargetHost = "127.0.0.1",
            EnabledSslProtocols = SslProtocols.Tls13,
            ClientCertificateContext = certificates.Current.Context,
            RemoteCertificateValidationCallback = static (_, _, _, _) => true,
        });
        // In TLS 1.3 a client hears of a refusal when it reads: LIST is answered to those that are taken.
        await encrypted.WriteAsync(Option(3));
        await encrypted.ReadExactlyAsync(reply);
        Assert.Equal(Ack, BinaryPrimitives.ReadUInt32BigEndian(reply.AsSpan(12)));
    }

    private static byte[] Option(uint option)
    {
        var bytes = new byte[16];
        "IHAVEOPT"u8.CopyTo(bytes);
        BinaryPrimitives.WriteUInt32BigEndian(bytes.AsSpan(8), option);
        return bytes;
    }
}
