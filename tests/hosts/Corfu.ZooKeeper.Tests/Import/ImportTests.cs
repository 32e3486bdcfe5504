using System.Net;
using System.Text;
using Corfu.TestKit;
using Corfu.ZooKeeper.Hosting;
using Corfu.ZooKeeper.Import;
using Tango;
using Tango.Testing;

namespace Corfu.ZooKeeper.Tests.Import;

/// <summary>Copies of a service into a tree. The service is a front end over another log.</summary>
public sealed class ImportTests
{
    private static readonly ImmutableArray<AclEntry> s_open = AclList.Open.Entries;

    [Fact]
    public async Task Copy_has_data_lists_versions_and_counters_and_a_second_run_is_idle()
    {
        await using var world = await World.StartAsync();
        await world.DoAsync(new CreateOp("/a", Encoding.UTF8.GetBytes("data"), s_open, CreateFlags.Persistent));
        await world.DoAsync(new SetDataOp("/a", null, 0));
        await world.DoAsync(new SetDataOp("/a", [1, 2], 1));
        await world.DoAsync(Create("/a/q-", CreateFlags.Sequential));
        await world.DoAsync(Create("/a/q-", CreateFlags.Sequential));
        await world.DoAsync(new DeleteOp("/a/q-0000000000", -1));
        await world.DoAsync(new SetAclOp("/a", [new AclEntry(Permissions.Read, "world", "anyone"),
            new AclEntry(Permissions.All, "ip", "127.0.0.1")], 0));
        await world.DoAsync(Create("/a/e", CreateFlags.Ephemeral));

        var seen = new List<ImportProgress>();
        var report = await world.CopyAsync(seen.Add);
        Assert.Equal((4, 1, 0), (report.Written + report.Ephemerals, report.Ephemerals, report.Left.Length));
        Assert.Equal(new ImportProgress(report.Read, report.Written), seen[^1]);
        Assert.Empty(await world.DifferencesAsync());
        Assert.Equal(0, (await world.CopyAsync()).Written);

        var copy = await world.CopiedAsync();
        var (there, here) = ((await world.SourceAsync()).Find("/a")!.Stat, copy.Find("/a")!.Stat);
        Assert.Equal((there.Version, there.Aversion, there.Creates, there.Ctime, there.Mtime),
            (here.Version, here.Aversion, here.Creates, here.Ctime, here.Mtime));
        Assert.Equal((byte[])[1, 2], copy.Find("/a")!.Data!.Value.ToArray());
        Assert.Equal((await world.SourceAsync()).Find("/a")!.Acl, copy.Find("/a")!.Acl);
        Assert.Null(copy.Find("/a/e"));
        Assert.NotNull(copy.Find("/a/q-0000000001"));
    }

    [Fact]
    public async Task Repetition_copies_changes_and_tells_differences()
    {
        await using var world = await World.StartAsync();
        await world.DoAsync(Create("/a"));
        await world.DoAsync(Create("/b"));
        await world.CopyAsync();
        await world.DoAsync(new SetDataOp("/a", [7], -1));
        await world.DoAsync(new DeleteOp("/b", -1));
        await world.DoAsync(Create("/c"));
        Assert.Equal(["/ creates", "/a data", "/b node", "/c node"], await world.DifferencesAsync());
        Assert.Equal(3, (await world.CopyAsync()).Written);
        Assert.Equal(["/b node"], await world.DifferencesAsync());
        Assert.Equal(1, (await world.CopyAsync(delete: true)).Deleted);
        Assert.Empty(await world.DifferencesAsync());
    }

    [Fact]
    public async Task Part_of_the_service_is_copied_with_the_nodes_above()
    {
        await using var world = await World.StartAsync();
        foreach (var path in (string[])["/a", "/a/b", "/a/b/c", "/a/other", "/z"]) await world.DoAsync(Create(path));
        var report = await world.CopyAsync(path: "/a/b");
        Assert.Equal((2, 0), (report.Read, report.Left.Length));
        var copy = await world.CopiedAsync();
        Assert.Equal(["/a", "/a/b", "/a/b/c"], copy.Subtree("/a").Select(static node => node.Path));
        Assert.Null(copy.Find("/z"));
        Assert.Empty(await world.DifferencesAsync("/a/b"));
        var missing = await Assert.ThrowsAsync<CorfuException>(() => world.CopyAsync(path: "/none"));
        Assert.Equal("'/none' cannot be copied: the server has no such node.", missing.Message);
    }

    [Fact]
    public async Task Lists_that_only_an_administrator_sees_are_not_guessed()
    {
        await using var world = await World.StartAsync();
        var digest = Convert.ToBase64String(
            System.Security.Cryptography.SHA1.HashData(Encoding.UTF8.GetBytes("u:secret")));
        var ofUser = new AclEntry(Permissions.All, "digest", "u:" + digest);
        await world.DoAsync(Create("/shown", acl: [new AclEntry(Permissions.Read, "world", "anyone"), ofUser]));
        await world.DoAsync(Create("/hidden", acl: [ofUser]));

        var report = await world.CopyAsync();
        Assert.Equal(["/hidden", "/shown"], report.Left.Select(static fault => fault.Path).Order());
        Assert.All(report.Left, fault => Assert.Contains("--auth", fault.Reason, StringComparison.Ordinal));
        Assert.Equal(["/hidden node", "/shown node"], (await world.DifferencesAsync()).Order());

        var auth = ImmutableArray.Create(KeyValuePair.Create("digest", "u:secret"));
        Assert.Empty((await world.CopyAsync(auth: auth)).Left);
        Assert.Equal("u:" + digest, (await world.CopiedAsync()).Find("/hidden")!.Acl.Entries[0].Id);
        await Assert.ThrowsAsync<ZooClientException>(
            () => world.CopyAsync(auth: [KeyValuePair.Create("sasl", "x")]));
    }

    [Fact]
    public async Task Interrupted_copy_keeps_written_nodes_and_goes_on()
    {
        await using var world = await World.StartAsync();
        await Task.WhenAll(Enumerable.Range(0, 600).Select(i => world.DoAsync(Create($"/n{i}"))));
        using var stop = new CancellationTokenSource();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => world.CopyAsync(progress =>
        {
            if (progress.Written > 0) stop.Cancel();
        }, stop: stop.Token));
        var kept = (await world.CopiedAsync()).NodeCount;
        Assert.InRange(kept, 5, 603);
        var rest = await world.CopyAsync();
        Assert.Equal(604 - kept, rest.Written);
        Assert.Empty(await world.DifferencesAsync());
    }

    [Fact]
    public async Task Large_nodes_are_copied_and_quotas_are_measured()
    {
        await using var world = await World.StartAsync();
        await world.DoAsync(Create("/big", data: new byte[900_000]));
        await world.DoAsync(Create("/big/2", data: new byte[900_000]));
        foreach (var path in (string[])["/zookeeper/quota/big", "/zookeeper/quota/big/zookeeper_stats"])
            await world.DoAsync(Create(path));
        await world.DoAsync(Create("/zookeeper/quota/big/zookeeper_limits",
            data: Encoding.UTF8.GetBytes("count=5,bytes=-1")));
        Assert.Empty((await world.CopyAsync()).Left);
        Assert.Empty(await world.DifferencesAsync());
        Assert.Equal("count=2,bytes=1800000", Encoding.UTF8.GetString(
            (await world.CopiedAsync()).Find("/zookeeper/quota/big/zookeeper_stats")!.Data!.Value.Span));
    }

    [Fact]
    public async Task Copy_below_a_mount_is_in_the_partition_of_the_mount()
    {
        await using var world = await World.StartAsync();
        foreach (var path in (string[])["/a", "/a/x", "/a/x/y", "/b", "/b/c", "/b/c/x", "/b/d", "/z"])
            await world.DoAsync(Create(path));
        await world.DoAsync(Create("/a/q-", CreateFlags.Sequential));
        await world.MountAsync("/a", "/b/c");

        Assert.Empty((await world.CopyAsync()).Left);
        Assert.Empty(await world.DifferencesAsync());
        Assert.Equal(["/a", "/a/q-0000000001", "/a/x", "/a/x/y"], await world.PathsAsync("zookeeper/main/a", "/a"));
        Assert.Equal(["/b/c", "/b/c/x"], await world.PathsAsync("zookeeper/main/b/c", "/b/c"));
        Assert.Equal(["/a"], (await world.CopiedAsync()).Subtree("/a").Select(static node => node.Path));

        await world.DoAsync(new SetDataOp("/b/c/x", [7], -1));
        await world.DoAsync(new DeleteOp("/a/x/y", -1));
        Assert.Equal(["/a/x/y node", "/b/c/x data"], await world.DifferencesAsync());
        var report = await world.CopyAsync(delete: true);
        Assert.Equal((1, 1), (report.Written, report.Deleted));
        Assert.Empty(await world.DifferencesAsync());
        Assert.Equal(0, (await world.CopyAsync(path: "/b/c")).Written);
    }

    [Fact]
    public async Task Server_that_is_away_is_told()
    {
        await using var runtime = new TangoRuntime(new InMemoryCorfuLog());
        var away = await Assert.ThrowsAsync<ZooClientException>(
            () => ZooKeeperImport.OpenAsync(runtime, new ImportOptions("127.0.0.1", 1)));
        Assert.StartsWith("No ZooKeeper answers at 127.0.0.1:1: ", away.Message, StringComparison.Ordinal);
        await Assert.ThrowsAsync<ArgumentException>(
            () => ZooKeeperImport.OpenAsync(runtime, new ImportOptions("127.0.0.1", 1) { Path = "a" }));
    }

    private static CreateOp Create(string path, CreateFlags flags = CreateFlags.Persistent,
        ImmutableArray<AclEntry> acl = default, byte[]? data = null) =>
        new(path, data ?? [], acl.IsDefault ? s_open : acl, flags);

    /// <summary>A service, and a log that has no tree yet.</summary>
    private sealed class World(
        TangoRuntime there, ZooKeeperFrontEnd frontEnd, ZooClient client, TangoRuntime here) : IAsyncDisposable
    {
        public static async Task<World> StartAsync()
        {
            var there = new TangoRuntime(new InMemoryCorfuLog(), ZooKeeperFrontEnd.RuntimeOptions);
            var frontEnd = await ZooKeeperFrontEnd.StartAsync(
                there, new ZooKeeperFrontEndOptions(new IPEndPoint(IPAddress.Loopback, 0)), new ManualTime());
            var client = await ZooClient.ConnectAsync("127.0.0.1", frontEnd.EndPoint.Port);
            return new World(there, frontEnd, client, new TangoRuntime(new InMemoryCorfuLog()));
        }

        public async Task DoAsync(NodeOp op)
        {
            var code = op switch
            {
                CreateOp => OpCode.Create,
                DeleteOp => OpCode.Delete,
                SetDataOp => OpCode.SetData,
                _ => OpCode.SetAcl,
            };
            Assert.Equal(ErrorCode.Ok, (await client.SendAsync(new WriteRequest(code, op))).Error);
        }

        public async Task<ImportReport> CopyAsync(Action<ImportProgress>? progress = null, string path = "/",
            ImmutableArray<KeyValuePair<string, string>> auth = default, bool delete = false,
            CancellationToken stop = default)
        {
            await using var import = await OpenAsync(path, auth, delete);
            return await import.CopyAsync(progress, stop);
        }

        /// <summary>Paths and fields, in order.</summary>
        public async Task<List<string>> DifferencesAsync(string path = "/")
        {
            await using var import = await OpenAsync(path, default, false);
            var found = new List<string>();
            await foreach (var one in import.FindDifferencesAsync()) found.Add($"{one.Path} {one.Field}");
            found.Sort(StringComparer.Ordinal);
            return found;
        }

        /// <summary>Begins the tree, and mounts paths before it has nodes there.</summary>
        public async Task MountAsync(params string[] mounts)
        {
            await using (await OpenAsync("/", default, false))
            {
            }

            var tree = await here.OpenAsync<ZooKeeperTree>("zookeeper/main");
            await tree.UpdateAsync(new RequestRecord(new RequestHeader(0, 0, 0, 0, []), Create("/b")));
            var partitions = TreePartitions.Of(here, "main", tree);
            foreach (var mount in mounts) await partitions.MountAsync(mount, seed: 5);
        }

        /// <summary>Paths of an object at and below a path, in order.</summary>
        public async Task<IEnumerable<string>> PathsAsync(string name, string path)
        {
            var root = await (await here.OpenAsync<ZooKeeperTree>(name)).ReadAsync();
            return root.Subtree(path).Select(static node => node.Path).Order(StringComparer.Ordinal);
        }

        public Task<TreeRoot> SourceAsync() => ReadAsync(there);

        public Task<TreeRoot> CopiedAsync() => ReadAsync(here);

        public async ValueTask DisposeAsync()
        {
            await client.DisposeAsync();
            await frontEnd.DisposeAsync();
            await there.DisposeAsync();
            await here.DisposeAsync();
        }

        private Task<ZooKeeperImport> OpenAsync(
            string path, ImmutableArray<KeyValuePair<string, string>> auth, bool delete) =>
            ZooKeeperImport.OpenAsync(here, new ImportOptions("127.0.0.1", frontEnd.EndPoint.Port)
            {
                Path = path,
                Auth = auth.IsDefault ? [] : auth,
                Delete = delete,
            });

        private static async Task<TreeRoot> ReadAsync(TangoRuntime runtime) =>
            await (await runtime.OpenAsync<ZooKeeperTree>("zookeeper/main")).ReadAsync();
    }
}
