using Corfu;
using Tango.Testing;

namespace Tango.Collections.Tests;

/// <summary>A map whose values stay in the log.</summary>
public sealed class LogDictionaryTests
{
    private static readonly TangoOptions s_options = new()
    {
        NewLogMaxSpan = 64,
        Checkpoints = null,
        Types = new TangoTypeRegistry().Add<TangoLogDictionary<string, string>>(),
    };

    /// <summary>Readers get copies of keys that can be changed in place; pending places cannot be copied.</summary>
    [Fact]
    public async Task Transaction_lists_own_keys_of_a_mutable_type()
    {
        var log = new InMemoryCorfuLog();
        await using TangoRuntime runtime = NewRuntime(log);
#pragma warning disable TANGO025 // That is what it is about.
        var map = await runtime.OpenAsync<TangoLogDictionary<Label, int>>("labels", OpenMode.Create);
#pragma warning restore TANGO025
        await using TangoTransaction transaction = runtime.BeginTx();
        await map.SetAsync(new Label { Name = "a" }, 1);
        Assert.Equal("a", Assert.Single(await map.KeysAsync()).Name);
        (await transaction.EndTxAsync()).ThrowIfNotCommitted();
    }

    [Fact]
    public async Task Replicas_are_one_map_through_checkpoints_trims_and_compactions()
    {
        var log = new InMemoryCorfuLog();
        await using TangoRuntime first = NewRuntime(log), second = NewRuntime(log), loader = NewRuntime(log);
        TangoLogDictionary<string, string>[] maps =
        [
            await first.OpenAsync<TangoLogDictionary<string, string>>("map", OpenMode.Create),
            await second.OpenAsync<TangoLogDictionary<string, string>>("map", OpenMode.Create),
        ];
        var model = new Dictionary<string, string>();
        var random = new Random(3);
        LogPosition released = default;
        for (int step = 0; step < 500; step++)
        {
            TangoLogDictionary<string, string> map = maps[random.Next(2)];
            string key = $"{random.Next(8)}", text = $"text {step}";
            switch (random.Next(10))
            {
                case < 3:
                    await map.SetAsync(key, text);
                    model[key] = text;
                    break;
                case 3:
                    Assert.Equal(model.TryAdd(key, text), await map.TryAddAsync(key, text));
                    break;
                case 4:
                    Assert.Equal(model.Remove(key), await map.RemoveAsync(key));
                    break;
                case 5:
                    Assert.Equal((model.Count, model.ContainsKey(key)),
                        (await map.CountAsync(), await map.ContainsKeyAsync(key)));
                    break;
                case 6:
                    await map.CompactAsync(new LogPosition(Math.Max(0, first.Log.PlayedTo.Offset - 20)));
                    break;
                case 7:
                    await loader.Checkpoints.WriteAsync("map");
                    await first.Log.TrimAsync();
                    released = (await first.Log.ReadTrimPointAsync()).Claims.Last().Position;
                    break;
                default:
                    Assert.Equal(model.TryGetValue(key, out string? value),
                        (await map.TryGetAsync(key)).TryGet(out string? read));
                    Assert.Equal(value, read);
                    break;
            }
        }

        Assert.True(released.Offset > 100, $"{released}");
        await using TangoRuntime late = NewRuntime(log);
        TangoLogDictionary<string, string> opened =
            await late.OpenAsync<TangoLogDictionary<string, string>>("map", OpenMode.Create);
        Assert.Equal(model.Keys.Order(), (await opened.KeysAsync()).Order());
        foreach ((string key, string value) in model)
            Assert.Equal(value, (await opened.TryGetAsync(key)).Value);
        await opened.ClearAsync();
        Assert.Equal(0, await maps[0].CountAsync());
    }

    [Fact]
    public async Task Transaction_sees_own_values_and_conflicts_by_key()
    {
        var log = new InMemoryCorfuLog();
        await using TangoRuntime runtime = NewRuntime(log), other = NewRuntime(log);
        var map = await runtime.OpenAsync<TangoLogDictionary<string, string>>("map", OpenMode.Create);
        var theirs = await other.OpenAsync<TangoLogDictionary<string, string>>("map", OpenMode.Create);
        await map.SetAsync("a", "old");
        await using (TangoTransaction transaction = runtime.BeginTx())
        {
            Assert.Equal("old", (await map.TryGetAsync("a")).Value);
            await map.SetAsync("b", "new");
            Assert.True(await map.TryAddAsync("c", "own"));
            Assert.Equal(("new", "own"), ((await map.TryGetAsync("b")).Value, (await map.TryGetAsync("c")).Value));
            Assert.Equal(3, await map.CountAsync());
            Assert.True((await transaction.EndTxAsync()).IsCommitted);
        }

        Assert.Equal("own", (await theirs.TryGetAsync("c")).Value);
        await using (TangoTransaction transaction = runtime.BeginTx())
        {
            await map.TryGetAsync("a");
            await map.SetAsync("d", "lost");
            await theirs.SetAsync("b", "newer");
            await theirs.SetAsync("a", "newer");
            Assert.Equal(AbortReason.Conflict, Assert.IsType<TxOutcome.Aborted>(await transaction.EndTxAsync()).Reason);
        }

        await using (TangoTransaction transaction = runtime.BeginTx())
        {
            await map.TryGetAsync("a");
            await map.SetAsync("e", "kept");
            await theirs.SetAsync("b", "newest");
            Assert.True((await transaction.EndTxAsync()).IsCommitted);
        }

        Assert.False((await map.TryGetAsync("d")).Found);
    }

    /// <summary>A value that is written again never replaces a newer one.</summary>
    [Fact]
    public async Task Compaction_leaves_alone_keys_set_or_removed_meanwhile()
    {
        Func<ValueTask> beforeAppend = () => default;
        var log = new InMemoryCorfuLog(new InMemoryLogOptions { AroundAppend = async _ => await beforeAppend() });
        await using TangoRuntime runtime = NewRuntime(log), other = NewRuntime(log);
        var map = await runtime.OpenAsync<TangoLogDictionary<string, string>>("map", OpenMode.Create);
        var theirs = await other.OpenAsync<TangoLogDictionary<string, string>>("map", OpenMode.Create);
        foreach (string key in new[] { "kept", "removed", "set" }) await map.SetAsync(key, "old");
        await runtime.SyncAsync();
        // Between the read of the old value and its being written again.
        beforeAppend = async () =>
        {
            beforeAppend = () => default;
            await theirs.SetAsync("set", "new");
            await theirs.RemoveAsync("removed");
        };
        Assert.Equal(1, await map.CompactAsync(runtime.Log.PlayedTo));
        Assert.Equal(("old", "new"), ((await map.TryGetAsync("kept")).Value, (await map.TryGetAsync("set")).Value));
        Assert.False(await map.ContainsKeyAsync("removed"));
        Assert.Equal(0, await map.CompactAsync(LogPosition.Zero));
    }

    [Fact]
    public async Task Replicas_decode_no_value_that_is_not_read()
    {
        var log = new InMemoryCorfuLog();
        await using TangoRuntime runtime = NewRuntime(log), other = NewRuntime(log);
        var map = await runtime.OpenAsync<TangoLogDictionary<int, Weight>>("map", OpenMode.Create);
        var theirs = await other.OpenAsync<TangoLogDictionary<int, Weight>>("map", OpenMode.Create);
        Weight[] values = [.. Enumerable.Range(0, 10).Select(i => new Weight($"text {i}"))];
        int made = Weight.Made;
        for (int i = 0; i < 10; i++)
        {
            await map.SetAsync(i, values[i]);
            Assert.False(await map.TryAddAsync(i, values[0]));
        }

        await using (TangoTransaction transaction = runtime.BeginTx())
        {
            await map.SetAsync(10, values[0]);
            Assert.True(await map.TryAddAsync(11, values[1]));
            Assert.True((await transaction.EndTxAsync()).IsCommitted);
        }

        Assert.Equal((12, 12), (await map.CountAsync(), await theirs.CountAsync()));
        Assert.Equal(made, Weight.Made);
        Assert.Equal("text 7", (await theirs.TryGetAsync(7)).Value!.Text);
        Assert.Equal(made + 1, Weight.Made);
    }

    [Fact]
    public async Task Compaction_lets_the_trim_point_rise()
    {
        var log = new InMemoryCorfuLog();
        await using TangoRuntime runtime = NewRuntime(log);
        var map = await runtime.OpenAsync<TangoLogDictionary<string, string>>("map", OpenMode.Create);
        for (int i = 0; i < 30; i++) await map.SetAsync($"{i}", $"text {i}");
        for (int i = 0; i < 100; i++) await map.SetAsync("29", "often");
        TangoClaim claim = await CheckpointTwiceAsync(runtime, map);
        Assert.True(claim.IsHeldByValues);
        var below = new LogPosition(claim.Position.Offset + 30);
        int moved = await map.CompactAsync(below);
        Assert.InRange(moved, 20, 30);
        for (int i = 0; i < 100; i++) await map.SetAsync("29", "often");
        await CheckpointTwiceAsync(runtime, map);
        claim = await CheckpointTwiceAsync(runtime, map);
        Assert.True(claim.Position >= below, $"{claim.Position}");
        for (int i = 0; i < 29; i++) Assert.Equal($"text {i}", (await map.TryGetAsync($"{i}")).Value);
    }

    /// <summary>A checkpoint has what is in memory: keys and places, no values.</summary>
    [Fact]
    public async Task Values_are_neither_in_memory_nor_in_checkpoints()
    {
        const int keys = 300;
        var log = new InMemoryCorfuLog();
        await using TangoRuntime runtime = NewRuntime(log);
        var map = await runtime.OpenAsync<TangoLogDictionary<string, string>>("map", OpenMode.Create);
        string value = new('x', 10_000);
        await Task.WhenAll(Enumerable.Range(0, keys).Select(i => map.SetAsync($"{i}", value + i).AsTask()));
        LogPosition before = (await log.CheckAsync([])).Tail;
        await runtime.Checkpoints.WriteAsync(map);
        LogPosition after = (await log.CheckAsync([])).Tail;
        var written = await log.ReadManyAsync(
            [.. Enumerable.Range(0, (int)(after - before)).Select(i => before + i)]);
        Assert.InRange(written.Sum(page => page.Entry!.Payload.Length), 1, keys * 100);
        Assert.Equal(value + 7, (await map.TryGetAsync("7")).Value);
    }

    private static TangoRuntime NewRuntime(InMemoryCorfuLog log) =>
        new(log, log.OpenCursor, TimeProvider.System, SystemEntropy.Instance, s_options);

    private static async Task<TangoClaim> CheckpointTwiceAsync(TangoRuntime runtime, TangoObject map)
    {
        for (int i = 0; i < 2; i++) await runtime.Checkpoints.WriteAsync(map);
        return (await runtime.Log.ReadTrimPointAsync()).Claims.Single(claim => claim.Kind == TangoClaimKind.Object);
    }

    [MessagePackObject]
    public sealed record Label
    {
        [Key(0)]
        public string Name { get; set; } = "";
    }

    /// <summary>Counts how often it is made: by a test, or by a decoding.</summary>
    [MessagePackObject]
    public sealed class Weight
    {
        private static int s_made;

        public Weight(string text)
        {
            Interlocked.Increment(ref s_made);
            Text = text;
        }

        public static int Made => Volatile.Read(ref s_made);

        [Key(0)]
        public string Text { get; }
    }
}
