using Corfu.Storage;
using System.Diagnostics;
using Corfu.Conformance;
using Corfu.Protocol;

namespace Corfu.Unit.Tests;

public sealed class UnitFolderTests : IDisposable
{
    private static readonly ClusterId Cluster = new(new Guid("cccccccc-0000-0000-0000-000000000001"));

    private readonly TempFolder _temp = new();

    private string Folder => Path.Combine(_temp.Path, "unit");

    public void Dispose() => _temp.Dispose();

    [Fact]
    public void Identity_is_drawn_once_and_kept()
    {
        NodeId id;
        using (var folder = Open()) id = folder.Identity.Unit;
        Assert.False(id.IsNone);
        using (var again = Open()) Assert.Equal(id, again.Identity.Unit);
    }

    [Fact]
    public void A_given_identity_is_written_and_insisted_on()
    {
        var id = new NodeId(new Guid("aaaaaaaa-0000-0000-0000-000000000007"));
        using (var folder = Open(unit: id)) Assert.Equal(id, folder.Identity.Unit);
        var error = Assert.Throws<UnitFolderException>(() => Open(unit: new NodeId(Guid.NewGuid())));
        Assert.Contains("belongs to unit", error.Message);
    }

    [Fact]
    public void The_geometry_of_the_log_is_kept_whatever_the_options_say_later()
    {
        using (Open(store: Stores.Small))
        {
        }

        using var again = Open(store: new PageStoreOptions());
        Assert.Equal(Stores.Small.SegmentSize, again.Identity.Store.SegmentSize);
        Assert.Equal(Stores.Small.LogPageSize, again.Identity.Store.LogPageSize);
    }

    [Fact]
    public void A_second_user_is_told_that_the_folder_is_in_use()
    {
        using var first = Open();
        var error = Assert.Throws<UnitFolderException>(() => Open());
        Assert.Contains("in use by another process", error.Message);
        Assert.Contains(Folder, error.Message);
    }

    [Fact]
    public async Task Another_process_cannot_take_the_lock_while_the_unit_runs()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux() && File.Exists("/usr/bin/flock"), "needs flock(1)");
        await using (await OpenNodeAsync()) Assert.NotEqual(0, await FlockAsync());
        Assert.Equal(0, await FlockAsync());
    }

    [Fact]
    public void A_folder_of_another_cluster_is_refused()
    {
        using (Open())
        {
        }

        var error = Assert.Throws<UnitFolderException>(() => Open(cluster: new ClusterId(Guid.NewGuid())));
        Assert.Contains("cluster", error.Message);
    }

    [Fact]
    public void A_folder_with_foreign_content_is_not_formatted()
    {
        Directory.CreateDirectory(Folder);
        File.WriteAllText(Path.Combine(Folder, "thesis.txt"), "years of work");
        var error = Assert.Throws<UnitFolderException>(() => Open());
        Assert.Contains("thesis.txt", error.Message);
    }

    [Fact]
    public void A_folder_whose_identity_got_lost_is_not_formatted_again()
    {
        using (Open())
        {
        }

        File.WriteAllBytes(Path.Combine(Folder, "log", "log.0"), [1]);
        File.Delete(Path.Combine(Folder, "identity"));
        Assert.Throws<UnitFolderException>(() => Open());
    }

    [Fact]
    public void An_interrupted_formatting_is_taken_up_again()
    {
        using (Open())
        {
        }

        File.Delete(Path.Combine(Folder, "identity"));
        using var again = Open();
        Assert.False(again.Identity.Unit.IsNone);
    }

    [Fact]
    public void A_lost_log_or_folder_is_an_error_and_not_a_new_unit()
    {
        Assert.Throws<UnitFolderException>(() => UnitFolder.Open(
            Folder, NodeId.None, Cluster, SystemEntropy.Instance, Stores.Small, mustExist: true));
        using (Open())
        {
        }

        Directory.Delete(Path.Combine(Folder, "log"), true);
        Assert.Contains("lost its log", Assert.Throws<UnitFolderException>(() => Open()).Message);
    }

    [Theory]
    [InlineData("")]
    [InlineData("format=corfu-unit-9\n")]
    [InlineData("format=corfu-unit-1\nunit=nonsense\n")]
    public void A_damaged_identity_is_named(string text)
    {
        using (Open())
        {
        }

        File.WriteAllText(Path.Combine(Folder, "identity"), text);
        Assert.Contains("identity", Assert.Throws<UnitFolderException>(() => Open()).Message);
    }

    [Fact]
    public void A_folder_that_cannot_be_written_is_a_clear_error()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "uses /proc as a folder that nobody can write");
        var error = Assert.Throws<UnitFolderException>(() => UnitFolder.Open(
            "/proc/corfu-unit", NodeId.None, Cluster, SystemEntropy.Instance, new PageStoreOptions()));
        Assert.Contains("/proc/corfu-unit", error.Message);
        Assert.Contains("cannot be written", error.Message);
    }

    [Fact]
    public async Task Node_serves_the_pages_of_the_predecessor_in_the_folder()
    {
        NodeId id;
        await using (var node = await OpenNodeAsync())
        {
            id = node.Id;
            var client = new HandlerClient(node.Handler);
            await client.AskAsync(new InstallRequest(Entries.Projection(1, unit: node.Id, cluster: Cluster)));
            Assert.Equal(Status.Ok, (await client.AskAsync(new WriteRequest(Epoch.First, Entries.Data(3)))).Status);
        }

        await using var next = await OpenNodeAsync();
        Assert.Equal(id, next.Id);
        var read =
            await new HandlerClient(next.Handler).AskAsync(new ReadRequest(Epoch.First, Entries.Positions(3),
                ReadDetail.Full));
        Assert.Equal(Entries.Data(3), read.Pages[0].Bytes.ToArray());
    }

    [Fact]
    public async Task A_node_refuses_a_damaged_log_and_lets_the_folder_go()
    {
        await using (var node = await OpenNodeAsync())
        {
            var client = new HandlerClient(node.Handler);
            await client.AskAsync(new InstallRequest(Entries.Projection(1, unit: node.Id, cluster: Cluster)));
            for (var i = 0; i < 5; i++) await client.AskAsync(new WriteRequest(Epoch.First, Entries.Data(i)));
        }

        var log = Path.Combine(Folder, "log", "log.0");
        var bytes = await File.ReadAllBytesAsync(log);
        bytes[bytes.AsSpan().IndexOf("CFE1"u8) - 20] ^= 1;
        await File.WriteAllBytesAsync(log, bytes);
        await Assert.ThrowsAsync<LogDamagedException>(OpenNodeAsync);
        using var again = Open();
    }

    [Fact]
    public void Faulty_store_options_are_all_named_at_once()
    {
        var options = new PageStoreOptions { LogPageSize = 1000, SegmentSize = 3, Reserve = 0 };
        var error = Assert.Throws<ArgumentException>(() => Stores.Faster(Folder, options));
        Assert.Contains("LogPageSize", error.Message);
        Assert.Contains("SegmentSize", error.Message);
        Assert.Contains("Reserve", error.Message);
    }

    private UnitFolder Open(NodeId unit = default, ClusterId? cluster = null, PageStoreOptions? store = null) =>
        UnitFolder.Open(Folder, unit, cluster ?? Cluster, SystemEntropy.Instance, store ?? Stores.Small);

    private Task<UnitNode> OpenNodeAsync() =>
        UnitNode.OpenAsync(new UnitNodeOptions { Folder = Folder, Cluster = Cluster, Store = Stores.Small },
            SystemEntropy.Instance);

    private async Task<int> FlockAsync()
    {
        using var process = Process.Start("/usr/bin/flock", ["--nonblock", Path.Combine(Folder, "lock"), "true"]);
        await process.WaitForExitAsync();
        return process.ExitCode;
    }
}
