using System.IO.Pipelines;
using System.Net;
using System.Net.Sockets;
using System.Text;
using Corfu.Hosting;
using Google.Protobuf;
using Microsoft.AspNetCore.Connections;
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

    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan s_lease = TimeSpan.FromHours(1);

    private readonly SharedTree _tree = new();
    private readonly StringWriter _log = new();
    private EmbeddedCluster _cluster = null!;
    private Journal _journal = null!;
    private HeldLock _held = null!;
    private Active _active = null!;
    private HdfsListener _listener = null!;
    private bool _isStandby;
    private Exception? _broken;

    private static CancellationToken Stop => TestContext.Current.CancellationToken;

    public async ValueTask InitializeAsync()
    {
        _cluster = await EmbeddedCluster.StartAsync(cancellationToken: Stop);
        _journal = await Journal.OpenAsync(_cluster.ConnectionString, Stop);
        _held = await _journal.Election.CampaignAsync("first", s_lease, Stop);
        _active = await Active.BeginAsync(_journal, _tree, _held.FencingToken, Stop);
        _listener = await HdfsListener.StartAsync(
            new IPEndPoint(IPAddress.Loopback, 0),
            new NamenodeCalls(FindActive, TimeProvider.System), TextWriter.Synchronized(_log),
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
        await SendCallsAsync(Call(1, "mkdirs", Make("/a")));
        byte[] rename = Call(2, "rename", new RenameRequest { Path = "/a", To = "/b" });
        Assert.True(Result(await SendCallsAsync(rename)));
        Assert.True(Result(await SendCallsAsync(rename)));
        Assert.Equal(2, _tree.Use(static tree => tree.LastId));
    }

    [Fact]
    public async Task Call_that_is_sent_again_to_the_next_active_is_done_once()
    {
        await SendCallsAsync(Call(1, "mkdirs", Make("/a")));
        byte[] rename = Call(2, "rename", new RenameRequest { Path = "/a", To = "/b" });
        Assert.True(Result(await SendCallsAsync(rename)));
        await _journal.Election.Lock.ReleaseAsync(_held.FencingToken, Stop);
        await using Journal journal = await Journal.OpenAsync(_cluster.ConnectionString, Stop);
        await using HeldLock held = await journal.Election.CampaignAsync("second", s_lease, Stop);
        var tree = new SharedTree();
        await new JournalTail(journal, tree).RecoverAsync(Stop);
        await using Active active = await Active.BeginAsync(journal, tree, held.FencingToken, Stop);
        await using HdfsListener listener = await HdfsListener.StartAsync(
            new IPEndPoint(IPAddress.Loopback, 0), new NamenodeCalls(() => active, TimeProvider.System),
            TextWriter.Synchronized(_log), Stop);
        Assert.True(Result(await SendAsync([.. "hrpc"u8, 9, 0, 0, .. rename], listener)));
        Assert.Equal(2, tree.Use(static tree => tree.LastId));
    }

    [Fact]
    public async Task Clients_without_an_id_are_told_apart()
    {
        await SendCallsAsync(Call(1, "mkdirs", Make("/a"), ""));
        Assert.False(Result(await SendCallsAsync(Call(1, "delete", Remove("/b"), ""))));
        Assert.True(Result(await SendCallsAsync(Call(1, "delete", Remove("/a"), ""))));
        Assert.Null(_tree.Use(static tree => tree.Find("/a")));
    }

    [Fact]
    public async Task Number_of_another_call_is_no_call_that_is_sent_again()
    {
        await SendCallsAsync(Call(1, "mkdirs", Make("/a")));
        Assert.False(Result(await SendCallsAsync(Call(1, "delete", Remove("/b")))));
        Assert.Equal(1, _tree.Use(static tree => tree.LastId));
    }

    [Theory]
    [InlineData("getFileInfo")]
    [InlineData("getListing")]
    [InlineData("getContentSummary")]
    [InlineData("getBlockLocations")]
    public async Task Reads_of_a_lost_lease_are_refused_for_each_path(string method)
    {
        await SendCallsAsync(Call(1, "create", Create("/there")));
        await TakeOverAsync();
        foreach (string path in new[] { "/there", "/missing" })
        {
            IMessage request = method == "getListing"
                ? new ListingRequest { Path = path, StartAfter = ByteString.Empty }
                : new PathRequest { Path = path };
            ResponseHeader answer = Assert.Single(Headers(await SendCallsAsync(Call(2, method, request))));
            Assert.Equal("org.apache.hadoop.ipc.StandbyException", answer.Exception);
        }
    }

    [Fact]
    public async Task Change_behind_a_failure_goes_to_the_next_namenode()
    {
        await TakeOverAsync();
        Assert.Empty(await SendCallsAsync(Call(1, "mkdirs", Make("/late"))));
        ResponseHeader answer = Assert.Single(Headers(await SendCallsAsync(Call(2, "mkdirs", Make("/later")))));
        Assert.Equal("org.apache.hadoop.ipc.StandbyException", answer.Exception);
        Assert.Null(_tree.Use(static tree => tree.Find("/later")));
    }

    /// <summary>The status was read behind the change, where the file may be gone and the lease lost.</summary>
    [Fact]
    public async Task Creation_that_is_sent_again_has_a_status_though_the_file_is_gone()
    {
        byte[] create = Call(1, "create", Create("/f"));
        await SendCallsAsync(create);
        await SendCallsAsync(Call(2, "delete", Remove("/f")));
        FileStatus status = Response<StatusResponse>(await SendCallsAsync(create)).Status;
        Assert.Equal((1UL, FileType.File, 0x180U), (status.Id, status.Type, status.Permission.Bits));
    }

    [Fact]
    public async Task Root_has_attributes_and_is_not_deleted()
    {
        var permission = new SetPermissionRequest { Path = "/", Permission = new Permission { Bits = 0x3FF } };
        ResponseHeader set = Assert.Single(Headers(await SendCallsAsync(Call(1, "setPermission", permission))));
        Assert.Equal(Status.Success, set.Status);
        Assert.Equal(0x3FF, _tree.Use(static tree => tree.Find("")!.Mode));
        Assert.False(Result(await SendCallsAsync(Call(2, "delete", Remove("/")))));
    }

    [Fact]
    public async Task Renaming_the_root_names_the_root_as_the_invalid_path()
    {
        byte[] answer = await SendCallsAsync(Call(1, "rename2", new RenameRequest { Path = "/", To = "/a" }));
        Assert.Equal("Invalid path: /", Assert.Single(Headers(answer)).Message);
    }

    [Fact]
    public async Task Directory_has_no_blocks_to_locate()
    {
        await SendCallsAsync(Call(1, "mkdirs", Make("/d")));
        byte[] answer = await SendCallsAsync(Call(2, "getBlockLocations", new PathRequest { Path = "/d" }));
        ResponseHeader header = Assert.Single(Headers(answer));
        Assert.Equal(("java.io.FileNotFoundException", "Path is not a file: /d"), (header.Exception, header.Message));
    }

    [Fact]
    public async Task Long_client_id_ends_the_connection()
    {
        Assert.Empty(await SendCallsAsync(Call(1, "mkdirs", Make("/a"), new string('c', 33))));
        Assert.Contains("a client's id has 33 bytes", $"{_log}", StringComparison.Ordinal);
    }

    [Fact]
    public async Task Long_users_and_owners_are_refused()
    {
        var name = new string('u', 256);
        var context = new NamenodeSample.Hdfs.Wire.ConnectionContext { User = new User { Effective = name } };
        byte[] asUser = RpcFrame.Write(new RequestHeader { CallId = -3, ClientId = ByteString.Empty }, context);
        byte[] answer = await SendCallsAsync([.. asUser, .. Call(1, "mkdirs", Make("/a"))]);
        Assert.Contains("more than 255", Assert.Single(Headers(answer)).Message, StringComparison.Ordinal);
        await SendCallsAsync(Call(2, "mkdirs", Make("/a")));
        answer = await SendCallsAsync(Call(3, "setOwner", new SetOwnerRequest { Path = "/a", Group = name }));
        Assert.Contains("more than 255", Assert.Single(Headers(answer)).Message, StringComparison.Ordinal);
        Assert.Equal(1, _tree.Use(static tree => tree.LastId));
    }

    [Fact]
    public async Task Unexpected_failure_ends_the_connection_with_a_line_of_the_log()
    {
        _broken = new InvalidOperationException("no tree\nat all");
        Assert.Empty(await SendCallsAsync(Call(1, "mkdirs", Make("/a"))));
        Assert.Contains("InvalidOperationException: no tree?at all", $"{_log}", StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(false, 60_000, "ended, after too long")]
    [InlineData(true, 100, "ended, after too long")]
    public async Task Socket_of_a_silent_or_unreading_client_is_closed(bool isCalling, int idle, string line)
    {
        // Nobody reads the output, which is full behind the first answer.
        var input = new Pipe();
        var output = new Pipe(new PipeOptions(pauseWriterThreshold: 1, resumeWriterThreshold: 1));
        await using var connection = new DefaultConnectionContext(
            "client", new Duplex(input.Reader, output.Writer), new Duplex(output.Reader, input.Writer));
        if (isCalling)
            await input.Writer.WriteAsync(
                (byte[])[.. "hrpc"u8, 9, 0, 0, .. Call(1, "getFileInfo", new PathRequest { Path = "/" })], Stop);
        var limits = new RpcLimits(
            TimeSpan.FromMilliseconds(isCalling ? 60_000 : 100), TimeSpan.FromMilliseconds(idle));
        var closed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using var _ = connection.ConnectionClosed.Register(closed.SetResult);
        var server = new RpcConnection(new NamenodeCalls(FindActive, TimeProvider.System), limits, _log);
        await server.OnConnectedAsync(connection).WaitAsync(s_patience, Stop);
        await closed.Task.WaitAsync(s_patience, Stop);
        Assert.Contains(line, $"{_log}", StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("127.0.0.1")]
    [InlineData("8020")]
    [InlineData("::1")]
    [InlineData("8020:80")]
    [InlineData("localhost:8020")]
    public async Task Listening_needs_an_address_and_a_port(string address)
    {
        using var errors = new StringWriter();
        Assert.Equal(2, await NamenodeCommand.InvokeAsync(
            ["serve", "--connect", _cluster.ConnectionString, "--listen", address], errors)
            .WaitAsync(s_patience, Stop));
        Assert.Contains("--listen must be an address and a port", $"{errors}", StringComparison.Ordinal);
    }

    [Fact]
    public async Task Address_of_another_machine_is_an_error_and_no_crash()
    {
        using var errors = new StringWriter();
        Assert.Equal(1, await NamenodeCommand.InvokeAsync(
            ["serve", "--connect", _cluster.ConnectionString, "--listen", "203.0.113.1:8020"], errors)
            .WaitAsync(s_patience, Stop));
        Assert.StartsWith("error: ", $"{errors}", StringComparison.Ordinal);
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
        await TakeOverAsync();
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

    private static byte[] Call(int id, string method, IMessage request, string client = "client") => RpcFrame.Write(
        new RequestHeader { CallId = id, ClientId = ByteString.CopyFromUtf8(client) },
        new CallHeader { Method = method, Protocol = Protocol, Version = 1 }, request);

    private static MkdirsRequest Make(string path) =>
        new() { Path = path, Permission = new Permission { Bits = 0x1ED }, MakeParents = true };

    private static CreateRequest Create(string path) =>
        new() { Path = path, Permission = new Permission { Bits = 0x180 }, Flags = 1, MakeParents = false };

    private static DeleteRequest Remove(string path) => new() { Path = path, Recursive = true };

    private static bool Result(byte[] answer) => Response<ResultResponse>(answer).Result;

    /// <summary>The response of an answer to one call.</summary>
    private static T Response<T>(byte[] answer) where T : IMessage, new()
    {
        var frame = new CodedInputStream(answer, 4, answer.Length - 4);
        Assert.Equal(Status.Success, RpcFrame.Parse<ResponseHeader>(frame).Status);
        return RpcFrame.Parse<T>(frame);
    }

    private Active? FindActive() => _broken is not null ? throw _broken : _isStandby ? null : _active;

    /// <summary>Another namenode is elected, and has recovered the journal.</summary>
    private async Task TakeOverAsync()
    {
        await _journal.Election.Lock.ReleaseAsync(_held.FencingToken, Stop);
        await using Journal journal = await Journal.OpenAsync(_cluster.ConnectionString, Stop);
        await using HeldLock held = await journal.Election.CampaignAsync("second", s_lease, Stop);
        await new JournalTail(journal, new SharedTree()).RecoverAsync(Stop);
    }

    private Task<byte[]> SendCallsAsync(byte[] calls) => SendAsync([.. "hrpc"u8, 9, 0, 0, .. calls]);

    /// <summary>Sends bytes, ends the connection's own side, and reads all that comes back.</summary>
    private async Task<byte[]> SendAsync(byte[] bytes, HdfsListener? listener = null)
    {
        using var client = new TcpClient();
        await client.ConnectAsync(IPEndPoint.Parse((listener ?? _listener).Address), Stop);
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

    private sealed record Duplex(PipeReader Input, PipeWriter Output) : IDuplexPipe;
}
