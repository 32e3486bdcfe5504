using System.Globalization;
using Corfu.Client;
using Corfu.Integration.Tests.Support;
using Corfu.Protocol;

namespace Corfu.Integration.Tests.Processes;

/// <summary>Real processes are killed or stopped, and the cluster heals without an operator.</summary>
public sealed class HealingTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    [Fact]
    public async Task Killed_unit_is_replaced_by_a_spare_and_rebuilt_without_loss()
    {
        await using var cluster = await ClusterProcesses.UpAsync("--spares", "1");
        await using var client = await CorfuClient.ConnectAsync(cluster.ConnectionString);
        var acknowledged = await AppendAsync(client, 200);
        var units = client.Projection.Units;
        var victim = (await cluster.ProcessIdsAsync())["unit-0"];
        await ClusterProcesses.KillAsync(victim);

        acknowledged.AddRange(await AppendAsync(client, 200));
        var healed = await cluster.WaitForAsync(client,
            p => p.Epoch > Epoch.First && p.Segments.All(s => s.Chains.All(c => c.FullCount == 2)), Patience);
        Assert.Equal(3, healed.Units.Length);
        Assert.Equal(2, healed.Units.Intersect(units).Count());
        acknowledged.AddRange(await AppendAsync(client, 100));
        await RequireAsync(client, acknowledged);

        // The acceptor is replaced too, so that the layout survives another loss.
        await cluster.WaitForAsync(client, p => p.Acceptors.All(a => p.Units.Any(u => u.Endpoint == a.Endpoint)),
            Patience);

        // The second loss is survived too. That needs the rebuilt copies: there is no third one.
        await ClusterProcesses.KillAsync((await cluster.ProcessIdsAsync())["unit-1"]);
        acknowledged.AddRange(await AppendAsync(client, 50));
        await RequireAsync(client, acknowledged);
    }

    [Fact]
    public async Task A_killed_sequencer_is_followed_by_the_standby()
    {
        await using var cluster = await ClusterProcesses.UpAsync("--sequencers", "2");
        await using var client = await CorfuClient.ConnectAsync(cluster.ConnectionString);
        var acknowledged = await AppendAsync(client, 100);
        var first = client.Projection.Sequencer;
        await ClusterProcesses.KillAsync((await cluster.ProcessIdsAsync())["sequencer"]);
        acknowledged.AddRange(await AppendAsync(client, 100));
        Assert.NotEqual(first, client.Projection.Sequencer);
        Assert.StartsWith("agent ", client.Projection.Reason, StringComparison.Ordinal);
        await RequireAsync(client, acknowledged);
    }

    [Fact]
    public async Task Killed_process_of_a_unit_and_the_sequencer_is_followed_by_the_next_of_both()
    {
        await using var cluster = await ClusterProcesses.UpAsync("--colocate", "--sequencers", "2");
        await using var client = await CorfuClient.ConnectAsync(cluster.ConnectionString);
        var acknowledged = await AppendAsync(client, 100);
        var first = client.Projection.Sequencer;
        var ids = await cluster.ProcessIdsAsync();
        await ClusterProcesses.KillAsync(ids["unit-0"]);
        acknowledged.AddRange(await AppendAsync(client, 100));
        var healed = await cluster.WaitForAsync(client,
            p => p.Sequencer != first && p.Active.Chains.All(chain => chain.Replicas
                .All(replica => p.AddressOf(replica.Unit).Endpoint != first.Endpoint)), Patience);
        Assert.StartsWith("agent ", healed.Reason, StringComparison.Ordinal);
        Assert.Contains(healed.Units, unit => unit.Endpoint == healed.Sequencer.Endpoint);

        // The process that comes back holds a unit without entries and a sequencer that stands by.
        await cluster.UpAgainAsync();
        Assert.Equal(ids.Keys.Order(), (await cluster.ProcessIdsAsync()).Keys.Order());
        acknowledged.AddRange(await AppendAsync(client, 100));
        Assert.Equal(healed.Sequencer, client.Projection.Sequencer);
        await RequireAsync(client, acknowledged);
    }

    [Fact]
    public async Task A_sequencer_process_that_is_started_again_by_itself_takes_over()
    {
        await using var cluster = await ClusterProcesses.UpAsync();
        await using var client = await CorfuClient.ConnectAsync(cluster.ConnectionString);
        var acknowledged = await AppendAsync(client, 50);
        await ClusterProcesses.KillAsync((await cluster.ProcessIdsAsync())["sequencer"]);
        using var again = CorfuTool.Start("node", "--config", Path.Combine(cluster.Folder, "sequencer", "node.json"));
        try
        {
            acknowledged.AddRange(await AppendAsync(client, 50));
            Assert.StartsWith("agent ", client.Projection.Reason, StringComparison.Ordinal);
            await RequireAsync(client, acknowledged);
        }
        finally
        {
            again.Kill();
        }
    }

    [Fact]
    public async Task A_stopped_unit_is_replaced_and_may_not_come_back()
    {
        await using var cluster = await ClusterProcesses.UpAsync("--spares", "1");
        await using var client = await CorfuClient.ConnectAsync(cluster.ConnectionString);
        var acknowledged = await AppendAsync(client, 100);
        var units = client.Projection.Units;
        var stopped = (await cluster.ProcessIdsAsync())["unit-1"];
        ClusterProcesses.Signal(stopped, "STOP");
        try
        {
            acknowledged.AddRange(await AppendAsync(client, 100));
            Assert.Equal(2, client.Projection.Units.Intersect(units).Count());
            Assert.Equal(3, client.Projection.Units.Length);
        }
        finally
        {
            ClusterProcesses.Signal(stopped, "CONT");
        }

        acknowledged.AddRange(await AppendAsync(client, 50));
        await RequireAsync(client, acknowledged);
    }

    [Fact]
    public async Task Cluster_with_agents_switched_off_is_not_reconfigured()
    {
        await using var cluster = await ClusterProcesses.UpAsync("--sequencers", "2", "--manual");
        await using var client = await CorfuClient.ConnectAsync(cluster.ConnectionString,
            new CorfuClientOptions { OperationTimeout = TimeSpan.FromSeconds(3) });
        await AppendAsync(client, 10);
        await ClusterProcesses.KillAsync((await cluster.ProcessIdsAsync())["sequencer"]);
        await Assert.ThrowsAnyAsync<CorfuException>(
            async () => (await client.AppendAsync("x"u8.ToArray(), [])).Require());
        Assert.Equal(Epoch.First, (await client.Cluster.RefreshAsync()).Epoch);
    }

    [Fact]
    public async Task Entries_whose_only_unit_is_destroyed_are_given_up_by_the_operators_word_alone()
    {
        await using var cluster = await ClusterProcesses.UpAsync("--units", "2", "--replicas", "1", "--spares", "1",
            "--manual");
        await using (var client = await CorfuClient.ConnectAsync(cluster.ConnectionString))
            await AppendAsync(client, 20);
        await ClusterProcesses.KillAsync((await cluster.ProcessIdsAsync())["unit-1"]);
        string[] command = ["reconfigure", "replace-destroyed", "--connect", cluster.ConnectionString];
        string unit;
        string other;
        await using (var client = await CorfuClient.ConnectAsync(cluster.ConnectionString))
        {
            (other, unit) =
                (client.Projection.Active.Chains[0].Head.ToString(),
                    client.Projection.Active.Chains[1].Head.ToString());
            if (client.Projection.AddressOf(client.Projection.Active.Chains[1].Head).Endpoint.Port
                < client.Projection.AddressOf(client.Projection.Active.Chains[0].Head).Endpoint.Port)
                (other, unit) = (unit, other);
        }

        var refused = await CorfuTool.RunAsync("reconfigure", "replace-unit", "--connect", cluster.ConnectionString,
            unit);
        Assert.Equal(1, refused.ExitCode);
        Assert.Contains("R14", refused.Error, StringComparison.Ordinal);
        var alive = await CorfuTool.RunAsync([.. command, other, "--accept-loss"]);
        Assert.Equal(2, alive.ExitCode);
        Assert.Contains("answers, so it is not destroyed", alive.Error, StringComparison.Ordinal);
        var unsaid = await CorfuTool.RunAsync([.. command, unit]);
        Assert.Equal(2, unsaid.ExitCode);
        Assert.Contains("--accept-loss", unsaid.Error, StringComparison.Ordinal);
        Assert.Contains("destroyed", (await CorfuTool.RunAsync([.. command, unit, "--accept-loss"])).Require().Output,
            StringComparison.Ordinal);
        await using var after = await CorfuClient.ConnectAsync(cluster.ConnectionString);
        await AppendAsync(after, 20);
        var pages = await after.ReadManyAsync([.. Enumerable.Range(0, 40).Select(i => new LogPosition(i))]);
        Assert.Equal([10, 30],
            [pages.Count(p => p.State == PageState.Junk), pages.Count(p => p.State == PageState.Data)]);
    }

    private static async Task<List<(LogPosition Position, string Text)>> AppendAsync(CorfuClient client, int count)
    {
        List<(LogPosition Position, string Text)> acknowledged = [];
        for (var i = 0; i < count; i += 10)
        {
            var texts = Enumerable.Range(i, 10)
                .Select(n => string.Create(CultureInfo.InvariantCulture, $"{Guid.NewGuid():N} {n}")).ToArray();
            var results =
                await Task.WhenAll(
                    texts.Select(text => client.AppendAsync(System.Text.Encoding.UTF8.GetBytes(text), []).AsTask()));
            for (var j = 0; j < texts.Length; j++)
            {
                // An append that a dying unit left unknown says so; whatever it says is in must be there.
                if (results[j].Outcome == AppendOutcome.Appended) acknowledged.Add((results[j].Position, texts[j]));
            }
        }

        Assert.True(acknowledged.Count > count / 2, $"{acknowledged.Count} of {count} were appended");
        return acknowledged;
    }

    private static async Task RequireAsync(CorfuClient client, List<(LogPosition Position, string Text)> acknowledged)
    {
        foreach (var chunk in acknowledged.Chunk(200))
        {
            var read = await client.ReadManyAsync([.. chunk.Select(entry => entry.Position)]);
            for (var i = 0; i < chunk.Length; i++)
                Assert.Equal(chunk[i].Text, System.Text.Encoding.UTF8.GetString(read[i].Entry!.Payload.Span));
        }
    }
}
