using System.Net;
using System.Net.Sockets;
using System.Text;
using Corfu.TestKit;
using Corfu.ZooKeeper.Hosting;
using Tango;
using Tango.Testing;

namespace Corfu.ZooKeeper.Tests.Support;

/// <summary>A front end and its runtime.</summary>
internal sealed class TestServer(InMemoryCorfuLog log, TangoRuntime runtime, ZooKeeperFrontEnd frontEnd)
    : IAsyncDisposable
{
    private static readonly ZooKeeperFrontEndOptions s_options = new(new IPEndPoint(IPAddress.Loopback, 0))
    {
        Limits = new ZooKeeperLimits { MaxConnectionsPerAddress = 0 },
    };

    public IPEndPoint EndPoint => frontEnd.EndPoint;

    public string? Fault => frontEnd.Fault;

    /// <param name="time">Null: a clock that stands, so that no load of the machine ends a lease.</param>
    /// <param name="configure">Null: the usual options, and any number of connections.</param>
    /// <param name="tango">Null: what a front end needs.</param>
    public static Task<TestServer> StartAsync(InMemoryLogOptions? log = null, TimeProvider? time = null,
        Func<ZooKeeperFrontEndOptions, ZooKeeperFrontEndOptions>? configure = null, TangoOptions? tango = null) =>
        StartAsync(new InMemoryCorfuLog(log), time, configure?.Invoke(s_options) ?? s_options, tango);

    /// <inheritdoc cref="StartAsync(InMemoryLogOptions?, TimeProvider?, Func{ZooKeeperFrontEndOptions,
    /// ZooKeeperFrontEndOptions}?, TangoOptions?)"/>
    public Task<TestServer> StartBesideAsync(
        Func<ZooKeeperFrontEndOptions, ZooKeeperFrontEndOptions>? configure = null, TangoOptions? tango = null) =>
        StartAsync(log, null, configure?.Invoke(s_options) ?? s_options, tango);

    /// <summary>Mounts a path, as another program.</summary>
    public async Task MountAsync(string path)
    {
        await using var other = new TangoRuntime(log);
        var tree = await other.OpenAsync<ZooKeeperTree>("zookeeper/main");
        await TreePartitions.Of(other, "main", tree).MountAsync(path, seed: 5);
        await SettleAsync();
    }

    /// <summary>Writes a node as another program, and trims the log behind a checkpoint.</summary>
    public async Task OvertakeAsync(TreeOp op)
    {
        await using var other = new TangoRuntime(log);
        var tree = await other.OpenAsync<ZooKeeperTree>("zookeeper/main");
        await tree.UpdateAsync(new RequestRecord(new RequestHeader(0, 0, 0, 0, []), op));
        var end = await other.Checkpoints.WriteDirectoryAsync();
        await log.TrimPrefixAsync(LogPosition.Min(end, await other.Checkpoints.WriteAsync(tree)));
    }

    /// <summary>Completes when clients are served: behind a mount, once its partition is played.</summary>
    public async Task ServeAsync()
    {
        while (Fault is not null) await Task.Yield();
    }

    /// <summary>The log's feature level.</summary>
    public ValueTask<int> ReadLevelAsync() => runtime.Log.ReadLevelAsync();

    /// <summary>The newest state of the tree.</summary>
    public async Task<TreeRoot> ReadAsync()
    {
        var tree = await runtime.OpenAsync<ZooKeeperTree>("zookeeper/main");
        return await tree.ReadAsync();
    }

    /// <summary>Completes when all that the front end has sent is played.</summary>
    public async Task SettleAsync()
    {
        var tree = await runtime.OpenAsync<ZooKeeperTree>("zookeeper/main");
        await tree.UpdateAsync(new ReapRecord([]));
    }

    public Task<ZooClient> ConnectAsync(ConnectRequest? request = null, Action<ServerEvent>? onEvent = null) =>
        ZooClient.ConnectAsync("127.0.0.1", frontEnd.EndPoint.Port, request, onEvent);

    /// <summary>Sends a word and no more.</summary>
    public async Task<string> AskAsync(string word)
    {
        using var socket = new TcpClient();
        await socket.ConnectAsync(frontEnd.EndPoint);
        await using var stream = socket.GetStream();
        await stream.WriteAsync(Encoding.ASCII.GetBytes(word));
        socket.Client.Shutdown(SocketShutdown.Send);
        using var answer = new StreamReader(stream);
        return await answer.ReadToEndAsync();
    }

    public async ValueTask DisposeAsync()
    {
        await frontEnd.DisposeAsync();
        await runtime.DisposeAsync();
    }

    private static async Task<TestServer> StartAsync(
        InMemoryCorfuLog log, TimeProvider? time, ZooKeeperFrontEndOptions options, TangoOptions? tango = null)
    {
        var runtime = new TangoRuntime(log, tango ?? ZooKeeperFrontEnd.RuntimeOptions);
        return new TestServer(
            log, runtime, await ZooKeeperFrontEnd.StartAsync(runtime, options, time ?? new ManualTime()));
    }
}
