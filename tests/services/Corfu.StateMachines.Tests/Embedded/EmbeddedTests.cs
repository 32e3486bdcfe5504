using Corfu.Client;
using Corfu.Hosting;
using Corfu.StateMachines.Tests.Support;

namespace Corfu.StateMachines.Tests.Embedded;

/// <summary>Machines on a whole cluster in this process.</summary>
public sealed class EmbeddedTests
{
    [Fact]
    public async Task Replicas_with_a_connection_each_agree_and_are_rebuilt()
    {
        await using var cluster = await EmbeddedCluster.StartAsync(
            new EmbeddedClusterOptions { Units = 2, Replicas = 2 });
        await using var first = await CorfuClient.ConnectAsync(cluster.ConnectionString);
        await using var second = await CorfuClient.ConnectAsync(cluster.ConnectionString);
        await using var a = await OpenAsync(first);
        await using var b = await OpenAsync(second);
        var session = await a.OpenSessionAsync();

        // Each number is sent to both replicas at once.
        var outcomes = await Task.WhenAll(Enumerable.Range(0, 200).SelectMany(number => new[]
        {
            session.ProposeAsync(number, SumMachine.Bytes("a"), 0).AsTask(),
            b.Attach(session.Id).ProposeAsync(number, SumMachine.Bytes("a"), 0).AsTask(),
        }));
        Assert.Equal(200, outcomes.Count(outcome => outcome.Status == CommandStatus.Applied));
        Assert.Equal(200, outcomes.Count(outcome => outcome.Status == CommandStatus.AppliedBefore));
        Assert.Equal("a=200\n", await b.QueryAsync(machine => machine.Show()));

        var end = await a.SnapshotAsync();
        await first.TrimPrefixAsync(end);
        await using var third = await OpenAsync(second);
        Assert.Equal("a=200\n", await third.QueryAsync(machine => machine.Show(), QueryAs.Local));
        Assert.Equal(CommandStatus.AppliedBefore,
            (await third.Attach(session.Id).ProposeAsync(199, SumMachine.Bytes("a"), 199)).Status);
    }

    private static ValueTask<Replica<SumMachine>> OpenAsync(ICorfuLog log) =>
        Replica<SumMachine>.OpenAsync(log, World.Name, () => new SumMachine());
}
