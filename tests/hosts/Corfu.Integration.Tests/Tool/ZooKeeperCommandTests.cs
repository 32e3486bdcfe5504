using System.Globalization;
using System.Text;
using System.Text.Json.Nodes;
using Corfu.Cli;
using Corfu.Client;
using Corfu.Hosting;
using Corfu.Integration.Tests.Support;
using Tango;
using Tango.ZooKeeper;

namespace Corfu.Integration.Tests.Tool;

/// <summary>Commands of <c>corfu zookeeper</c> that read the log, against an embedded cluster.</summary>
public sealed class ZooKeeperCommandTests
{
    private const long Time = 1_700_000_000_123;

    [Fact]
    public async Task Tree_is_shown_as_of_now_and_as_of_a_position()
    {
        await using var world = await World.StartAsync();
        await world.DoAsync(Create("/b", "1"));
        await world.DoAsync(Create("/a", "first"));
        await world.DoAsync(Create("/a/child", "x"));
        var before = await world.TailAsync();
        await world.DoAsync(new SetDataOp("/a", Encoding.UTF8.GetBytes("second\0\n"), 0));
        await world.DoAsync(new DeleteOp("/b", -1));

        // The bytes as they are, of the tool as a process.
        Assert.Equal("second\0\n", (await CorfuTool.RunProcessAsync(
            "zookeeper", "get", "-c", world.Connection, "/a")).Require().Output);
        Assert.Equal("a\nzookeeper\n", await world.RunAsync("ls", "/"));
        Assert.Equal("a\nb\nzookeeper\n", await world.RunAsync("ls", "--at", before));
        Assert.Equal(
            ["/", "/a", "/a/child", "/zookeeper", "/zookeeper/config", "/zookeeper/quota"],
            (await world.RunAsync("dump")).Split('\n', StringSplitOptions.RemoveEmptyEntries)
                .Select(static line => line.Split(' ')[0]));

        var now = await world.ReadAsync("get", "/a");
        var then = await world.ReadAsync("get", "/a", "--at", before);
        Assert.Equal(("second\0\n", 1), (Data(now), (int)now["version"]!));
        Assert.Equal(("first", 0, before), (Data(then), (int)then["version"]!, (string)then["at"]!.ToString()));
        Assert.Equal("2023-11-14T22:13:20.123+00:00", (string)now["changed"]!);
        Assert.Equal("""[{"permissions":"cdrwa","scheme":"world","id":"anyone"}]""", now["acl"]!.ToJsonString());
        Assert.Equal(1, (int)now["children"]!);
    }

    [Fact]
    public async Task Zxid_and_time_name_a_moment_too()
    {
        await using var world = await World.StartAsync();
        await world.DoAsync(Create("/a", "first"));
        var first = (string)(await world.ReadAsync("get", "/a"))["mzxid"]!;
        await world.DoAsync(new SetDataOp("/a", Encoding.UTF8.GetBytes("second"), 0));
        var second = (string)(await world.ReadAsync("get", "/a"))["mzxid"]!;
        Assert.Equal("first", Data(await world.ReadAsync("get", "/a", "--at", first)));
        Assert.Equal("second", Data(await world.ReadAsync("get", "/a", "--at", second)));
        Assert.Equal("second", Data(await world.ReadAsync("get", "/a", "--at", "2999-01-01T00:00:00Z")));
        Assert.Contains("There was no object 'zookeeper/main' at 0", await world.RefuseAsync(
            ExitCode.Failed, "ls", "--at", "1999-01-01T00:00:00Z"), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Nodes_and_moments_that_are_away_are_told()
    {
        await using var world = await World.StartAsync();
        await world.DoAsync(Create("/a", "1"));
        var tail = await world.TailAsync();
        Assert.Equal($"There is no node '/none' at position {tail}.\n",
            await world.RefuseAsync(ExitCode.NoData, "get", "/none"));
        Assert.Contains("'a/' is no path of a node",
            await world.RefuseAsync(ExitCode.Usage, "ls", "a/"), StringComparison.Ordinal);
        foreach (var moment in (string[])["soon", "0xg", "0x0", "-1", "2026-11-27T19:00:00"])
        {
            Assert.Contains($"'{moment}' is no moment", await world.RefuseAsync(
                ExitCode.Usage, "dump", "--at", moment), StringComparison.Ordinal);
        }

        Assert.Contains("There was no object 'zookeeper/other'",
            await world.RefuseAsync(ExitCode.Failed, "ls", "--service", "other"), StringComparison.Ordinal);
        Assert.NotEqual("", await world.RefuseAsync(ExitCode.Failed, "ls", "--at", "4096"));
        (await CorfuTool.RunAsync("log", "trim", "-c", world.Connection, "--below", tail, "--force")).Require();
        Assert.Contains($"the log is trimmed below {tail}", await world.RefuseAsync(
            ExitCode.Failed, "get", "/a", "--at", "2"), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Settings_are_changed_singly_and_shown()
    {
        await using var world = await World.StartAsync();
        Assert.Equal("ttl-nodes off, enforce-quota off, level 2\n", await world.RunAsync("configure"));
        await world.RunAsync("configure", "--ttl-nodes", "on");
        await world.DoAsync(new CreateOp(
            "/t", [], AclList.Open.Entries, CreateFlags.Ttl, CreateKind.Ttl, Ttl: 1_000));
        Assert.Equal(("ttl", 1_000), (
            (string)(await world.ReadAsync("get", "/t"))["kind"]!, (int)(await world.ReadAsync("get", "/t"))["ttl"]!));
        Assert.Equal(
            """{"service":"main","level":2,"ttlNodes":true,"enforceQuota":true}""" + "\n",
            await world.RunAsync("configure", "--enforce-quota", "on", "--json"));
        Assert.Equal("ttl-nodes off, enforce-quota on, level 2\n",
            await world.RunAsync("configure", "--ttl-nodes", "off"));
        Assert.Contains("'maybe'",
            await world.RefuseAsync(ExitCode.Usage, "configure", "--ttl-nodes", "maybe"), StringComparison.Ordinal);
        Assert.Contains("no object 'zookeeper/none'", await world.RefuseAsync(
            ExitCode.Failed, "configure", "--service", "none"), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Options_that_do_not_go_together_are_refused()
    {
        await using var world = await World.StartAsync();
        string[] import = ["--from", "127.0.0.1:1", "--tls-cert", "none.pem"];
        Assert.Contains("--tls-cert needs --tls-ca",
            await world.RefuseAsync(ExitCode.Usage, "import", import), StringComparison.Ordinal);
        Assert.Contains("none.pem cannot be read", await world.RefuseAsync(
            ExitCode.Usage, "import", [.. import, "--tls-ca", "none.pem"]), StringComparison.Ordinal);
        Assert.Contains("--read-only and --reads linearizable exclude each other", await world.RefuseAsync(
            ExitCode.Usage, "serve", "--read-only", "--reads", "linearizable"), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Path_is_mounted_once_and_read_like_any_other()
    {
        await using var world = await World.StartAsync();
        await world.DoAsync(Create("/b", "1"));
        Assert.Equal("", await world.RunAsync("mount"));
        Assert.Equal("/a zookeeper/main/a\n", await world.RunAsync("mount", "--path", "/a"));
        Assert.Equal("""{"path":"/a/x","objectName":"zookeeper/main/a/x"}""", (await world.RunAsync(
            "mount", "--path", "/a/x", "--json")).Split('\n')[1]);
        foreach (var (path, reason) in ((string, string)[])[
            ("/b", "'/b' exists: a path is mounted before it has nodes"), ("/none/x", "'/none/x' has no parent")])
        {
            Assert.Contains(reason, await world.RefuseAsync(ExitCode.Failed, "mount", "--path", path),
                StringComparison.Ordinal);
        }

        await world.RunAsync("configure", "--ttl-nodes", "on");
        Assert.Equal(
            ["/", "/a", "/a/x", "/b", "/zookeeper", "/zookeeper/config", "/zookeeper/quota"],
            (await world.RunAsync("dump")).Split('\n', StringSplitOptions.RemoveEmptyEntries)
                .Select(static line => line.Split(' ')[0]));
        Assert.Equal("x\n", await world.RunAsync("ls", "/a"));
        Assert.Equal("/a/x", (string)(await world.ReadAsync("get", "/a/x"))["path"]!);
    }

    private static CreateOp Create(string path, string data) =>
        new(path, Encoding.UTF8.GetBytes(data), AclList.Open.Entries, CreateFlags.Persistent);

    private static string Data(JsonNode node) =>
        Encoding.UTF8.GetString(Convert.FromBase64String((string)node["data"]!));

    /// <summary>A tree in an embedded cluster.</summary>
    private sealed class World(EmbeddedCluster cluster, CorfuClient client, TangoRuntime runtime, ZooKeeperTree tree)
        : IAsyncDisposable
    {
        public string Connection => cluster.ConnectionString;

        public static async Task<World> StartAsync()
        {
            var cluster = await EmbeddedCluster.StartAsync(new EmbeddedClusterOptions { Units = 1, Replicas = 1 });
            var client = await cluster.ConnectAsync();
            var runtime = new TangoRuntime(client);
            var tree = await runtime.OpenAsync<ZooKeeperTree>("zookeeper/main", OpenMode.Create);
            await tree.UpdateAsync(new BeginRecord(5, TreeLevel.Newest, new TreeSettings()));
            return new World(cluster, client, runtime, tree);
        }

        public async Task DoAsync(TreeOp op) => Assert.Equal(ZooKeeperError.Ok,
            (await tree.UpdateAsync(new RequestRecord(new RequestHeader(0, 0, 0, Time, []), op))).Error);

        public async Task<string> TailAsync() =>
            (await client.CheckAsync([], ReadConsistency.Linearizable)).Tail.Offset
            .ToString(CultureInfo.InvariantCulture);

        /// <summary>A run, within this process, that succeeds.</summary>
        public async Task<string> RunAsync(string command, params string[] arguments) =>
            (await CorfuTool.RunAsync(["zookeeper", command, "-c", Connection, .. arguments])).Require().Output;

        public async Task<JsonNode> ReadAsync(string command, params string[] arguments) =>
            JsonNode.Parse(await RunAsync(command, [.. arguments, "--json"]))!;

        public Task<string> RefuseAsync(int exitCode, string command, params string[] arguments) =>
            VolumeUsageTests.RefuseAsync(exitCode, ["zookeeper", command, "-c", Connection, .. arguments]);

        public async ValueTask DisposeAsync()
        {
            await runtime.DisposeAsync();
            await client.DisposeAsync();
            await cluster.DisposeAsync();
        }
    }
}
