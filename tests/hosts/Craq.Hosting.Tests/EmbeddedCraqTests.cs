using System.Diagnostics.Metrics;
using Corfu.Client;

namespace Craq.Hosting.Tests;

/// <summary>Nodes over real files, connections and a real log.</summary>
public sealed class EmbeddedCraqTests : IAsyncLifetime
{
    private EmbeddedCluster _cluster = null!;
    private EmbeddedCraq _craq = null!;
    private CorfuClient _log = null!;
    private CraqAdmin _admin = null!;
    private CraqClient _client = null!;

    public async ValueTask InitializeAsync()
    {
        _cluster = await EmbeddedCluster.StartAsync(new EmbeddedClusterOptions { Units = 1, Replicas = 1 });
        _craq = await EmbeddedCraq.StartAsync(_cluster.ConnectionString);
        _log = await _cluster.ConnectAsync();
        _admin = await CraqAdmin.OpenAsync(_log);
        _client = await _craq.ConnectAsync();
    }

    public async ValueTask DisposeAsync()
    {
        await _client.DisposeAsync();
        await _admin.DisposeAsync();
        await _log.DisposeAsync();
        await _craq.DisposeAsync();
        await _cluster.DisposeAsync();
    }

    [Fact]
    public async Task Chain_takes_writes_and_all_kinds_of_reads()
    {
        var config = await _admin.CreateChainAsync("orders", Placement.Default);
        Assert.Equal(3, config.Members.Length);
        var chain = _client.Chain("orders");
        var put = await chain.PutAsync("k", "v1"u8.ToArray(), flags: 7);
        Assert.Equal(WriteOutcome.Written, put.Outcome);
        Assert.True(put.IsCommitted);
        for (var i = 0; i < 6; i++)
        {
            var found = await chain.GetAsync("k");
            Assert.Equal(("v1", 7U, put.Version), (Text(found), found.Flags, found.Version));
        }

        var session = chain.In(new CraqSession());
        Assert.True((await session.CompareAndSetAsync("k", put.Version, "v2"u8.ToArray())).IsWritten);
        for (var i = 0; i < 6; i++) Assert.Equal("v2", Text(await session.GetAsync("k")));
        Assert.True((await chain.GetAsync("k", ReadTerms.Eventual)).IsFound);
        Assert.True((await chain.GetAsync("k", ReadTerms.Bounded(2, TimeSpan.FromSeconds(5)))).IsFound);
        Assert.Equal(WriteOutcome.Mismatch,
            (await chain.CompareAndSetAsync("k", put.Version, "v3"u8.ToArray())).Outcome);
        await chain.PutAsync("n", "41"u8.ToArray());
        Assert.Equal(42UL, (await chain.IncrementAsync("n")).Sum);
        await chain.AppendAsync("k", "+"u8.ToArray());
        await chain.PrependAsync("k", "-"u8.ToArray());
        Assert.Equal("-v2+", Text(await chain.GetAsync("k")));
        Assert.True((await chain.DeleteAsync("k")).IsWritten);
        Assert.False((await chain.GetAsync("k")).IsFound);
        Assert.Equal(WriteOutcome.Mismatch, (await chain.DeleteAsync("k")).Outcome);
        Assert.True((await chain.PutAsync("large", new byte[1 << 20])).IsWritten);
        Assert.Equal(1 << 20, (await chain.GetAsync("large")).Value.Length);
    }

    [Fact]
    public async Task Objects_survive_the_end_of_every_node()
    {
        await _admin.CreateChainAsync("orders", Placement.Default);
        var chain = _client.Chain("orders");
        for (var i = 0; i < 50; i++) Assert.True((await chain.PutAsync($"k{i}", BitConverter.GetBytes(i))).IsWritten);
        var names = _craq.Nodes.ToList();
        foreach (var name in names) await _craq.StopNodeAsync(name);
        foreach (var name in names) await _craq.StartNodeAsync(name);
        for (var i = 0; i < 50; i++)
            Assert.Equal(BitConverter.GetBytes(i), (await chain.GetAsync($"k{i}")).Value.ToArray());
        Assert.True((await chain.PutAsync("k0", "again"u8.ToArray())).IsWritten);
    }

    [Fact]
    public async Task Relayed_values_are_read_at_every_node_and_survive_a_restart()
    {
        using var relayed = new RecordsTaken();
        var config = await _admin.CreateChainAsync(
            "pictures", Placement.Default, ChainOptions.Default with { Values = ValuePath.Relay });
        Assert.Equal(ValuePath.Relay, config.Options.Values);
        var chain = _client.Chain("pictures");
        Assert.True((await chain.PutAsync("first", "small"u8.ToArray())).IsWritten);
        var values = Enumerable.Range(0, 12).Select(i => Value(i, (8 << 10) + (i * 80_000))).ToArray();
        await Task.WhenAll(values.Select(async (value, i) =>
            Assert.True((await chain.PutAsync($"p{i}", value)).IsWritten)));
        Assert.True(relayed.Count > 0);
        await ReadAllAsync();
        foreach (var name in _craq.Nodes.ToList())
        {
            await _craq.StopNodeAsync(name);
            await _craq.StartNodeAsync(name);
            values[0] = Value(name.Length, 300_000);
            Assert.True((await chain.PutAsync("p0", values[0])).IsWritten);
        }

        await ReadAllAsync();
        config = await _admin.SetChainAsync("pictures",
            config => (config.Placement, config.Options with { Values = ValuePath.Chain }));
        Assert.Equal(ValuePath.Chain, config.Options.Values);
        Assert.True((await chain.PutAsync("p1", values[1] = Value(77, 100_000))).IsWritten);
        await ReadAllAsync();

        async Task ReadAllAsync()
        {
            for (var i = 0; i < values.Length; i++)
            {
                for (var node = 0; node < 3; node++)
                    Assert.Equal(values[i], (await chain.GetAsync($"p{i}")).Value.ToArray());
            }
        }
    }

    [Fact]
    public async Task New_chain_can_be_changed_at_once()
    {
        await _admin.CreateChainAsync("new", Placement.Default);
        var config = await _admin.SetChainAsync("new",
            config => (config.Placement, config.Options with { Values = ValuePath.Relay }));
        Assert.Equal(ValuePath.Relay, config.Options.Values);
        Assert.True((await _client.Chain("new").PutAsync("k", "v"u8.ToArray())).IsWritten);
    }

    [Fact]
    public async Task Keyspace_spreads_over_several_chains_and_is_cleared_whole()
    {
        await _admin.CreateKeyspaceAsync("cache", 4, Placement.Default);
        await _admin.CreateKeyspaceAsync("cache", 4, Placement.Default);
        var keyspace = _client.Keyspace("cache");
        for (var i = 0; i < 20; i++) await keyspace.PutAsync($"k{i}", BitConverter.GetBytes(i));
        ImmutableArray<ObjectKey> keys = [.. Enumerable.Range(0, 20).Select(i => new ObjectKey($"k{i}"))];
        Assert.Equal(Enumerable.Range(0, 20),
            (await keyspace.GetManyAsync(keys)).Select(found => BitConverter.ToInt32(found.Value.Span)));
        Assert.True((await keyspace.ClearAsync()).IsWritten);
        Assert.All(await keyspace.GetManyAsync(keys), found => Assert.False(found.IsFound));
        Assert.Equal(4, (await _client.ListChainsAsync()).Length);
    }

    [Fact]
    public async Task Refused_changes_say_why()
    {
        await _admin.CreateChainAsync("orders", Placement.Default);
        Assert.Contains("there is a chain orders", (await Assert.ThrowsAsync<CraqRefusedException>(
            () => _admin.CreateChainAsync("orders", Placement.Default))).Message);
        await Assert.ThrowsAsync<CraqRefusedException>(
            () => _admin.CreateChainAsync("far", Placement.Explicit(3, "moon")));
        Assert.Contains("power of two", (await Assert.ThrowsAsync<CraqRefusedException>(
            () => _admin.CreateKeyspaceAsync("cache", 3, Placement.Default))).Message);
        await Assert.ThrowsAsync<CraqRefusedException>(() => _admin.DropChainAsync("nothing"));
    }

    private static byte[] Value(int seed, int length)
    {
        var value = new byte[length];
        new Random(seed).NextBytes(value);
        return value;
    }

    private static string Text(StoredObject found) => System.Text.Encoding.UTF8.GetString(found.Value.Span);

    // Records that members took with relayed values, in all tests of this process.
    private sealed class RecordsTaken : IDisposable
    {
        private readonly MeterListener _listener = new();
        private long _count;

        public RecordsTaken()
        {
            _listener.InstrumentPublished = (instrument, listener) =>
            {
                if (instrument.Name == "craq.node.value.relayed") listener.EnableMeasurementEvents(instrument);
            };
            _listener.SetMeasurementEventCallback<long>((_, count, _, _) => Interlocked.Add(ref _count, count));
            _listener.Start();
        }

        public long Count => Interlocked.Read(ref _count);

        public void Dispose() => _listener.Dispose();
    }
}
