using System.Buffers;
using Corfu;
using Tango.Formatting;
using Tango.Records;
using Tango.Testing;

namespace Tango.Tests;

/// <summary>Pins the bytes that docs/formats/tango.md describes.</summary>
public class RecordFormatTests
{
    private static readonly byte[] KeyOfX = [0, 0, 0, 0, 0, 0, 0, 1, (byte)'x'];

    [Fact]
    public async Task An_update_is_kind_object_mutator_key_arguments()
    {
        await using var world = new World();
        var (_, accounts) = await world.OpenAccountsAsync();
        await accounts.SetAsync("x", 5);
        Assert.Equal<byte[]>([0x95, 1, 0xcd, 1, 0, 1, 0xc4, 9, .. KeyOfX, 0xc4, 8, 0, 0, 0, 0, 0, 0, 0, 5],
            await LastRecordAsync(world));

        await accounts.ClearAsync();
        Assert.Equal<byte[]>([0x95, 1, 0xcd, 1, 0, 4, 0xc0, 0xc4, 0], await LastRecordAsync(world));
    }

    [Fact]
    public async Task A_commit_is_kind_flags_snapshot_reads_writes_spills()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        var transaction = runtime.BeginTx();
        await accounts.BalanceAsync("x");
        await accounts.SetAsync("x", 5);
        Assert.True((await transaction.EndTxAsync()).IsCommitted);
        Assert.Equal<byte[]>(
            [
                0x96, 2, 0, 1,
                0x91, 0x92, 0xcd, 1, 0, 0x91, 0xc4, 9, .. KeyOfX,
                0x91, 0x94, 0xcd, 1, 0, 1, 0xc4, 9, .. KeyOfX, 0xc4, 8, 0, 0, 0, 0, 0, 0, 0, 5,
                0x90,
            ],
            await LastRecordAsync(world));

        var whole = runtime.BeginTx();
        await accounts.BalanceAsync("x");
        await accounts.SnapshotAsync();
        await accounts.ClearAsync();
        Assert.True((await whole.EndTxAsync()).IsCommitted);
        Assert.Equal<byte[]>(
            [0x96, 2, 0, 2, 0x91, 0x92, 0xcd, 1, 0, 0xc0, 0x91, 0x94, 0xcd, 1, 0, 4, 0xc0, 0xc4, 0, 0x90],
            await LastRecordAsync(world));
    }

    [Fact]
    public async Task A_new_objects_directory_record()
    {
        await using var world = new World();
        await world.OpenAccountsAsync("first");
        Assert.Equal<byte[]>(
            [
                0x95, 1, 1, 1, 0xc0, 0xc4, 38,
                0x95, 3, 0xcd, 0x40, 0, 0xce, 0, 4, 0, 0, 0xc0,
                0x91, 0x93, 0xa5, .. "first"u8, 0xad, .. "test-accounts"u8, 0xce, 0, 1, 0, 0,
            ],
            await LastRecordAsync(world));

        await world.OpenAccountsAsync("name");
        Assert.Equal<byte[]>(
            [
                0x95, 1, 1, 1, 0xc0, 0xc4, 37,
                0x95, 3, 0xcd, 0x40, 0, 0xce, 0, 4, 0, 0, 0xc0,
                0x91, 0x93, 0xa4, .. "name"u8, 0xad, .. "test-accounts"u8, 0xce, 0, 1, 0, 0,
            ],
            await LastRecordAsync(world));
    }

    [Fact]
    public async Task The_record_that_raises_the_level()
    {
        await using var world = new World();
        await world.OpenAccountsAsync("name");
        await world.NewRuntime(new TangoOptions { NewestLevel = 4 }).Log.RaiseLevelAsync(4);
        Assert.Equal<byte[]>([0x95, 1, 1, 2, 0xc0, 0xc4, 2, 0x91, 4], await LastRecordAsync(world));
    }

    [Theory]
    [InlineData(new byte[] { 0x94, 3, 0, 0, 0x90 }, "a newer entry format")]
    [InlineData(new byte[] { 0x94, 2, 0, 0, 0x91, 0x91, 99 }, "an unknown record kind")]
    [InlineData(new byte[] { 0x94, 2, 0, 0, 0x91, 0x96, 2, 4, 0, 0x90, 0x90, 0x90 },
        "an unknown flag of a commit record")]
    [InlineData(new byte[] { 0x94, 2, 0, 0, 0x91, 0x95, 1, 0xcd, 1, 0, 1, 0x91, 0xc4, 1, 7, 0xc4, 0 },
        "a list of one key")]
    [InlineData(new byte[] { 0x94, 2, 0, 0, 0x91, 0x95, 1, 0xcd, 1, 0, 1, 0x92, 0xc4, 1, 7, 8, 0xc4, 0 },
        "a list with something else")]
    [InlineData(new byte[] { 0x94, 2, 0, 0, 0x91, 0x95, 1 }, "a record that ends too early")]
    [InlineData(new byte[0], "nothing")]
    public async Task Unreadable_entry_stops_only_the_objects_of_the_named_streams(byte[] payload, string what)
    {
        await using var world = new World();
        var runtime = world.NewRuntime();
        var hit = await runtime.OpenAsync<Accounts>("hit", OpenMode.Create);
        var other = await runtime.OpenAsync<Accounts>("other", OpenMode.Create);
        await world.Log.AppendToObjectsAsync(payload, [ObjectId.FirstUser.Stream]);
        await other.SetAsync("x", 1);
        var stopped = await Assert.ThrowsAsync<TangoObjectStoppedException>(async () => await hit.BalanceAsync("x"));
        Assert.True(stopped.InnerException is TangoFormatException, what);
        Assert.Equal(1, await other.BalanceAsync("x"));
    }

    [Fact]
    public async Task Several_callers_share_an_entry_with_one_header()
    {
        var gate = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        gate.SetResult();
        await using var world = new World(new InMemoryLogOptions { AroundAppend = async _ => await gate.Task });
        var (_, accounts) = await world.OpenAccountsAsync();
        gate = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var calls = Enumerable.Range(0, 4).Select(i => accounts.SetAsync("x", i).AsTask()).ToArray();
        gate.SetResult();
        await Task.WhenAll(calls);
        var entry = await LastEntryAsync(world);
        Assert.Equal((EntryFormat.Version, 3), ReadHeader(entry));
    }

    private static (int Version, int Records) ReadHeader(LogEntry entry)
    {
        var reader = new MessagePackReader(entry.Payload);
        reader.ReadArrayHeader(4);
        var version = reader.ReadInt32();
        reader.ReadUInt64();
        reader.ReadInt64();
        return (version, reader.ReadArrayHeader());
    }

    private static async Task<LogEntry> LastEntryAsync(World world) =>
        (await world.Log.ReadManyAsync([(await world.TailAsync()) + -1]))[0].Entry!;

    private static async Task<byte[]> LastRecordAsync(World world)
    {
        var entry = await LastEntryAsync(world);
        return Record(entry);

        static byte[] Record(LogEntry entry)
        {
            var reader = new MessagePackReader(entry.Payload);
            reader.ReadArrayHeader(4);
            for (var i = 0; i < 3; i++) reader.SkipValue();
            Assert.Equal(1, reader.ReadArrayHeader());
            var record = reader.ReadRaw().ToArray();
            Assert.True(reader.End);
            return record;
        }
    }
}
