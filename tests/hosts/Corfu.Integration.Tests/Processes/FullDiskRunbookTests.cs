using System.Globalization;
using System.Text.Json;
using Corfu.Client;
using Corfu.Integration.Tests.Support;
using Corfu.Protocol;
using Tango;
using Tango.Collections;

namespace Corfu.Integration.Tests.Processes;

/// <summary>"A disk is full" (docs/operations.md) from end to end, over objects: each command as the page gives
/// it.</summary>
public sealed class FullDiskRunbookTests
{
    private const string Trim = "corfu log trim --connect C --below P";
    private const string Force = Trim + " --force";
    private const string Release = "corfu stream release --connect C --stream NAME";
    private const int Payload = 32 << 10;
    private const int Keys = 8;

    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(90);

    [Fact]
    public async Task Room_elsewhere_lets_checkpoints_and_releases_free_a_full_disk()
    {
        using var cluster = await SmallDiskCluster.TryStartAsync();
        Assert.SkipWhen(cluster is null, "needs root, to mount a tmpfs");
        var c = cluster.Connection;
        var runbook = new Runbook("A disk is full", c);
        var room = TestPorts.Address();
        await cluster.Nodes.JoinAsync("room", cluster.Address, room, "unit");
        await using var program = await StockProgram.StartAsync(c);
        await AppendOrderAsync(c);
        (await CorfuTool.RunAsync("stream", "retain", "--connect", c, "--stream", "orders")).Require();
        (await ConsoleClient.RunAsync(c, "note", "archive", "kept")).Require();
        await program.FillAsync();
        var below = await StatusNamesThePinAsync(runbook, "orders");
        var refused = await runbook.RunAsync(Trim, ("P", $"{below}"));
        Assert.Equal(1, refused.ExitCode);
        Assert.StartsWith($"Nothing was trimmed: history below {below} is still needed.\n", refused.Error);
        Assert.Contains(refused.Error.Split('\n'), line =>
            line.StartsWith("  stream orders from ", StringComparison.Ordinal)
            && line.EndsWith("corfu stream release --stream orders", StringComparison.Ordinal));
        Assert.Contains(refused.Error.Split('\n'), line =>
            line.StartsWith("  object archive from ", StringComparison.Ordinal)
            && line.EndsWith("a client that knows its type makes checkpoints", StringComparison.Ordinal));

        (await runbook.RunAsync("corfu reconfigure add-unit --connect C HOST:PORT", ("HOST:PORT", room))).Require();
        (await runbook.RunAsync("corfu reconfigure auto --connect C on")).Require();
        await RepeatAsync(() => runbook.RunAsync(Release, ("NAME", "orders")));
        var how = await runbook.RunAsync("corfu object checkpoint --connect C NAME", ("NAME", "archive"));
        Assert.Equal(1, how.ExitCode);
        Assert.Contains("this tool does not know the type tango.register<string>", how.Error);
        // The claim is the last checkpoint but one.
        for (var i = 0; i < 2; i++) (await ConsoleClient.RunAsync(c, "checkpoint", "archive")).Require();
        var trimmed = (await runbook.RunAsync("corfu log trim --connect C --unneeded")).Require();
        Assert.InRange(long.Parse(trimmed.Lines.Single(), CultureInfo.InvariantCulture), below / 2, long.MaxValue);

        await program.GoOnAsync();
        await AllIsThereAsync(c, program);
        Assert.Equal(["kept"], (await ConsoleClient.RunAsync(c, "read", "archive")).Require().Lines);
    }

    [Fact]
    public async Task Force_without_room_elsewhere_names_the_loss_and_frees_the_disk()
    {
        using var cluster = await SmallDiskCluster.TryStartAsync();
        Assert.SkipWhen(cluster is null, "needs root, to mount a tmpfs");
        var c = cluster.Connection;
        var runbook = new Runbook("A disk is full", c);
        await using var program = await StockProgram.StartAsync(c);
        await AppendOrderAsync(c);
        (await CorfuTool.RunAsync("stream", "retain", "--connect", c, "--stream", "orders")).Require();
        await program.FillAsync();
        await FillTheRestAsync(c);
        var below = await StatusNamesThePinAsync(runbook, "orders");
        var release = await runbook.RunAsync(Release, ("NAME", "orders"));
        Assert.Equal(1, release.ExitCode);
        Assert.Contains("NoSpace", release.Error);
        // All but the stream's claim: its lowest position is what the operator needs.
        var unclaimed = await CorfuTool.RunAsync("log", "trim", "--connect", c, "--below", $"{below}", "--json");
        Assert.True(unclaimed.Output.Length > 0, unclaimed.Error);
        var claims = JsonDocument.Parse(unclaimed.Output).RootElement.GetProperty("claims").EnumerateArray()
            .Where(claim => claim.GetProperty("kind").GetString() != "stream")
            .Select(claim => claim.GetProperty("needsFrom").GetInt64());
        var needed = claims.Append(below).Min();

        var forced = (await runbook.RunAsync(Force, ("P", $"{needed}"))).Require();
        Assert.Matches($"^Lost with the history below {needed}:\n  stream orders: its entries from \\d+ on\n$",
            forced.Error);
        await program.GoOnAsync();
        await RepeatAsync(() => runbook.RunAsync(Release, ("NAME", "orders")));
        (await runbook.RunAsync(Trim, ("P", $"{needed}"))).Require();
        await AllIsThereAsync(c, program);
        var status = await runbook.RunAsync("corfu status --connect C");
        Assert.DoesNotContain("disk is full", status.Require().Output, StringComparison.Ordinal);
    }

    private static async Task AppendOrderAsync(string connection) =>
        (await CorfuTool.RunWithInputAsync("order", "log", "append", "--connect", connection, "--stream", "orders"))
            .Require();

    /// <summary>A small entry may find room where a large one does not.</summary>
    private static async Task FillTheRestAsync(string connection)
    {
        await using var client = await CorfuClient.ConnectAsync(connection);
        foreach (var size in new[] { 8 << 10, 1 << 10, 1 })
        {
            try
            {
                while (true) (await client.AppendAsync(new byte[size], [StreamId.FromName("orders")])).Require();
            }
            catch (CorfuException e)
            {
                Assert.Contains("NoSpace", e.Message);
            }
        }
    }

    /// <returns>A position in the midst of the log.</returns>
    private static async Task<long> StatusNamesThePinAsync(Runbook runbook, string stream)
    {
        var status = await runbook.RunAsync("corfu status --connect C");
        Assert.Equal(1, status.ExitCode);
        Assert.Contains("disk is full", status.Lines[0], StringComparison.Ordinal);
        var pinned = Assert.Single(status.Lines, line => line.StartsWith("trim point ", StringComparison.Ordinal));
        Assert.Matches($"; pinned at \\d+ \\(written .*Z\\) by stream {stream}; \\d+ positions held, [5-6]\\d MiB ",
            pinned);
        var tail = status.Lines.Single(line => line.StartsWith("tail ", StringComparison.Ordinal)).Split(' ', ';')[1];
        return long.Parse(tail, CultureInfo.InvariantCulture) / 2;
    }

    /// <summary>Agents move new entries within seconds, and a unit frees its segments as soon.</summary>
    private static async Task RepeatAsync(Func<Task<ToolResult>> command)
    {
        var began = TimeProvider.System.GetTimestamp();
        while (true)
        {
            var result = await command();
            if (result.ExitCode == 0) return;
            Assert.Contains("NoSpace", result.Error);
            Assert.True(TimeProvider.System.GetElapsedTime(began) < Patience, result.Error);
            await Task.Delay(100);
        }
    }

    private static async Task AllIsThereAsync(string connection, StockProgram program)
    {
        var found = (await ConsoleClient.RunAsync(connection, "list", StockProgram.Name)).Require().Lines;
        Assert.Equal(program.Acknowledged.Select(pair => $"{pair.Key} {pair.Value}"), found);
    }

    /// <summary>A service that writes an object, reads it, and makes its checkpoints by itself.</summary>
    private sealed class StockProgram : IAsyncDisposable
    {
        public const string Name = "stock";

        private readonly CorfuClient _client;
        private readonly TangoRuntime _runtime;
        private TangoDictionary<int, string> _stock = null!;

        private StockProgram(CorfuClient client)
        {
            _client = client;
            _runtime = new TangoRuntime(client, new TangoOptions
            {
                NewLogMaxSpan = 10,
                Checkpoints = new CheckpointPolicy { Updates = 200 },
            });
        }

        public SortedDictionary<int, string> Acknowledged { get; } = [];

        public static async Task<StockProgram> StartAsync(string connection)
        {
            var options = new CorfuClientOptions { MaxPayload = 2 * Payload };
            var client = await CorfuClient.ConnectAsync(connection, options);
            var program = new StockProgram(client);
            program._stock = await program._runtime.OpenAsync<TangoDictionary<int, string>>(Name, OpenMode.Create);
            return program;
        }

        /// <summary>Until the disk takes no more.</summary>
        public async Task FillAsync()
        {
            for (var i = 0; i < 2 * (SmallDiskCluster.Mebibytes << 20) / Payload; i++)
            {
                try
                {
                    await SetAsync(i % Keys, $"{i}");
                }
                catch (Exception e) when (IsFull(e))
                {
                    return;
                }
            }

            throw new InvalidOperationException("The disk does not fill.");
        }

        /// <summary>Sends the next update, as soon as there is room. Other keys keep their values.</summary>
        public async Task GoOnAsync()
        {
            var began = TimeProvider.System.GetTimestamp();
            for (var i = 0; ; i++)
            {
                try
                {
                    await SetAsync(0, $"after {i}");
                    return;
                }
                catch (Exception e) when (IsFull(e) && TimeProvider.System.GetElapsedTime(began) < Patience)
                {
                    // Each refused update leaves a hole, which needs the reserve to be closed.
                    await Task.Delay(100);
                }
            }
        }

        /// <summary>The unit refused the update. One that was sent before may be in the log all the same.</summary>
        private static bool IsFull(Exception e) => e is CorfuStatusException { Status: Status.NoSpace }
            or TangoInDoubtException { InnerException: CorfuStatusException { Status: Status.NoSpace } };

        private async Task SetAsync(int key, string value)
        {
            await _stock.SetAsync(key, value.PadRight(Payload, '.'));
            Acknowledged[key] = value;
            Assert.True((await _stock.TryGetAsync(key)).Found);
        }

        public async ValueTask DisposeAsync()
        {
            await _runtime.DisposeAsync();
            await _client.DisposeAsync();
        }
    }
}
