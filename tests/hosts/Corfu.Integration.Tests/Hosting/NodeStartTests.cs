using System.Net;
using System.Net.Sockets;
using Corfu.Hosting;
using Corfu.Integration.Tests.Support;
using Corfu.Protocol;
using Corfu.Unit;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging.Abstractions;

namespace Corfu.Integration.Tests.Hosting;

public sealed class NodeStartTests
{
    [Fact]
    public async Task A_node_in_a_host_of_ones_own_serves_and_is_healthy()
    {
        using var folder = new TempFolder();
        using var host = BuildHost(folder.File("unit"), TestPorts.Take());
        await host.StartAsync();
        var health = await host.Services.GetRequiredService<HealthCheckService>().CheckHealthAsync();
        Assert.Equal(HealthStatus.Healthy, health.Status);
        Assert.Equal(["corfu-node-live", "corfu-node-ready"], health.Entries.Keys.Order());
        await host.StopAsync();
        health = await host.Services.GetRequiredService<HealthCheckService>().CheckHealthAsync();
        Assert.Equal(HealthStatus.Unhealthy, health.Entries["corfu-node-ready"].Status);
    }

    [Fact]
    public async Task Node_whose_disk_fills_is_degraded_before_the_disk_is_full()
    {
        using var folder = new TempFolder();
        using var disk = SmallDisk.TryMount(folder.File("small"), 64);
        Assert.SkipWhen(disk is null, "needs root, to mount a tmpfs");
        using var host = BuildHost(folder.File("small/unit"), TestPorts.Take(), store: new PageStoreOptions
        {
            LogPageSize = 256 << 10,
            LogMemory = 2 << 20,
            SegmentSize = 4 << 20,
            Reserve = 2 << 20,
            HotBytes = 1 << 20,
            MapIndexSize = 1 << 20,
            MapMemory = 1 << 20,
        });
        await host.StartAsync();
        var health = host.Services.GetRequiredService<HealthCheckService>();
        Assert.Equal(HealthStatus.Healthy, (await health.CheckHealthAsync()).Status);
        var left = (int)new DriveInfo(folder.File("small")).AvailableFreeSpace;
        // A sixteenth is kept free; a tenth above that is the warning.
        await File.WriteAllBytesAsync(folder.File("small/ballast"), new byte[left - (64 << 20) / 16 - (5 << 20)]);
        var ready = (await health.CheckHealthAsync()).Entries["corfu-node-ready"];
        Assert.Equal(HealthStatus.Degraded, ready.Status);
        Assert.Contains("nearly full: ", ready.Description, StringComparison.Ordinal);
        await host.StopAsync();
    }

    [Fact]
    public async Task An_occupied_port_is_named_and_leaves_the_folder_free()
    {
        using var folder = new TempFolder();
        using var squatter = new TcpListener(IPAddress.Loopback, 0);
        squatter.Start();
        var port = ((IPEndPoint)squatter.LocalEndpoint).Port;
        var cluster = Guid.NewGuid();
        using var host = BuildHost(folder.File("unit"), port, cluster);
        var fault = await Assert.ThrowsAsync<NodeStartException>(() => host.StartAsync());
        Assert.Contains($"The port {port} of 127.0.0.1 is occupied", fault.Message, StringComparison.Ordinal);

        using var elsewhere = BuildHost(folder.File("unit"), TestPorts.Take(), cluster);
        await elsewhere.StartAsync();
        await elsewhere.StopAsync();
    }

    [Fact]
    public async Task A_folder_that_cannot_be_made_is_named()
    {
        using var folder = new TempFolder();
        File.WriteAllText(folder.File("file"), "in the way");
        using var host = BuildHost(folder.File("file/unit"), TestPorts.Take());
        var fault = await Assert.ThrowsAsync<NodeStartException>(() => host.StartAsync());
        Assert.Contains(folder.File("file/unit"), fault.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_folder_of_a_read_only_file_system_is_named()
    {
        // The kernel's own file system takes no new folders, not even from root.
        Assert.SkipUnless(OperatingSystem.IsLinux(), "needs /proc");
        using var host = BuildHost("/proc/corfu-unit", TestPorts.Take());
        var fault = await Assert.ThrowsAsync<NodeStartException>(() => host.StartAsync());
        Assert.Contains("/proc/corfu-unit cannot be made", fault.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_folder_that_was_never_formatted_is_not_taken()
    {
        using var folder = new TempFolder();
        var options = Options(folder.Path, TestPorts.Take());
        options.FormatNewFolders = false;
        var fault =
            await Assert.ThrowsAsync<NodeStartException>(
                () => CorfuNode.StartAsync(options, NullLoggerFactory.Instance, TimeProvider.System));
        Assert.Contains("never formatted", fault.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_folder_of_another_cluster_is_not_taken()
    {
        using var folder = new TempFolder();
        await using (await CorfuNode.StartAsync(Options(folder.Path, TestPorts.Take()), NullLoggerFactory.Instance,
            TimeProvider.System))
        {
        }

        var fault = await Assert.ThrowsAsync<NodeStartException>(
            () => CorfuNode.StartAsync(Options(folder.Path, TestPorts.Take()), NullLoggerFactory.Instance,
                TimeProvider.System));
        Assert.Contains("belongs to the cluster", fault.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_node_whose_background_loops_have_ended_is_not_healthy()
    {
        using var folder = new TempFolder();
        var time = new BreakableTime();
        await using var node = await CorfuNode.StartAsync(
            Options(folder.Path, TestPorts.Take()), NullLoggerFactory.Instance, time);
        Assert.Empty(node.Faults);
        time.IsBroken = true;
        while (node.Faults.Length < 2) await Task.Yield();
        Assert.StartsWith("The agent has ended", node.Faults[0], StringComparison.Ordinal);
        Assert.StartsWith("The roles are not looked after any more", node.Faults[1], StringComparison.Ordinal);
        time.IsBroken = false;
    }

    private sealed class BreakableTime : TimeProvider
    {
        public volatile bool IsBroken;

        public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period) =>
            IsBroken
                ? throw new InvalidOperationException("no timers any more")
                : base.CreateTimer(callback, state, dueTime, period);
    }

    private static IHost BuildHost(string folder, int port, Guid? cluster = null, PageStoreOptions? store = null)
    {
        var builder = Host.CreateEmptyApplicationBuilder(null);
        var options = Options(folder, port);
        builder.Services.AddCorfuNode(node =>
        {
            node.Cluster = cluster ?? options.Cluster;
            node.Listen = options.Listen;
            node.FormatNewFolders = true;
            if (store is not null)
                node.Limits = new NodeLimits { Unit = new UnitNodeOptions { MaxPayload = 65536, Store = store } };
            foreach (var role in options.Roles) node.Roles.Add(role);
        });
        return builder.Build();
    }

    private static NodeOptions Options(string folder, int port)
    {
        var options = new NodeOptions
        {
            Cluster = Guid.NewGuid(),
            Listen = $"127.0.0.1:{port}",
            FormatNewFolders = true
        };
        options.Roles.Add(new NodeRoleOptions { Role = NodeRole.Unit, Folder = folder });
        return options;
    }
}
