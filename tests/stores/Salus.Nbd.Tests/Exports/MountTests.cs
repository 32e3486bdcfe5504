using Salus.Nbd.Exports;

namespace Salus.Nbd.Tests.Exports;

public sealed class MountTests
{
    private readonly List<MemoryVolume> _mounted = [];
    private readonly MemorySource _source;

    public MountTests() => _source = new MemorySource(1 << 20, 4096, false, _ =>
    {
        var volume = new MemoryVolume(1 << 20);
        lock (_mounted) _mounted.Add(volume);
        return Task.FromResult<IVolume>(volume);
    });

    private NbdWorld World() => new(exports: new NbdExport("vol", _source));

    private static async Task LeaveAsync(NbdPeer peer)
    {
        await peer.SendCommandAsync(CommandCode.Disconnect, 0, 0);
        await peer.AssertEndAsync();
    }

    private static async Task UntilAsync(Func<bool> holds)
    {
        for (var i = 0; i < 2000 && !holds(); i++) await Task.Delay(5);
        Assert.True(holds());
    }

    [Fact]
    public async Task Volume_is_mounted_with_the_first_transmission_and_not_before()
    {
        await using var world = World();
        var peer = world.Connect();
        await peer.GreetAsync();
        await peer.SendOptionAsync(OptionCode.Info, Bytes.Info("vol"));
        await peer.ReadOptionAsync();
        await peer.ReadOptionAsync();
        Assert.Equal(0, _source.Mounts);
        await world.AttachAsync();
        await world.AttachAsync();
        Assert.Equal(1, _source.Mounts);
    }

    [Fact]
    public async Task Volume_is_closed_some_time_after_the_last_client_has_gone()
    {
        await using var world = World();
        var (one, other) = (await world.AttachAsync(), await world.AttachAsync());
        await LeaveAsync(one);
        world.Time.Advance(TimeSpan.FromMinutes(1));
        Assert.Equal(NbdError.None, await other.WriteAsync(0, new byte[512]));
        await LeaveAsync(other);
        world.Time.Advance(TimeSpan.FromSeconds(9));
        Assert.False(_mounted[0].IsDisposed);
        world.Time.Advance(TimeSpan.FromSeconds(2));
        await UntilAsync(() => _mounted[0].IsDisposed);
        await world.AttachAsync();
        Assert.Equal(2, _source.Mounts);
    }

    [Fact]
    public async Task Client_that_comes_in_time_finds_the_volume_mounted()
    {
        await using var world = World();
        await LeaveAsync(await world.AttachAsync());
        world.Time.Advance(TimeSpan.FromSeconds(5));
        var peer = await world.AttachAsync();
        world.Time.Advance(TimeSpan.FromMinutes(1));
        Assert.Equal(NbdError.None, await peer.WriteAsync(0, new byte[512]));
        Assert.Equal(1, _source.Mounts);
    }

    [Fact]
    public async Task Lost_lease_ends_all_connections_and_the_next_client_gets_a_new_mount()
    {
        await using var world = World();
        var (one, idle) = (await world.AttachAsync(), await world.AttachAsync());
        _mounted[0].Refuse = _ => new VolumeException(VolumeFault.LeaseLost, "another process writes");
        Assert.Equal(NbdError.Shutdown, await one.WriteAsync(0, new byte[4096]));
        await one.AssertEndAsync();
        await idle.AssertEndAsync();
        await UntilAsync(() => _mounted[0].IsDisposed);
        var next = await world.AttachAsync();
        Assert.Equal(NbdError.None, await next.WriteAsync(0, new byte[4096]));
        Assert.Equal(2, _source.Mounts);
    }

    [Fact]
    public async Task Removed_export_fails_commands_and_is_closed()
    {
        await using var world = World();
        var peer = await world.AttachAsync();
        Assert.True(await world.Exports.RemoveAsync("vol"));
        Assert.False(await world.Exports.RemoveAsync("vol"));
        Assert.True(_mounted[0].IsDisposed);
        Assert.Equal(NbdError.Shutdown, await peer.WriteAsync(0, new byte[4096]));
        await peer.AssertEndAsync();
    }

    [Theory]
    [InlineData(1 << 20, 256)]
    [InlineData(1 << 20, 3000)]
    [InlineData(1 << 22, 1 << 21)]
    [InlineData((1 << 20) + 512, 4096)]
    [InlineData(-4096, 4096)]
    public async Task Blocks_that_are_not_served_are_refused(long size, int block)
    {
        await using var world = World();
        var source = new MemorySource(size, block, false, _ => throw new NotSupportedException());
        Assert.Throws<ArgumentException>(() => world.Exports.Add(new NbdExport("other", source)));
    }

    [Fact]
    public async Task Name_that_is_taken_or_too_long_is_refused()
    {
        await using var world = World();
        Assert.Throws<ArgumentException>(() => world.Exports.Add(new NbdExport("vol", _source)));
        Assert.Throws<ArgumentException>(() => world.Exports.Add(new NbdExport("", _source)));
        Assert.Throws<ArgumentException>(
            () => world.Exports.Add(new NbdExport(new string('x', ExportTable.MaxName + 1), _source)));
    }
}
