using Corfu.Client;
using Corfu.Integration.Tests.Support;
using Corfu.Protocol;

namespace Corfu.Integration.Tests.Processes;

/// <summary>A node whose unit and acceptor share a real file system of 64 MiB, which fills.</summary>
public sealed class FullDiskTests
{
    private const int Payload = 32 << 10;

    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(90);

    [Fact]
    public async Task A_full_file_system_refuses_appends_until_a_trim_and_takes_part_in_epochs_meanwhile()
    {
        using var cluster = await SmallDiskCluster.TryStartAsync();
        Assert.SkipWhen(cluster is null, "needs root, to mount a tmpfs");
        var c = cluster.Connection;
        await using var client = await CorfuClient.ConnectAsync(c);
        var last = await FillAsync(client);
        var refused = await CorfuTool.RunWithInputAsync(new string('x', Payload), "log", "append", "--connect", c);
        Assert.Equal(1, refused.ExitCode);
        Assert.Contains("NoSpace", refused.Error);
        Assert.Contains("disk is full", (await CorfuTool.RunAsync("status", "--connect", c)).Output);

        // A seal, a vote and an install, all on the full disk.
        var epoch = (await client.Cluster.RefreshAsync()).Epoch;
        await cluster.ReconfigureAsync("replace-sequencer", cluster.Address);
        Assert.Equal(epoch.Next, (await client.Cluster.RefreshAsync()).Epoch);
        Assert.True((await client.ReadManyAsync([last]))[0].IsData);

        (await CorfuTool.RunAsync("log", "trim", "--connect", c, "--below", $"{last.Offset}")).Require();
        await AppendWhenThereIsRoomAsync(client);
        await cluster.RestartAsync();
        await cluster.ReconfigureAsync("auto", "on");
        (await client.AppendAsync(new byte[Payload], [])).Require();
        Assert.True((await client.ReadManyAsync([last]))[0].IsData);
    }

    /// <summary>Appends until the disk is full; the last position that was acknowledged.</summary>
    private static async Task<LogPosition> FillAsync(CorfuClient client)
    {
        var last = LogPosition.Zero;
        for (var i = 0; i < (SmallDiskCluster.Mebibytes << 20) / Payload; i++)
        {
            try
            {
                last = (await client.AppendAsync(new byte[Payload], [])).Require();
            }
            catch (CorfuException e) when (e.Message.Contains("NoSpace", StringComparison.Ordinal))
            {
                return last;
            }
        }

        throw new InvalidOperationException("The disk does not fill.");
    }

    private static async Task AppendWhenThereIsRoomAsync(CorfuClient client)
    {
        var began = TimeProvider.System.GetTimestamp();
        while (true)
        {
            try
            {
                (await client.AppendAsync(new byte[Payload], [])).Require();
                return;
            }
            catch (CorfuException e) when (TimeProvider.System.GetElapsedTime(began) < Patience)
            {
                Assert.Contains("NoSpace", e.Message);
            }
        }
    }
}
