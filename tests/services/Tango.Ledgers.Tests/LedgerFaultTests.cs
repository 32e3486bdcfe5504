using Corfu.Client;
using Tango.Ledgers.Records;
using Tango.Ledgers.Tests.Support;
using static Tango.Ledgers.Tests.Support.LedgerWorld;

namespace Tango.Ledgers.Tests;

/// <summary>Ledgers on a log that refuses, forgets or is disposed, and beside damaged records.</summary>
public sealed class LedgerFaultTests : IAsyncDisposable
{
    private readonly LedgerWorld _world = new();

    public ValueTask DisposeAsync() => _world.DisposeAsync();

    [Fact]
    public async Task Writer_goes_on_after_the_log_was_overloaded()
    {
        var log = new HookedLog(_world.Start().Connection);
        var refusals = 5;
        log.OnAppend = (_, append) =>
            refusals-- > 0 ? throw new LogOverloadedException("Too many appends wait.") : append();
        var store = await _world.OpenAsync(log);
        var writer = await store.CreateAsync();
        var first = writer.AppendAsync(Bytes("a")).AsTask();
        await _world.Host.Time.AdvanceUntilAsync(first);
        Assert.Equal(0, await first);
        Assert.Equal(1, await writer.AppendAsync(Bytes("b")));
        Assert.Equal("a b", await ReadAllAsync(await store.RecoverAsync(writer.Id)));
    }

    [Fact]
    public async Task Writer_ends_when_the_log_refuses_an_entry_for_too_long()
    {
        var log = new HookedLog(_world.Start().Connection);
        log.OnAppend = static (_, _) => throw new LogOverloadedException("Too many appends wait.");
        var store = await _world.OpenAsync(log);
        var writer = await store.CreateAsync();
        var first = RefusalAsync(async () => await writer.AppendAsync(Bytes("a")));
        await _world.Host.Time.AdvanceUntilAsync(first, TimeSpan.FromSeconds(1));
        Assert.Equal(LedgerError.LedgerClosed, await first);
    }

    [Fact]
    public async Task Entry_in_doubt_of_a_disposed_log_is_reported_in_doubt()
    {
        var log = new HookedLog(_world.Start().Connection);
        log.OnAppend = static async (_, append) => (await append()) with { Outcome = AppendOutcome.Unknown };
        log.OnResolve = _ => throw new ObjectDisposedException("log");
        var writer = await (await _world.OpenAsync(log)).CreateAsync();
        Assert.Equal(LedgerError.LedgerInDoubt, await RefusalAsync(async () => await writer.AppendAsync(Bytes("a"))));
        await writer.DisposeAsync();
        Assert.Equal("a", await ReadAllAsync(await (await _world.OpenAsync()).RecoverAsync(writer.Id)));
    }

    [Fact]
    public async Task Entry_whose_position_the_log_has_forgotten_is_reported_in_doubt()
    {
        var log = new HookedLog(_world.Start().Connection);
        log.OnAppend = static async (_, append) =>
            (await append()) with { Outcome = AppendOutcome.Unknown, Position = default };
        log.OnResolve = _ => new ValueTask<AppendOutcome>(AppendOutcome.Appended);
        var writer = await (await _world.OpenAsync(log)).CreateAsync();
        Assert.Equal(LedgerError.LedgerInDoubt, await RefusalAsync(async () => await writer.AppendAsync(Bytes("a"))));
    }

    [Fact]
    public async Task Log_whose_entries_have_no_room_for_a_spine_is_refused()
    {
        var log = new HookedLog(_world.Start().Connection) { MaxPayload = 4096 };
        await Assert.ThrowsAsync<ArgumentException>(async () => await _world.OpenAsync(log));
    }

    [Fact]
    public async Task Id_that_no_other_could_follow_is_refused_and_the_ledger_goes_on()
    {
        var store = await _world.OpenAsync();
        var writer = await store.CreateOrderedAsync();
        await Assert.ThrowsAsync<ArgumentOutOfRangeException>(async () =>
            await writer.WriteAsync(long.MaxValue, Bytes("x")));
        Assert.Equal(0, await writer.WriteAsync(0, Bytes("a")));
        Assert.Equal("a", await ReadAllAsync(await store.RecoverAsync(writer.Id)));
    }

    // The first id that is refused while nothing is acknowledged: entries of this log have room for 1 MiB.
    private const long Far = 38_004;

    [Fact]
    public async Task Id_far_above_the_acknowledged_ones_is_refused_for_now()
    {
        var store = await _world.OpenAsync();
        var writer = await store.CreateOrderedAsync();
        Assert.Equal(LedgerError.WriterBusy,
            await RefusalAsync(async () => await writer.WriteAsync(Far, Bytes("x"))));
        Assert.Equal(-1, writer.LastPushed);
        await writer.WriteAsync(0, Bytes("a"));
        var ahead = writer.WriteAsync(Far, Bytes("x")).AsTask();
        Assert.Equal(0, (await writer.CloseAsync()).LastEntry);
        Assert.Equal(LedgerError.LedgerClosed, await RefusalAsync(() => ahead));
    }

    [Fact]
    public async Task Entries_without_bytes_that_wait_are_bounded()
    {
        var log = new HookedLog(_world.Start().Connection);
        var answer = new TaskCompletionSource();
        log.OnAppend = async (_, append) =>
        {
            await answer.Task;
            return await append();
        };
        var options = new LedgerOptions { MaxAppendsInFlight = 1, MaxBatchBytes = 1, MaxBytesWaiting = 1280 };
        var writer = await (await _world.OpenAsync(log, options)).CreateAsync();

        // The first is under way, ten wait.
        var appends = Enumerable.Range(0, 11).Select(_ => writer.AppendAsync(default).AsTask()).ToArray();
        Assert.Equal(LedgerError.WriterBusy, await RefusalAsync(async () => await writer.AppendAsync(default)));
        answer.SetResult();
        Assert.Equal(10, (await Task.WhenAll(appends))[^1]);
        Assert.Equal(11, await writer.AppendAsync(default));
    }

    [Fact]
    public async Task Reader_stops_at_an_undecodable_record_each_time()
    {
        var store = await _world.OpenAsync();
        var writer = await store.CreateAsync();
        await writer.AppendAsync(Bytes("a"));
        var reader = await store.OpenAsync(writer.Id);
        var (stream, key) = (await _world.StreamAsync(writer.Id), (await _world.RowAsync(writer.Id)).Key);
        await _world.Log.AppendToObjectsAsync(new byte[] { 0x93, 2, 1, 1 }, [stream]);
        await _world.AppendAsync(stream, new EntriesRecord(key, 1, null, [Bytes("b")]));
        for (var i = 0; i < 3; i++)
            await Assert.ThrowsAnyAsync<TangoFormatException>(async () => await reader.ReadLastConfirmedAsync());
        Assert.Equal((false, 0), (reader.IsClosed, reader.LastConfirmed));
    }

    [Fact]
    public async Task Record_above_the_end_is_not_decoded()
    {
        var store = await _world.OpenAsync();
        var writer = await store.CreateAsync();
        await writer.AppendAsync(Bytes("a"));
        var reader = await store.OpenAsync(writer.Id);
        var (stream, key) = (await _world.StreamAsync(writer.Id), (await _world.RowAsync(writer.Id)).Key);
        await _world.AppendAsync(stream, new FenceRecord(key));
        await _world.Log.AppendToObjectsAsync(new byte[] { 0x93, 2, 1, 1 }, [stream]);
        Assert.Equal(0, await reader.ReadLastConfirmedAsync());
        Assert.True(reader.IsClosed);
    }

    // B15, at each read that the reader makes of the record that closes the ledger.
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public async Task Reader_goes_on_when_the_closing_record_is_trimmed_before_a_read(int nth)
    {
        var store = await _world.OpenAsync();
        var writer = await store.CreateAsync();
        for (var i = 0; i < 3; i++) await writer.AppendAsync(Bytes(i));
        var log = new HookedLog(_world.Start().Connection);
        var reader = await (await _world.OpenAsync(log)).OpenAsync(writer.Id);
        await writer.CloseAsync();
        var closing = new LogPosition((await _world.RowAsync(writer.Id)).Spine!.Value);
        log.BeforeRead = async positions =>
        {
            if (!positions.Contains(closing) || --nth != 0) return;
            Assert.Equal(1, await store.MoveAsync(await _world.Host.TailAsync()));
            await _world.Log.TrimAsync(closing);
        };
        Assert.Equal(2, await reader.ReadLastConfirmedAsync());
        Assert.True(reader.IsClosed);
        Assert.Equal("0 1 2", await ReadAllAsync(reader));
    }

    [Fact]
    public async Task Id_of_a_deleted_ledger_is_chosen_for_no_other()
    {
        var store = await _world.OpenAsync();
        foreach (var id in (long[])[2, long.MaxValue])
        {
            await store.CreateAsync(new LedgerSpec { Id = new LedgerId(id) });
            Assert.True(await store.DeleteAsync(new LedgerId(id)));
        }

        Assert.Equal(3, (await store.CreateAsync()).Id.Value);
        Assert.Equal(2, (await store.CreateAsync(new LedgerSpec { Id = new LedgerId(2) })).Id.Value);
        Assert.Equal(4, (await store.CreateAsync()).Id.Value);
    }

    [Fact]
    public async Task Entries_are_released_after_a_release_that_has_failed()
    {
        var log = new HookedLog(_world.Start().Connection);
        var failures = 1;
        log.BeforeTrim = _ =>
            failures-- > 0 ? throw new ObjectDisposedException("log") : ValueTask.CompletedTask;
        var store = await _world.OpenAsync(log);
        StreamId stream = default;
        for (var i = 0; i < 2; i++)
        {
            var writer = await store.CreateAsync();
            await writer.AppendAsync(Bytes("a"));
            await writer.CloseAsync();
            stream = await _world.StreamAsync(writer.Id);
            await store.DeleteAsync(writer.Id);
        }

        await store.DisposeAsync();
        var positions = (await _world.Log.CheckAsync([stream])).Streams[0].Positions;
        var states = (await _world.Log.ReadManyAsync(positions, ReadDetail.State)).Select(result => result.State);
        Assert.Equal([PageState.Trimmed, PageState.Trimmed, PageState.Data, PageState.Data], states);
    }

    [Fact]
    public async Task Move_goes_on_past_a_damaged_ledger()
    {
        var store = await _world.OpenAsync();
        var damaged = await store.CreateAsync();
        await damaged.AppendAsync(Bytes("a"));
        await _world.CloseWronglyAsync(damaged.Id);
        var writer = await store.CreateAsync();
        await writer.AppendAsync(Bytes("b"));
        await writer.CloseAsync();
        var tail = await _world.Host.TailAsync();
        var failed = await Assert.ThrowsAsync<TangoException>(async () => await store.MoveAsync(tail));
        Assert.Contains(damaged.Id.ToString(), failed.Message, StringComparison.Ordinal);
        Assert.True((await _world.RowAsync(writer.Id)).Place.Position >= tail);
        Assert.Equal("b", await ReadAllAsync(await store.OpenAsync(writer.Id)));
    }
}
