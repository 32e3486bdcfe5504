using System.Net;
using System.Net.Sockets;
using System.Text;
using Corfu.Hosting;
using Google.Protobuf;
using NamenodeSample.Hdfs;
using NamenodeSample.Hdfs.Wire;
using NamenodeSample.Journaling;
using NamenodeSample.Serving;
using NamenodeSample.Tree;
using Tango.Collections;

namespace NamenodeSample.Tests;

/// <summary>Hadoop RPC on a socket, against frames that were recorded between Debian's hdfs client and this sample.
/// </summary>
public sealed class HdfsTests : IAsyncLifetime
{
    private const string Protocol = "org.apache.hadoop.hdfs.protocol.ClientProtocol";

    // hdfs mkdir /recorded: getFileInfo and mkdirs.
    private const string MakeDirectory =
        "6872706309000000000053180802100018052210766764393364337758715368475044653912070a05616c6963651a2e6f72"
        + "672e6170616368652e6861646f6f702e686466732e70726f746f636f6c2e436c69656e7450726f746f636f6c000000651808"
        + "02100018022210766764393364337758715368475044653f0a0b67657446696c65496e666f122e6f72672e6170616368652e"
        + "6861646f6f702e686466732e70726f746f636f6c2e436c69656e7450726f746f636f6c18010b0a092f7265636f7264656400"
        + "00006a180802100018042210766764393364337758715368475044653a0a066d6b64697273122e6f72672e6170616368652e"
        + "6861646f6f702e686466732e70726f746f636f6c2e436c69656e7450726f746f636f6c1801150a092f7265636f7264656412"
        + "0608ed838080081800";

    private const string DirectoryMade =
        "0000001a180801100018093a1076676439336433775871536847504465000000001c180802100018093a1076676439336433"
        + "775871536847504465020801";

    // hdfs df.
    private const string AskStats =
        "68727063090000000000531808021000180522104e6451724b6e33596546524575316d363912070a05616c6963651a2e6f72"
        + "672e6170616368652e6861646f6f702e686466732e70726f746f636f6c2e436c69656e7450726f746f636f6c000000591808"
        + "021000180222104e6451724b6e33596546524575316d363e0a0a67657446735374617473122e6f72672e6170616368652e68"
        + "61646f6f702e686466732e70726f746f636f6c2e436c69656e7450726f746f636f6c180100";

    private const string Stats =
        "00000030180801100018093a104e6451724b6e33596546524575316d36160880808080802010001880808080802020002800"
        + "3000";

    private static readonly TimeSpan s_lease = TimeSpan.FromHours(1);

    private readonly SharedTree _tree = new();
    private readonly StringWriter _log = new();
    private EmbeddedCluster _cluster = null!;
    private Journal _journal = null!;
    private HeldLock _held = null!;
    private Active _active = null!;
    private HdfsListener _listener = null!;
    private bool _isStandby;

    private static CancellationToken Stop => TestContext.Current.CancellationToken;

    public async ValueTask InitializeAsync()
    {
        _cluster = await EmbeddedCluster.StartAsync(cancellationToken: Stop);
        _journal = await Journal.OpenAsync(_cluster.ConnectionString, Stop);
        _held = await _journal.Election.CampaignAsync("first", s_lease, Stop);
        _active = await Active.BeginAsync(_journal, _tree, _held.FencingToken, Stop);
        _listener = await HdfsListener.StartAsync(
            new IPEndPoint(IPAddress.Loopback, 0),
            new NamenodeCalls(() => _isStandby ? null : _active, TimeProvider.System), TextWriter.Synchronized(_log),
            Stop);
    }

    public async ValueTask DisposeAsync()
    {
        await _listener.DisposeAsync();
        await _active.DisposeAsync();
        await _held.DisposeAsync();
        await _journal.DisposeAsync();
        await _cluster.DisposeAsync();
    }

    [Theory]
    [InlineData(MakeDirectory, DirectoryMade)]
    [InlineData(AskStats, Stats)]
    public async Task Recorded_client_gets_the_recorded_answers(string client, string server) =>
        Assert.Equal(server, Convert.ToHexStringLower(await SendAsync(Convert.FromHexString(client))));

    [Fact]
    public async Task Call_that_is_sent_again_is_done_once()
    {
        await SendAsync(Convert.FromHexString(MakeDirectory));
        ResponseHeader[] again = Headers(await SendAsync(Convert.FromHexString(MakeDirectory)));
        Assert.Equal([Status.Success, Status.Success], again.Select(static header => header.Status));
        Assert.Equal(1, _tree.Use(static tree => tree.LastId));
    }

    [Fact]
    public async Task Directory_has_the_user_and_the_mode_of_the_client()
    {
        await SendAsync(Convert.FromHexString(MakeDirectory));
        _tree.Use(static tree =>
        {
            Node made = tree.Find("/recorded")!;
            Assert.Equal(("alice", 0x1ED), (made.Owner, made.Mode));
            Assert.NotEqual(0, made.Modified);
        });
    }

    [Fact]
    public async Task Standby_sends_clients_to_the_next_namenode()
    {
        _isStandby = true;
        ResponseHeader[] answers = Headers(await SendAsync(Convert.FromHexString(MakeDirectory)));
        Assert.Equal(2, answers.Length);
        Assert.All(answers, static answer => Assert.Equal(
            (Status.Error, "org.apache.hadoop.ipc.StandbyException"), (answer.Status, answer.Exception)));
    }

    [Theory]
    [InlineData("addBlock", "java.lang.UnsupportedOperationException")]
    [InlineData("getXAttrs", "java.lang.UnsupportedOperationException")]
    [InlineData("setOwner", "java.io.FileNotFoundException")]
    public async Task Failed_call_names_the_exception_and_the_connection_goes_on(string method, string exception)
    {
        var request = new PathRequest { Path = "/none" };
        ResponseHeader[] answers = Headers(await SendAsync(
            [.. "hrpc"u8, 9, 0, 0, .. Call(1, method, request), .. Call(2, "getFileInfo", request)]));
        Assert.Equal([Status.Error, Status.Success], answers.Select(static answer => answer.Status));
        Assert.Equal(exception, answers[0].Exception);
    }

    [Fact]
    public async Task Change_of_a_fenced_active_gets_no_answer()
    {
        await _journal.Election.Lock.ReleaseAsync(_held.FencingToken, Stop);
        await using Journal journal = await Journal.OpenAsync(_cluster.ConnectionString, Stop);
        await using HeldLock held = await journal.Election.CampaignAsync("second", s_lease, Stop);
        await new JournalTail(journal, new SharedTree()).RecoverAsync(Stop);
        var request = new MkdirsRequest
        {
            Path = "/late",
            Permission = new Permission { Bits = 0 },
            MakeParents = true,
        };
        Assert.Empty(await SendAsync([.. "hrpc"u8, 9, 0, 0, .. Call(1, "mkdirs", request)]));
        Assert.Contains("the outcome of Mkdir /late is not known", $"{_log}", StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("474554202F20485454502F312E310D0A", "this is no Hadoop RPC", 0)]
    [InlineData("68727063080000", "Version 9 is served, not 8", 1)]
    [InlineData("687270630900DF", "SIMPLE authentication is enabled, and no other", 1)]
    [InlineData("6872", "ended within a frame", 0)]
    [InlineData("6872706309000000000000", "a frame has 0 bytes", 0)]
    [InlineData("68727063090000FFFFFFFF", "a frame has 4294967295 bytes", 0)]
    [InlineData("687270630900000000000500", "ended within a frame", 0)]
    [InlineData("68727063090000000000020500", "a frame has no RequestHeader", 0)]
    [InlineData("687270630900000000000100", "a field of RequestHeader is missing", 0)]
    public async Task Garbage_ends_the_connection_with_a_line_of_the_log(string bytes, string line, int answers)
    {
        Assert.Equal(answers, Headers(await SendAsync(Convert.FromHexString(bytes))).Length);
        Assert.Contains(line, $"{_log}", StringComparison.Ordinal);
        Assert.NotEmpty(await SendAsync(Convert.FromHexString(AskStats)));
    }

    private static byte[] Call(int id, string method, IMessage request) => RpcFrame.Write(
        new RequestHeader { CallId = id, ClientId = ByteString.CopyFromUtf8("client") },
        new CallHeader { Method = method, Protocol = Protocol, Version = 1 }, request);

    /// <summary>Sends bytes, ends the connection's own side, and reads all that comes back.</summary>
    private async Task<byte[]> SendAsync(byte[] bytes)
    {
        using var client = new TcpClient();
        await client.ConnectAsync(IPEndPoint.Parse(_listener.Address), Stop);
        NetworkStream stream = client.GetStream();
        await stream.WriteAsync(bytes, Stop);
        client.Client.Shutdown(SocketShutdown.Send);
        using var answer = new MemoryStream();
        try
        {
            await stream.CopyToAsync(answer, Stop);
        }
        catch (IOException)
        {
            // The namenode has aborted the connection.
        }

        return answer.ToArray();
    }

    private static ResponseHeader[] Headers(byte[] answer)
    {
        var headers = new List<ResponseHeader>();
        using var frames = new BinaryReader(new MemoryStream(answer), Encoding.UTF8);
        while (frames.BaseStream.Position < answer.Length)
        {
            int length = IPAddress.NetworkToHostOrder(frames.ReadInt32());
            headers.Add(RpcFrame.Parse<ResponseHeader>(new CodedInputStream(frames.ReadBytes(length))));
        }

        return [.. headers];
    }
}
