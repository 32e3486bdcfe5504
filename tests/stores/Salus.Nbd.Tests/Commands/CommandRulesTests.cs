namespace Salus.Nbd.Tests.Commands;

public sealed class CommandRulesTests
{
    private readonly MemoryVolume _volume = new(1 << 20);

    [Theory]
    [InlineData(8)]
    [InlineData(9)]
    [InlineData(0xffff)]
    public async Task Unknown_command_is_refused_and_the_next_answered(int code)
    {
        await using var world = NbdWorld.Of(_volume);
        var peer = await world.AttachAsync();
        Assert.Equal(NbdError.Invalid, await peer.CallAsync((CommandCode)code, 0, 512));
        Assert.Equal(NbdError.None, await peer.CallAsync(CommandCode.Cache, 0, 512));
    }

    [Theory]
    [InlineData(CommandCode.Trim, CommandFlags.NoHole)]
    [InlineData(CommandCode.Trim, CommandFlags.DontFragment)]
    [InlineData(CommandCode.Cache, CommandFlags.RequestOne)]
    [InlineData(CommandCode.Flush, CommandFlags.FastZero)]
    [InlineData(CommandCode.WriteZeroes, CommandFlags.RequestOne)]
    [InlineData(CommandCode.WriteZeroes, (CommandFlags)0x8000)]
    public async Task Flag_of_another_command_is_refused(object code, object flags)
    {
        await using var world = NbdWorld.Of(_volume);
        var peer = await world.AttachAsync();
        var length = (CommandCode)code == CommandCode.Flush ? 0u : 4096u;
        Assert.Equal(NbdError.Invalid, await peer.CallAsync((CommandCode)code, 0, length, (CommandFlags)flags));
        Assert.Empty(_volume.Calls);
    }

    [Theory]
    [InlineData(CommandCode.Cache)]
    [InlineData(CommandCode.Trim)]
    public async Task Force_is_allowed_on_all_commands(object code)
    {
        await using var world = NbdWorld.Of(_volume);
        var peer = await world.AttachAsync();
        Assert.Equal(NbdError.None, await peer.CallAsync((CommandCode)code, 0, 4096, CommandFlags.Fua));
    }

    [Fact]
    public async Task Read_in_one_chunk_is_refused_where_replies_are_simple()
    {
        await using var world = NbdWorld.Of(_volume);
        var peer = await world.AttachAsync(isStructured: false);
        await peer.SendCommandAsync(CommandCode.Read, 0, 512, flags: CommandFlags.DontFragment);
        Assert.Equal(NbdError.Invalid, (await peer.ReadSimpleAsync(512)).Error);
    }

    [Theory]
    [InlineData(CommandCode.Trim, 1ul << 20, 1u)]
    [InlineData(CommandCode.Trim, 0ul, (1u << 20) + 1)]
    [InlineData(CommandCode.Trim, ulong.MaxValue, uint.MaxValue)]
    [InlineData(CommandCode.Trim, 1ul << 63, 1u)]
    [InlineData(CommandCode.Cache, ulong.MaxValue - 10, 11u)]
    [InlineData(CommandCode.Cache, 0ul, 0u)]
    public async Task Range_outside_the_export_is_refused(object code, ulong offset, uint length)
    {
        await using var world = NbdWorld.Of(_volume);
        var peer = await world.AttachAsync();
        Assert.Equal(NbdError.Invalid, await peer.CallAsync((CommandCode)code, offset, length));
    }

    [Fact]
    public async Task Cache_is_answered_and_reads_no_block()
    {
        await using var world = NbdWorld.Of(_volume);
        var peer = await world.AttachAsync();
        Assert.Equal(NbdError.None, await peer.CallAsync(CommandCode.Cache, 100, 1 << 19));
        Assert.Empty(_volume.Calls);
    }
}
