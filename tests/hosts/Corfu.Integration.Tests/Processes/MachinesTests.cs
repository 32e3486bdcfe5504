using System.Text;
using Corfu.Client;
using Corfu.Integration.Tests.Support;

namespace Corfu.Integration.Tests.Processes;

/// <summary>Clusters whose nodes are made one by one, as on several machines.</summary>
public sealed class MachinesTests
{
    [Fact]
    public async Task Three_nodes_made_one_by_one_become_a_cluster()
    {
        using var nodes = new LocalNodes();
        string[] at = [TestPorts.Address(), TestPorts.Address(), TestPorts.Address()];
        await nodes.InitAsync("a", at[0]);
        await nodes.JoinAsync("b", at[0], at[1]);
        await nodes.JoinAsync("c", at[0], at[2]);
        var connect = $"corfu://{at[0]},{at[1]},{at[2]}";
        await using var client = await CorfuClient.ConnectAsync($"corfu://{at[0]}");
        (await client.AppendAsync("first"u8.ToArray(), [])).Require();
        (await CorfuTool.RunAsync("reconfigure", "add-unit", "--connect", connect, at[1], at[2])).Require();
        (await CorfuTool.RunAsync("reconfigure", "set-replicas", "--connect", connect, "2")).Require();
        (await CorfuTool.RunAsync("reconfigure", "set-acceptors", "--connect", connect, at[0], at[1], at[2]))
            .Require();
        var before = await client.Cluster.RefreshAsync();
        Assert.Equal([3, 3], [before.Units.Length, before.Acceptors.Length]);
        Assert.All(before.Active.Chains, chain => Assert.Equal(2, chain.FullCount));

        (await client.AppendAsync("last"u8.ToArray(), [])).Require();
        var first = (await client.ReadManyAsync([new Corfu.LogPosition(0)]))[0];
        Assert.Equal("first", Encoding.UTF8.GetString(first.Entry!.Payload.Span));
    }

    [Fact]
    public async Task Limits_of_a_configuration_file_hold_in_the_process()
    {
        using var nodes = new LocalNodes();
        var (a, b) = (TestPorts.Address(), TestPorts.Address());
        await nodes.InitAsync("a", a);
        await nodes.JoinAsync("b", a, b, "unit", """{ "unit": { "maxPayload": 1000 } }""");
        await using var client = await CorfuClient.ConnectAsync($"corfu://{a}");
        (await CorfuTool.RunAsync("reconfigure", "add-unit", "--connect", $"corfu://{a}", b)).Require();
        (await CorfuTool.RunAsync("reconfigure", "remove-unit", "--connect", $"corfu://{a}", a)).Require();
        (await client.AppendAsync(new byte[1000], [])).Require();
        var refused = await Assert.ThrowsAsync<Corfu.EntryTooLargeException>(
            () => client.AppendAsync(new byte[1001], []).AsTask());
        Assert.StartsWith("Writing", refused.Message);
    }
}
