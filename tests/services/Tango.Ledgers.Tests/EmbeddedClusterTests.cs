using Corfu.Client;
using Corfu.Hosting;
using Tango.Ledgers.Tests.Support;
using static Tango.Ledgers.Tests.Support.LedgerWorld;

namespace Tango.Ledgers.Tests;

/// <summary>Ledgers on a cluster with sockets and disks.</summary>
public sealed class EmbeddedClusterTests
{
    [Fact]
    public async Task Recovery_beside_a_writer_while_a_unit_and_the_sequencer_are_lost_has_all_that_was_acknowledged()
    {
        await using var cluster = await EmbeddedCluster.StartAsync(
            new EmbeddedClusterOptions { Units = 3, Replicas = 2, Spares = 1, Sequencers = 2 });

        // A busy machine may take long to replace what is lost.
        var patient = new CorfuClientOptions { OperationTimeout = TimeSpan.FromMinutes(5) };
        await using var first = await cluster.ConnectAsync(patient);
        await using var second = await cluster.ConnectAsync(patient);
        await using var writing = new TangoRuntime(first);
        await using var reading = new TangoRuntime(second);
        var store = await LedgerStore.OpenAsync(first, writing);
        var other = await LedgerStore.OpenAsync(second, reading);
        var writer = await store.CreateAsync();
        var reader = await other.OpenAsync(writer.Id);
        var lost = false;
        for (var round = 0; round < 40; round++)
        {
            var appends = Enumerable.Range(0, 50).Select(i => writer.AppendAsync(Bytes((round * 50) + i)).AsTask());
            var heard = (await Task.WhenAll(appends))[^1];
            Assert.True(await reader.ReadLastConfirmedAsync() >= heard);
            if (round != 10 && round != 20) continue;
            var node = cluster.Manifest.Nodes.First(node => node.Name.Contains(round == 10 ? "unit" : "sequencer",
                StringComparison.Ordinal));
            await cluster.StopNodeAsync(node.Name);
            lost = true;
        }

        Assert.True(lost);
        var pending = Enumerable.Range(2000, 200).Select(i => writer.AppendAsync(Bytes(i)).AsTask()).ToArray();
        var recovered = await other.RecoverAsync(writer.Id);
        var last = 1999L;
        foreach (var append in pending)
        {
            try
            {
                last = await append;
            }
            catch (LedgerException e)
            {
                Assert.Equal(LedgerError.LedgerFenced, e.Error);
            }
        }

        Assert.True(recovered.LastConfirmed >= last, $"{last} was heard, and {recovered.LastConfirmed} is last.");
        var expected = string.Join(' ', Enumerable.Range(0, (int)recovered.LastConfirmed + 1));
        Assert.Equal(expected, await ReadAllAsync(recovered));
        Assert.Equal(expected, await ReadAllAsync(reader));
        Assert.Equal(LedgerError.LedgerFenced, await RefusalAsync(async () => await writer.AppendAsync(Bytes("x"))));
    }
}
