using System.Net.Security;
using Corfu.Protocol;
using Corfu.Server;
using Corfu.Transport;

namespace Salus.Nbd.Tests.Handshake;

public sealed class StartTlsOptionTests
{
    private readonly MemoryVolume _volume = new(1 << 20);
    private readonly TestAuthority _authority = new(new ClusterId(Guid.NewGuid()));

    private NbdWorld Encrypted()
    {
        var certificate = _authority.Issue(new CertificateIdentity(_authority.Cluster, AccessRole.Node, "server"));
        return new NbdWorld(null, () => new SslServerAuthenticationOptions { ServerCertificate = certificate },
            new NbdExport("vol", NbdWorld.SourceOf(_volume)));
    }

    private static async Task EncryptAsync(NbdPeer peer)
    {
        await peer.SendOptionAsync(OptionCode.StartTls, []);
        Assert.Equal(OptionReply.Ack, (await peer.ReadOptionAsync()).Kind);
        var stream = new SslStream(new DuplexPipeStream(peer.Transport), false, (_, _, _, _) => true);
        await stream.AuthenticateAsClientAsync("localhost");
        peer.Switch(stream);
    }

    [Fact]
    public async Task Server_without_a_certificate_knows_no_tls()
    {
        await using var world = NbdWorld.Of(_volume);
        var peer = world.Connect();
        await peer.GreetAsync();
        await peer.SendOptionAsync(OptionCode.StartTls, []);
        Assert.Equal(OptionReply.Unsupported, (await peer.ReadOptionAsync()).Kind);
        await peer.SendOptionAsync(OptionCode.List, []);
        Assert.Equal(OptionReply.Server, (await peer.ReadOptionAsync()).Kind);
    }

    [Theory]
    [InlineData(3)]
    [InlineData(6)]
    [InlineData(7)]
    [InlineData(8)]
    [InlineData(9)]
    [InlineData(10)]
    public async Task Option_before_tls_is_refused(int option)
    {
        await using var world = Encrypted();
        var peer = world.Connect();
        await peer.GreetAsync();
        await peer.SendOptionAsync((OptionCode)option, Bytes.Info("vol"));
        var answer = await peer.ReadOptionAsync();
        Assert.Equal(((OptionCode)option, OptionReply.TlsRequired), (answer.Option, answer.Kind));
    }

    [Fact]
    public async Task Name_of_an_export_before_tls_closes_the_connection()
    {
        await using var world = Encrypted();
        var peer = world.Connect();
        await peer.GreetAsync();
        await peer.SendOptionAsync(OptionCode.ExportName, "vol"u8.ToArray());
        await peer.AssertEndAsync();
    }

    [Fact]
    public async Task Encrypted_connection_serves_commands()
    {
        await using var world = Encrypted();
        var peer = world.Connect();
        await peer.GreetAsync();
        await EncryptAsync(peer);
        await peer.SendOptionAsync(OptionCode.StartTls, []);
        Assert.Equal(OptionReply.Invalid, (await peer.ReadOptionAsync()).Kind);
        await peer.SendOptionAsync(OptionCode.Go, Bytes.Info("vol"));
        Assert.Equal(OptionReply.Info, (await peer.ReadOptionAsync()).Kind);
        Assert.Equal(OptionReply.Ack, (await peer.ReadOptionAsync()).Kind);
        var data = Bytes.Pattern(100_000, 1);
        Assert.Equal(NbdError.None, await peer.WriteAsync(777, data));
        await peer.SendCommandAsync(CommandCode.Read, 777, 100_000);
        Assert.Equal(data, (await peer.ReadSimpleAsync(100_000)).Data);
        await peer.SendCommandAsync(CommandCode.Disconnect, 0, 0);
        await peer.AssertEndAsync();
    }

    [Fact]
    public async Task Choices_made_in_the_clear_are_forgotten()
    {
        await using var world = Encrypted();
        var peer = world.Connect();
        await peer.GreetAsync();
        await EncryptAsync(peer);
        await peer.SendOptionAsync(OptionCode.SetMetaContext, Bytes.Contexts("vol", "base:allocation"));
        Assert.Equal(OptionReply.Invalid, (await peer.ReadOptionAsync()).Kind);
    }

    [Fact]
    public async Task Option_with_data_is_refused()
    {
        await using var world = Encrypted();
        var peer = world.Connect();
        await peer.GreetAsync();
        await peer.SendOptionAsync(OptionCode.StartTls, [1]);
        Assert.Equal(OptionReply.Invalid, (await peer.ReadOptionAsync()).Kind);
    }

    [Fact]
    public async Task Commands_in_the_clear_behind_the_option_are_not_carried_out()
    {
        await using var world = Encrypted();
        var peer = world.Connect();
        await peer.GreetAsync();
        byte[] go = Bytes.Option(7, Bytes.Info("vol"));
        await peer.SendAsync((byte[])[.. Bytes.Option(5, []), .. go, .. Bytes.Command(CommandCode.Trim, 0, 4096)]);
        Assert.Equal(OptionReply.Ack, (await peer.ReadOptionAsync()).Kind);
        await peer.Serving.WaitAsync(TimeSpan.FromSeconds(20));
        Assert.Empty(_volume.Calls);
    }
}
