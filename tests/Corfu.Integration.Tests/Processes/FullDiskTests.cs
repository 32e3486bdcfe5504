using System.Text.Json;
using Corfu.Client;
using Corfu.Integration.Tests.Support;
using Corfu.Protocol;
using Tango;
using Tango.Collections;

namespace Corfu.Integration.Tests.Processes;

/// <summary>A node whose unit and acceptor share a real file system of 64 MiB, which fills.</summary>
public sealed class FullDiskTests
{
    private const int Payload = 32 << 10;
    private const int Keys = 8;

    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(90);

    // A sixteenth of the file system stays free whatever these say.
    private const string Limits =
        """
        {
          "unit": {
            "maxPayload": 65536,
            "store": {
              "logPageSize": 262144, "logMemory": 2097152, "segmentSize": 4194304, "reserve": 2097152,
              "headroom": 4194304, "hotBytes": 1048576, "mapIndexSize": 1048576, "mapMemory": 1048576
            }
          }
        }
        """;

    [Fact]
    public async Task A_full_file_system_refuses_appends_until_a_trim_and_takes_part_in_epochs_meanwhile()
    {
        using var nodes = new LocalNodes();
        using var disk = SmallDisk.TryMount(nodes.PathOf("small"), 64);
        Assert.SkipWhen(disk is null, "needs root, to mount a tmpfs");
        var b = await StartAsync(nodes);
        await using var client = await CorfuClient.ConnectAsync($"corfu://{b}");
        var last = await FillAsync(client);
        var refused = await CorfuTool.RunWithInputAsync(new string('x', Payload), "log", "append", "--connect",
            $"corfu://{b}");
        Assert.Equal(1, refused.ExitCode);
        Assert.Contains("NoSpace", refused.Error);
        Assert.Contains("disk is full", (await CorfuTool.RunAsync("status", "--connect", $"corfu://{b}")).Output);

        // A seal, a vote and an install, all on the full disk.
        var epoch = (await client.RefreshAsync()).Epoch;
        await ReconfigureAsync(b, "replace-sequencer", b);
        Assert.Equal(epoch.Next, (await client.RefreshAsync()).Epoch);
        Assert.True((await client.ReadManyAsync([last]))[0].IsData);

        (await CorfuTool.RunAsync("log", "trim", "--connect", $"corfu://{b}", "--below", $"{last.Offset}")).Require();
        await AppendWhenThereIsRoomAsync(client);
        await nodes.StopAsync("small", "KILL");
        await nodes.StartAsync("small");
        await ReconfigureAsync(b, "auto", "on");
        (await client.AppendAsync(new byte[Payload], [])).Require();
        Assert.True((await client.ReadManyAsync([last]))[0].IsData);
    }

    /// <summary>The first step of "A disk is full" (docs/operations.md): appends fail, and status still says what holds
    /// the log.</summary>
    [Fact]
    public async Task Status_on_a_full_disk_names_what_pins_the_log()
    {
        using var nodes = new LocalNodes();
        using var disk = SmallDisk.TryMount(nodes.PathOf("small"), 64);
        Assert.SkipWhen(disk is null, "needs root, to mount a tmpfs");
        var c = $"corfu://{await StartAsync(nodes)}";
        await using var client =
            await CorfuClient.ConnectAsync(c, new CorfuClientOptions { MaxPayload = 2 * Payload });
        await using var runtime = new TangoRuntime(client, new TangoOptions { Checkpoints = null });
        await FillAsync(await runtime.OpenAsync<TangoDictionary<int, string>>("stock"));

        var status = await CorfuTool.RunAsync("status", "--connect", c, "--json");
        using var json = JsonDocument.Parse(status.Output);
        Assert.Contains("disk is full", json.RootElement.GetProperty("verdict").GetString(), StringComparison.Ordinal);
        Assert.Equal(0, json.RootElement.GetProperty("trim").GetProperty("pinned").GetInt64());
    }

    /// <summary>One unit, one acceptor and the sequencer on the small disk.</summary>
    private static async Task<string> StartAsync(LocalNodes nodes)
    {
        var (a, b) = (LocalNodes.FreeAddress(), LocalNodes.FreeAddress());
        await nodes.InitAsync("a", a);
        await nodes.JoinAsync("small", a, b, "unit,acceptor,sequencer", Limits);
        await ReconfigureAsync(a, "auto", "off");
        await ReconfigureAsync(a, "add-unit", b);
        await ReconfigureAsync(a, "remove-unit", a);
        await ReconfigureAsync(a, "set-acceptors", b);
        return b;
    }

    /// <summary>Updates until one is refused for want of space.</summary>
    private static async Task FillAsync(TangoDictionary<int, string> stock)
    {
        for (var i = 0; i < 2 * (64 << 20) / Payload; i++)
        {
            try
            {
                await stock.SetAsync(i % Keys, $"{i} ".PadRight(Payload, '.'));
            }
            catch (Exception e) when (e.ToString().Contains("NoSpace", StringComparison.Ordinal))
            {
                return;
            }
        }

        throw new InvalidOperationException("The disk does not fill.");
    }

    private static async Task ReconfigureAsync(string node, string command, params string[] arguments) =>
        (await CorfuTool.RunAsync(["reconfigure", command, "--connect", $"corfu://{node}", .. arguments])).Require();

    /// <summary>Appends until the disk is full; the last position that was acknowledged.</summary>
    private static async Task<LogPosition> FillAsync(CorfuClient client)
    {
        var last = LogPosition.Zero;
        for (var i = 0; i < (64 << 20) / Payload; i++)
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
