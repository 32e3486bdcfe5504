namespace Salus.Nbd.Tests.Writes;

public sealed class WriteOrderTests
{
    private readonly MemoryVolume _volume = new(1 << 20);

    private IEnumerable<string> Places => _volume.Calls.Select(call => $"{call.Verb} {call.First}");

    private static async Task AssertDoneAsync(NbdPeer peer, int count)
    {
        for (var i = 0; i < count; i++) Assert.Equal(NbdError.None, (await peer.ReadSimpleAsync()).Error);
    }

    [Fact]
    public async Task Writes_behind_a_write_that_waits_for_a_read_keep_the_order_of_arrival()
    {
        await using var world = NbdWorld.Of(_volume);
        var held = new Held(_volume, call => call.Verb == VolumeVerb.Read);
        var peer = await world.AttachAsync();
        await peer.SendWriteAsync(100, new byte[100], cookie: 1);
        for (var block = 1; block < 20; block++)
            await peer.SendWriteAsync((ulong)block * 4096, new byte[4096], cookie: (ulong)block + 1);
        await peer.SendCommandAsync(CommandCode.Cache, 0, 512, cookie: 99);
        Assert.Equal(99ul, (await peer.ReadSimpleAsync()).Cookie);
        Assert.Equal(["Read 0"], Places);
        held.Release(0);
        await AssertDoneAsync(peer, 20);
        Assert.Equal(["Read 0", .. Enumerable.Range(0, 20).Select(block => $"Write {block}")], Places);
    }

    [Fact]
    public async Task Writes_of_other_connections_keep_the_order_of_arrival_too()
    {
        await using var world = NbdWorld.Of(_volume);
        var held = new Held(_volume, call => call.Verb == VolumeVerb.Read);
        var (one, other) = (await world.AttachAsync(), await world.AttachAsync());
        await one.SendWriteAsync(100, new byte[100]);
        await held.WaitForAsync(1);
        await other.SendWriteAsync(4096, new byte[4096]);
        await other.SendCommandAsync(CommandCode.Cache, 0, 512, cookie: 9);
        Assert.Equal(9ul, (await other.ReadSimpleAsync()).Cookie);
        Assert.Equal(["Read 0"], Places);
        held.Release(0);
        await AssertDoneAsync(one, 1);
        await AssertDoneAsync(other, 1);
        Assert.Equal(["Read 0", "Write 0", "Write 1"], Places);
    }

    [Fact]
    public async Task Reads_for_parts_of_different_blocks_are_under_way_together()
    {
        await using var world = NbdWorld.Of(_volume);
        var held = new Held(_volume, call => call.Verb == VolumeVerb.Read);
        var peer = await world.AttachAsync();
        for (var block = 0; block < 10; block++) await peer.SendWriteAsync((ulong)block * 4096 + 7, new byte[7]);
        await held.WaitForAsync(10);
        for (var i = 9; i >= 0; i--) held.Release(i);
        await AssertDoneAsync(peer, 10);
        Assert.Equal(Enumerable.Range(0, 10).Select(block => $"Write {block}"), Places.Skip(10));
    }

    [Fact]
    public async Task Write_of_a_part_sees_a_whole_block_that_is_before_in_the_line()
    {
        await using var world = NbdWorld.Of(_volume);
        var held = new Held(_volume, call => call is { Verb: VolumeVerb.Read, First: 9 });
        var peer = await world.AttachAsync();
        // Holds up the line.
        await peer.SendWriteAsync(9 * 4096 + 1, [1]);
        var expected = Bytes.Pattern(4096, 1);
        await peer.SendWriteAsync(0, expected);
        await peer.SendWriteAsync(100, [7, 8, 9]);
        await held.WaitForAsync(1);
        held.Release(0);
        await AssertDoneAsync(peer, 3);
        (expected[100], expected[101], expected[102]) = (7, 8, 9);
        Assert.Equal(expected, await peer.ReadDataAsync(0, 4096));
        Assert.Equal(["Read 9", "Write 9", "Write 0", "Read 0", "Write 0"], Places.Take(5));
    }

    [Fact]
    public async Task Write_of_a_part_sees_zeros_and_parts_that_are_before_in_the_line()
    {
        await using var world = NbdWorld.Of(_volume);
        await _volume.WriteAsync(0, Bytes.Pattern(1 << 20, 1), durable: true);
        var held = new Held(_volume, call => call is { Verb: VolumeVerb.Read, First: 9 });
        var peer = await world.AttachAsync();
        await peer.SendWriteAsync(9 * 4096 + 1, [1]);
        await peer.SendCommandAsync(CommandCode.WriteZeroes, 100, 8192);
        await peer.SendWriteAsync(90, Enumerable.Repeat((byte)5, 20).ToArray());
        await peer.SendCommandAsync(CommandCode.Trim, 8192, 4096);
        await peer.SendWriteAsync(8192, [6]);
        await held.WaitForAsync(1);
        held.Release(0);
        await AssertDoneAsync(peer, 5);
        var expected = Bytes.Pattern(1 << 20, 1)[..12288];
        expected.AsSpan(100, 8192).Clear();
        expected.AsSpan(90, 20).Fill(5);
        expected.AsSpan(8192, 4096).Clear();
        expected[8192] = 6;
        Assert.Equal(expected, await peer.ReadDataAsync(0, 12288));
    }

    [Fact]
    public async Task Block_written_in_part_lately_is_not_read_again()
    {
        await using var world = NbdWorld.Of(_volume);
        var peer = await world.AttachAsync();
        for (var i = 0; i < 8; i++) await peer.WriteAsync((ulong)(i * 1024), Bytes.Pattern(1024, i));
        Assert.Equal(["Read 0", "Write 0", "Write 0", "Write 0", "Write 0", "Read 1"], Places.Take(6));
        byte[] expected = [.. Enumerable.Range(0, 8).SelectMany(i => Bytes.Pattern(1024, i))];
        Assert.Equal(expected, await peer.ReadDataAsync(0, 8192));
    }

    [Fact]
    public async Task Cached_block_is_merged_before_the_write_before_has_committed()
    {
        await using var world = NbdWorld.Of(_volume);
        var held = new Held(_volume, call => call.Verb == VolumeVerb.Write);
        var peer = await world.AttachAsync();
        await peer.SendWriteAsync(0, [1]);
        await peer.SendWriteAsync(1, [2]);
        await held.WaitForAsync(2);
        held.Release(1);
        held.Release(0);
        await AssertDoneAsync(peer, 2);
        Assert.Equal([1, 2, 0], await peer.ReadDataAsync(0, 3));
    }

    [Theory]
    [InlineData(CommandCode.Trim)]
    [InlineData(CommandCode.WriteZeroes)]
    [InlineData(CommandCode.Write)]
    public async Task Block_that_is_replaced_whole_is_cached_no_more(object code)
    {
        await using var world = NbdWorld.Of(_volume);
        var peer = await world.AttachAsync();
        await peer.WriteAsync(0, Bytes.Pattern(100, 1));
        if ((CommandCode)code == CommandCode.Write) await peer.WriteAsync(0, new byte[4096]);
        else await peer.CallAsync((CommandCode)code, 0, 4096);
        await peer.WriteAsync(0, [7]);
        Assert.Equal([7, 0, 0], await peer.ReadDataAsync(0, 3));
    }

    [Fact]
    public async Task Failed_write_leaves_no_cached_block()
    {
        await using var world = NbdWorld.Of(_volume);
        var peer = await world.AttachAsync();
        await peer.WriteAsync(0, [1]);
        _volume.Refuse = call => call.Verb == VolumeVerb.Write
            ? new VolumeException(VolumeFault.OutOfSpace, "full")
            : null;
        Assert.Equal(NbdError.NoSpace, await peer.WriteAsync(1, [2]));
        _volume.Refuse = null;
        Assert.Equal(NbdError.None, await peer.WriteAsync(2, [3]));
        Assert.Equal([1, 0, 3], await peer.ReadDataAsync(0, 3));
    }

    [Fact]
    public async Task Block_of_a_write_that_fails_late_is_read_again()
    {
        await using var world = NbdWorld.Of(_volume);
        var held = new Held(_volume, call => call.Verb == VolumeVerb.Write);
        var peer = await world.AttachAsync();
        await peer.SendWriteAsync(0, [1]);
        await held.WaitForAsync(1);
        held.Fail(0, VolumeFault.Unavailable);
        Assert.Equal(NbdError.InputOutput, (await peer.ReadSimpleAsync()).Error);
        await peer.SendWriteAsync(1, [2]);
        await held.WaitForAsync(2);
        held.Release(1);
        await AssertDoneAsync(peer, 1);
        Assert.Equal(["Read 0", "Write 0", "Read 0", "Write 0"], Places);
    }

    [Fact]
    public async Task Write_whose_block_cannot_be_read_fails_and_later_writes_go_on()
    {
        await using var world = NbdWorld.Of(_volume);
        var held = new Held(_volume, call => call.Verb == VolumeVerb.Read);
        var peer = await world.AttachAsync();
        await peer.SendWriteAsync(100, new byte[100], cookie: 1);
        await peer.SendWriteAsync(4096, new byte[4096], cookie: 2);
        await held.WaitForAsync(1);
        held.Fail(0, VolumeFault.Unverifiable);
        var answers = new[] { await peer.ReadSimpleAsync(), await peer.ReadSimpleAsync() };
        Assert.Equal([(1ul, NbdError.InputOutput), (2ul, NbdError.None)],
            answers.Select(answer => (answer.Cookie, answer.Error)).Order());
        Assert.Equal(["Read 0", "Write 1"], Places);
    }

    [Fact]
    public async Task Write_that_has_a_place_is_carried_out_after_the_client_has_gone()
    {
        await using var world = NbdWorld.Of(_volume);
        var held = new Held(_volume, call => call.Verb == VolumeVerb.Read);
        var peer = await world.AttachAsync();
        await peer.SendWriteAsync(100, [1, 2, 3]);
        await held.WaitForAsync(1);
        peer.Break();
        held.Release(0);
        await peer.Serving;
        Assert.Equal(["Read 0", "Write 0"], Places);
    }

    /// <summary>Ranges overlap inside of blocks, and the client waits for none of its commands; blocks are read late,
    /// and in any order.</summary>
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    public async Task Random_writes_of_one_connection_stand_in_the_order_of_arrival(int seed)
    {
        var chance = new Random(seed);
        await using var world = NbdWorld.Of(_volume, new NbdServerOptions { RecentBytes = 3 * 4096 });
        _volume.Hold = call => call.Verb == VolumeVerb.Read ? Task.Delay(Math.Abs((int)call.First * 31 % 4)) : null;
        var peer = await world.AttachAsync();
        var expected = new byte[16 * 4096];
        for (var round = 0; round < 10; round++)
        {
            for (var i = 0; i < 40; i++)
            {
                var length = chance.Next(4) == 0 ? chance.Next(1, 20_000) : chance.Next(1, 3000);
                var offset = chance.Next(expected.Length - length);
                if (chance.Next(4) > 0)
                {
                    var data = Bytes.Pattern(length, i + 1);
                    await peer.SendWriteAsync((ulong)offset, data);
                    data.CopyTo(expected, offset);
                }
                else
                {
                    await peer.SendCommandAsync(CommandCode.WriteZeroes, (ulong)offset, (uint)length,
                        flags: chance.Next(2) == 0 ? CommandFlags.NoHole : CommandFlags.None);
                    expected.AsSpan(offset, length).Clear();
                }
            }

            await AssertDoneAsync(peer, 40);
            Assert.Equal(expected, await peer.ReadDataAsync(0, (uint)expected.Length));
        }
    }
}
