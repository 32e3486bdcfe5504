using System.Buffers;
using Corfu;
using Tango.Formatting;

namespace Tango.Tests;

/// <summary>R18: a call with several keys writes a version of each, and of no other.</summary>
public class KeyListTests
{
    [Fact]
    public async Task Update_and_write_of_a_transaction_have_the_keys_as_an_array()
    {
        await using var world = new World();
        var (runtime, pairs) = await OpenAsync(world);
        await pairs.MoveAsync(1, 2);
        byte[] call = [0xcd, 1, 0, 1, 0x92, 0xc4, 1, 1, 0xc4, 1, 2, 0xc4, 2, 1, 2];
        Assert.Equal<byte[]>([0x95, 1, .. call], await LastRecordAsync(world));

        await runtime.RunTransactionAsync(async _ => await pairs.MoveAsync(1, 2));
        Assert.Equal<byte[]>([0x96, 2, 0, 0, 0x90, 0x91, 0x94, .. call, 0x90], await LastRecordAsync(world));
    }

    [Theory]
    [InlineData(1, false)]
    [InlineData(2, false)]
    [InlineData(3, true)]
    public async Task Transaction_loses_to_a_call_with_the_same_key_alone(byte read, bool commits)
    {
        await using var world = new World();
        var (runtime, pairs) = await OpenAsync(world);
        var (_, others) = await OpenAsync(world);
        var transaction = runtime.BeginTx();
        await pairs.BalanceAsync(read);
        await pairs.MoveAsync(8, 9);
        await others.MoveAsync(1, 2);
        Assert.Equal(commits, (await transaction.EndTxAsync()).IsCommitted);
    }

    [Theory]
    [InlineData(1, false)]
    [InlineData(2, false)]
    [InlineData(3, true)]
    public async Task Read_of_several_keys_loses_to_a_write_of_any(byte written, bool commits)
    {
        await using var world = new World();
        var (runtime, pairs) = await OpenAsync(world);
        var (_, others) = await OpenAsync(world);
        var transaction = runtime.BeginTx();
        await pairs.SumAsync(1, 2);
        await pairs.MoveAsync(8, 9);
        await others.MoveAsync(written, 7);
        Assert.Equal(commits, (await transaction.EndTxAsync()).IsCommitted);
    }

    [Fact]
    public async Task Mutator_with_a_result_reads_all_keys()
    {
        await using var world = new World();
        var (runtime, pairs) = await OpenAsync(world);
        var (_, others) = await OpenAsync(world);
        var transaction = runtime.BeginTx();
        Assert.Equal(-1, await pairs.SwapAsync(1, 2));
        await others.MoveAsync(3, 2);
        Assert.False((await transaction.EndTxAsync()).IsCommitted);
    }

    [Fact]
    public async Task Keys_of_a_large_transaction_stand_in_spills()
    {
        await using var world = new World(new() { MaxPayload = 256 });
        var (runtime, pairs) = await OpenAsync(world);
        var (other, others) = await OpenAsync(world);
        var transaction = other.BeginTx();
        await others.BalanceAsync(2);
        await others.MoveAsync(8, 9);
        await runtime.RunTransactionAsync(async _ =>
        {
            for (var i = 0; i < 40; i++) await pairs.MoveAsync(1, 2);
        });
        Assert.False((await transaction.EndTxAsync()).IsCommitted);
        Assert.Equal(40, await others.BalanceAsync(2));
    }

    /// <summary>R23: code of level 1 reads no list.</summary>
    [Fact]
    public async Task Log_of_level_1_gets_the_whole_object_until_the_level_is_raised()
    {
        await using var world = new World();
        var old = world.NewRuntime(new TangoOptions { NewestLevel = FeatureLevel.First });
        var read = await old.OpenAsync<Pairs>("pairs", OpenMode.Create);
        var (runtime, pairs) = await OpenAsync(world);
        await pairs.MoveAsync(1, 2);
        Assert.Equal<byte[]>([0x95, 1, 0xcd, 1, 0, 1, 0xc0, 0xc4, 2, 1, 2], await LastRecordAsync(world));
        Assert.Equal(1, await read.BalanceAsync(2));

        await runtime.Log.RaiseLevelAsync(FeatureLevel.KeyLists);
        await pairs.MoveAsync(1, 2);
        Assert.Equal(0x92, (await LastRecordAsync(world))[6]);
        var stopped = await Assert.ThrowsAsync<TangoLevelException>(
            async () => await old.OpenAsync<Pairs>("second", OpenMode.Create));
        Assert.Equal((FeatureLevel.KeyLists, FeatureLevel.First), (stopped.LogLevel, stopped.CodeLevel));
    }

    [Fact]
    public async Task Versions_are_asked_of_one_key()
    {
        await using var world = new World();
        var (runtime, pairs) = await OpenAsync(world);
        var transaction = runtime.BeginTx();
        await Assert.ThrowsAsync<ArgumentException>(async () => await transaction.IsUnchangedAsync(
            pairs, ObjectKey.List(Pairs.KeyOf(1), Pairs.KeyOf(2)), new RecordVersion(LogPosition.Zero, 0)));
        await transaction.DisposeAsync();
    }

    [Fact]
    public void List_has_each_key_once_and_no_other_lists()
    {
        var (a, b) = (Pairs.KeyOf(1), Pairs.KeyOf(2));
        Assert.Equal(a, ObjectKey.List(a, a));
        Assert.False(ObjectKey.List(a).IsList);
        Assert.Equal(ObjectKey.List(a, b), ObjectKey.List(a, b, a));
        Assert.Equal(ObjectKey.List(a, b).GetHashCode(), ObjectKey.List(a, b, a).GetHashCode());
        Assert.NotEqual(ObjectKey.List(a, b), ObjectKey.List(b, a));
        Assert.NotEqual(ObjectKey.List(a, b), ObjectKey.None);
        Assert.Equal("01 02", ObjectKey.List(a, b).ToString());
        Assert.Throws<ArgumentException>(() => ObjectKey.List());
        Assert.Throws<ArgumentException>(() => ObjectKey.List(a, ObjectKey.None));
        Assert.Throws<ArgumentException>(() => ObjectKey.List(a, ObjectKey.List(a, b)));
    }

    private static async Task<(TangoRuntime Runtime, Pairs Pairs)> OpenAsync(World world)
    {
        var runtime = world.NewRuntime();
        return (runtime, await runtime.OpenAsync<Pairs>("pairs", OpenMode.Create));
    }

    private static async Task<byte[]> LastRecordAsync(World world)
    {
        var entry = (await world.Log.ReadManyAsync([(await world.TailAsync()) + -1]))[0].Entry!;
        var reader = new MessagePackReader(entry.Payload);
        reader.ReadArrayHeader(4);
        for (var i = 0; i < 3; i++) reader.SkipValue();
        Assert.Equal(1, reader.ReadArrayHeader());
        return reader.ReadRaw().ToArray();
    }
}
