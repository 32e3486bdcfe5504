using System.Net;
using System.Net.Sockets;
using Corfu.Cli;
using Corfu.Hosting;
using Salus;
using Salus.Hosting;
using Salus.Protocol;

namespace Corfu.Integration.Tests.Tool;

/// <summary>Misuse of <c>corfu volume</c> against embedded nodes: exit codes, and what a person reads.</summary>
public sealed class VolumeCommandTests(VolumeCommandTests.Nodes nodes) : IClassFixture<VolumeCommandTests.Nodes>
{
    private const int Refused = 1;
    private const int Usage = 2;

    private string Log => nodes.Log;

    [Fact]
    public async Task Unknown_volumes_and_snapshots_are_refused_with_the_command_for_a_list()
    {
        foreach (var arguments in new string[][]
        {
            ["status", "-c", Log, "w"], ["check", "-c", Log, "w"], ["delete", "-c", Log, "w"],
            ["snapshot", "-c", Log, "w"], ["snapshot", "-c", Log, "w", "s"],
            ["recover", "-c", Log, "w", "--accept-loss"], ["serve", "-c", Log, "w", "--listen", "127.0.0.1:0"],
        })
        {
            var message = await RefuseAsync(Refused, ["volume", .. arguments]);
            Assert.Contains("There is no volume", message, StringComparison.Ordinal);
            Assert.Contains("'corfu volume list'", message, StringComparison.Ordinal);
        }

        foreach (var arguments in new string[][]
        {
            ["snapshot", "-c", Log, "v", "s", "--delete"], ["serve", "-c", Log, "v@s", "--listen", "127.0.0.1:0"],
        })
        {
            var message = await RefuseAsync(Refused, ["volume", .. arguments]);
            Assert.Contains("'corfu volume snapshot", message, StringComparison.Ordinal);
        }
    }

    [Fact]
    public async Task Bad_names_and_needless_recoveries_are_refused()
    {
        Assert.Contains("take another name",
            await RefuseAsync(Refused, "volume", "create", "-c", Log, "v", "--size", "64M"), StringComparison.Ordinal);
        Assert.Contains("separates a volume from its snapshot",
            await RefuseAsync(Refused, "volume", "create", "-c", Log, "a@b", "--size", "64M"),
            StringComparison.Ordinal);
        Assert.Contains("1 to 255 bytes",
            await RefuseAsync(Refused, "volume", "create", "-c", Log, "", "--size", "64M"), StringComparison.Ordinal);
        Assert.Contains("--accept-loss",
            await RefuseAsync(Usage, "volume", "recover", "-c", Log, "v"), StringComparison.Ordinal);
        Assert.Contains("does not wait for anything that is lost",
            await RefuseAsync(Refused, "volume", "recover", "-c", Log, "v", "--accept-loss"),
            StringComparison.Ordinal);
        await using var connection = await SalusConnection.OpenAsync(Log);
        Assert.Equal(["v"], (await connection.Log.Admin.ListAsync()).Select(volume => volume.Name));
    }

    [Fact]
    public async Task Volume_in_use_is_not_deleted_and_an_occupied_port_is_refused()
    {
        await using var connection = await SalusConnection.OpenAsync(Log);
        await using var volume = await connection.MountAsync("v");
        Assert.Contains("is mounted", await RefuseAsync(Refused, "volume", "delete", "-c", Log, "v"),
            StringComparison.Ordinal);
        using var taken = new TcpListener(IPAddress.Loopback, 0);
        taken.Start();
        Assert.Contains("is occupied by another process", await RefuseAsync(
            Refused, "volume", "serve", "-c", Log, "v", "--listen", $"{taken.LocalEndpoint}"),
            StringComparison.Ordinal);
        var written = new byte[volume.BlockSize];
        written.AsSpan().Fill(7);
        await volume.WriteAsync(0, written, durable: true);
    }

    /// <summary>The last '@' separated: the snapshot was taken, and no client found it.</summary>
    [Fact]
    public async Task Snapshot_whose_name_has_an_at_sign_is_found()
    {
        Assert.Equal(ExitCode.Ok, await CommandLine.RunAsync(
            ["volume", "snapshot", "-c", Log, "v", "s@t"], TextWriter.Null, TextWriter.Null));
        await using var connection = await SalusConnection.OpenAsync(Log);
        await using var snapshot = await connection.MountAsync("v@s@t");
        Assert.True(snapshot.IsReadOnly);
    }

    private static Task<string> RefuseAsync(int exitCode, params string[] arguments) =>
        VolumeUsageTests.RefuseAsync(exitCode, arguments);

    /// <summary>A log, three nodes and volume <c>v</c>, within this process.</summary>
    public sealed class Nodes : IAsyncLifetime
    {
        private EmbeddedCluster _cluster = null!;
        private EmbeddedSalus _salus = null!;

        public string Log => _cluster.ConnectionString;

        public async ValueTask InitializeAsync()
        {
            _cluster = await EmbeddedCluster.StartAsync(new EmbeddedClusterOptions { Units = 1, Replicas = 1 });
            _salus = await EmbeddedSalus.StartAsync(Log);
            await using var connection = await SalusConnection.OpenAsync(Log);
            await connection.Log.Admin.CreateAsync("v", VolumeGeometry.Create(64 << 20));
        }

        public async ValueTask DisposeAsync()
        {
            await _salus.DisposeAsync();
            await _cluster.DisposeAsync();
        }
    }
}
