using Tango.Ledgers.Directory;
using Tango.Ledgers.Tests.Support;
using Tango.Testing;
using static Tango.Ledgers.Tests.Support.LedgerWorld;

namespace Tango.Ledgers.Tests;

/// <summary>Ledgers hold the log, and let go of it.</summary>
public sealed class LedgerTrimTests : IAsyncDisposable
{
    private readonly LedgerWorld _world = new();

    public ValueTask DisposeAsync() => _world.DisposeAsync();

    [Fact]
    public async Task Log_is_not_trimmed_of_a_ledger_that_is_open_or_closed()
    {
        var process = _world.Start();
        var store = await _world.OpenAsync(process);
        var writer = await store.CreateAsync();
        await writer.AppendAsync(Bytes("a"));
        var place = (await _world.RowAsync(writer.Id)).Place.Position;
        Assert.True(await TrimAsync(process) <= place);
        await writer.AppendAsync(Bytes("b"));
        await writer.CloseAsync();
        await TrimAsync(process);
        Assert.Equal("a b", await ReadAllAsync(await store.OpenAsync(writer.Id)));
    }

    [Fact]
    public async Task Log_is_trimmed_of_a_ledger_that_is_deleted()
    {
        var process = _world.Start();
        var store = await _world.OpenAsync(process);
        var writer = await store.CreateAsync();
        await writer.AppendAsync(Bytes("a"));
        await writer.CloseAsync();
        var place = (await _world.RowAsync(writer.Id)).Place.Position;
        Assert.True(await store.DeleteAsync(writer.Id));
        Assert.True(await TrimAsync(process) > place);
    }

    [Fact]
    public async Task Entries_of_a_deleted_ledger_are_released_one_by_one()
    {
        var store = await _world.OpenAsync();
        var writer = await store.CreateAsync();
        await writer.AppendAsync(Bytes("a"));
        await writer.CloseAsync();
        var stream = await _world.StreamAsync(writer.Id);
        await store.DeleteAsync(writer.Id);
        await store.DisposeAsync();
        var positions = (await _world.Log.CheckAsync([stream])).Streams[0].Positions;
        var states = (await _world.Log.ReadManyAsync(positions, ReadDetail.State)).Select(result => result.State);
        Assert.Equal([PageState.Trimmed, PageState.Trimmed], states);
    }

    [Fact]
    public async Task Moved_ledger_lets_the_log_go_and_readers_go_on()
    {
        var process = _world.Start();
        var store = await _world.OpenAsync(process);
        var writer = await store.CreateAsync();
        for (var i = 0; i < 50; i++) await writer.AppendAsync(Bytes(i));
        await writer.CloseAsync();
        var open = await store.CreateAsync();
        await open.AppendAsync(Bytes("open"));
        var reader = await (await _world.OpenAsync()).OpenAsync(writer.Id);
        var place = (await _world.RowAsync(writer.Id)).Place.Position;
        Assert.Equal(1, await store.MoveAsync(await _world.Host.TailAsync()));
        await open.CloseAsync();
        Assert.Equal(1, await store.MoveAsync((await _world.RowAsync(writer.Id)).Place.Position));
        Assert.Equal(0, await store.MoveAsync(place));
        Assert.True(await TrimAsync(process) > place);
        var expected = string.Join(' ', Enumerable.Range(0, 50));
        Assert.Equal(expected, await JoinAsync(reader.ReadAsync(0, 49)));
        Assert.Equal(expected, await ReadAllAsync(await store.OpenAsync(writer.Id)));
        Assert.Equal("open", await ReadAllAsync(await store.OpenAsync(open.Id)));
    }

    // B15: the directory named a spine, and was asked again when that was trimmed.
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Opening_of_a_ledger_asks_again_behind_a_trim_of_the_spine(bool isMoved)
    {
        var process = _world.Start();
        var store = await _world.OpenAsync(process);
        var writer = await store.CreateAsync();
        await writer.AppendAsync(Bytes("a"));
        await writer.CloseAsync();
        var log = new HookedLog(_world.Log);
        var other = await _world.OpenAsync(log);
        log.BeforeRead = async _ =>
        {
            log.BeforeRead = static _ => ValueTask.CompletedTask;
            var spine = (await _world.RowAsync(writer.Id)).Spine!.Value;
            if (isMoved) await store.MoveAsync(await _world.Host.TailAsync());
            else await store.DeleteAsync(writer.Id);
            await _world.Log.TrimAsync(new LogPosition(spine));
        };
        if (isMoved) Assert.Equal("a", await ReadAllAsync(await other.OpenAsync(writer.Id)));
        else Assert.Equal(LedgerError.LedgerNotFound, await RefusalAsync(async () => await other.OpenAsync(writer.Id)));
    }

    [Fact]
    public async Task Reader_that_was_opened_before_the_close_goes_on_behind_a_move()
    {
        var process = _world.Start();
        var store = await _world.OpenAsync(process);
        var writer = await store.CreateAsync();
        for (var i = 0; i < 5; i++) await writer.AppendAsync(Bytes(i));
        var reader = await (await _world.OpenAsync()).OpenAsync(writer.Id);
        await writer.AppendAsync(Bytes(5));
        await writer.CloseAsync();
        await store.MoveAsync(await _world.Host.TailAsync());
        await TrimAsync(process);
        Assert.Equal("0 1 2 3 4", await JoinAsync(reader.ReadAsync(0, 4)));
        Assert.Equal("0 1 2 3 4 5", await ReadAllAsync(reader));
        Assert.True(reader.IsClosed);
    }

    /// <summary>Makes checkpoints of the store's directory, and trims the log below its claim.</summary>
    /// <returns>The claim.</returns>
    private async Task<LogPosition> TrimAsync(TestProcess process)
    {
        var directory = await process.Runtime.OpenAsync<LedgerDirectory>("ledgers");
        for (var i = 0; i < 3; i++) await process.Runtime.Checkpoints.WriteAsync(directory);
        var claims = (await process.Runtime.Log.ReadTrimPointAsync()).Claims;
        var claim = claims.Single(claim => claim is { Kind: TangoClaimKind.Object, Name: "ledgers" }).Position;
        await _world.Host.TrimBelowAsync(claim);
        return claim;
    }
}
