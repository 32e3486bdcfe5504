using Tango.Ledgers.Records;
using Tango.Ledgers.Tests.Support;
using Tango.Testing;
using static Tango.Ledgers.Tests.Support.LedgerWorld;

namespace Tango.Ledgers.Tests;

/// <summary>The executions that the rules of ledgers prevent, one by one.</summary>
public sealed class LedgerRuleTests : IAsyncDisposable
{
    // Each entry is a batch of its own.
    private static readonly LedgerOptions s_alone = new() { MaxBatchBytes = 1 };

    private readonly Queue<AppendFault> _faults = new();
    private readonly LedgerWorld _world;

    // Awaited by each append before and after it is in the log.
    private Func<ValueTask> _around = static () => ValueTask.CompletedTask;

    public LedgerRuleTests() => _world = new LedgerWorld(new InMemoryLogOptions
    {
        NextAppendFault = () => _faults.TryDequeue(out var fault) ? fault : AppendFault.None,
        AroundAppend = _ => _around(),
    });

    public ValueTask DisposeAsync() => _world.DisposeAsync();

    // A writer that was stuck while the slot changed hands.
    [Fact]
    public async Task Record_of_an_earlier_ledger_of_the_slot_is_none_of_this_one()
    {
        var store = await _world.OpenAsync();
        var first = await store.CreateAsync();
        var old = await _world.RowAsync(first.Id);
        await first.CloseAsync();
        var second = await store.CreateAsync();
        var row = await _world.RowAsync(second.Id);
        Assert.Equal(old.Slot, row.Slot);
        var stream = await _world.StreamAsync(second.Id);
        await _world.AppendAsync(stream, new EntriesRecord(old.Key, 0, null, [Bytes("stuck")]));
        await _world.AppendAsync(stream, new FenceRecord(old.Key));
        Assert.Equal(0, await second.AppendAsync(Bytes("a")));
        Assert.Equal("a", await ReadAllAsync(await store.OpenAsync(second.Id)));
        Assert.Equal("a", await ReadAllAsync(await store.RecoverAsync(second.Id)));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Writer_behind_a_fence_hears_no_acknowledgement(bool tellsHeaders)
    {
        await using var world = new LedgerWorld(new InMemoryLogOptions { TellHeaders = tellsHeaders });
        var store = await world.OpenAsync();
        var writer = await store.CreateAsync();
        await writer.AppendAsync(Bytes("a"));
        await world.AppendAsync(
            await world.StreamAsync(writer.Id), new FenceRecord((await world.RowAsync(writer.Id)).Key));
        Assert.Equal(LedgerError.LedgerFenced, await RefusalAsync(async () => await writer.AppendAsync(Bytes("b"))));
        Assert.Equal(0, writer.LastConfirmed);
        Assert.Equal("a", await ReadAllAsync(await store.RecoverAsync(writer.Id)));
        Assert.Equal(0, (await writer.CloseAsync()).LastEntry);
    }

    // The fence has its position, and is not written yet.
    [Fact]
    public async Task Position_that_another_process_was_granted_is_closed_before_an_entry_above_is_acknowledged()
    {
        var store = await _world.OpenAsync();
        var writer = await store.CreateAsync();
        await writer.AppendAsync(Bytes("a"));
        var (stream, key) = (await _world.StreamAsync(writer.Id), (await _world.RowAsync(writer.Id)).Key);
        _faults.Enqueue(AppendFault.LostAndUnknown);
        var fence = await _world.Log.AppendToObjectsAsync(new FenceRecord(key).Encode(), [stream]);
        Assert.Equal(1, await writer.AppendAsync(Bytes("b")));
        var state = (await _world.Log.ReadManyAsync([fence.Position], ReadDetail.State, ReadMode.Observe))[0].State;
        Assert.Equal(PageState.Junk, state);
        Assert.Equal("a b", await ReadAllAsync(await store.RecoverAsync(writer.Id)));
    }

    // More of them than an entry has backpointers.
    [Fact]
    public async Task Fence_below_many_junk_positions_is_found()
    {
        var store = await _world.OpenAsync();
        var writer = await store.CreateAsync();
        await writer.AppendAsync(Bytes("a"));
        var (stream, key) = (await _world.StreamAsync(writer.Id), (await _world.RowAsync(writer.Id)).Key);
        await _world.AppendAsync(stream, new FenceRecord(key));
        for (var i = 0; i < 10; i++)
        {
            _faults.Enqueue(AppendFault.LostAndUnknown);
            await _world.Log.AppendToObjectsAsync(new FenceRecord(key).Encode(), [stream]);
        }

        Assert.Equal(LedgerError.LedgerFenced, await RefusalAsync(async () => await writer.AppendAsync(Bytes("b"))));
    }

    [Fact]
    public async Task Record_of_a_later_ledger_of_the_slot_fences_the_writer()
    {
        var store = await _world.OpenAsync();
        var writer = await store.CreateAsync();
        await writer.AppendAsync(Bytes("a"));
        var key = (await _world.RowAsync(writer.Id)).Key;
        var later = new LogPlace(key.Position + 100, 0, 0);
        await _world.AppendAsync(
            await _world.StreamAsync(writer.Id), new EntriesRecord(later, 0, null, [Bytes("other")]));
        Assert.Equal(LedgerError.LedgerFenced, await RefusalAsync(async () => await writer.AppendAsync(Bytes("b"))));
    }

    [Fact]
    public async Task Trimmed_record_in_the_slot_fences_the_writer()
    {
        var store = await _world.OpenAsync();
        var writer = await store.CreateAsync();
        await writer.AppendAsync(Bytes("a"));
        var key = (await _world.RowAsync(writer.Id)).Key;
        var fence = await _world.AppendAsync(await _world.StreamAsync(writer.Id), new FenceRecord(key));
        await _world.Log.TrimAsync(fence);
        Assert.Equal(LedgerError.LedgerFenced, await RefusalAsync(async () => await writer.AppendAsync(Bytes("b"))));
        Assert.Equal(0, writer.LastConfirmed);
    }

    [Fact]
    public async Task Record_that_this_code_cannot_read_fences_the_writer()
    {
        var store = await _world.OpenAsync();
        var writer = await store.CreateAsync();
        await _world.Log.AppendToObjectsAsync(new byte[] { 0x93, 2, 1, 1 }, [await _world.StreamAsync(writer.Id)]);
        Assert.Equal(LedgerError.LedgerFenced, await RefusalAsync(async () => await writer.AppendAsync(Bytes("a"))));
    }

    [Fact]
    public async Task Entry_behind_one_refused_by_the_log_is_not_acknowledged()
    {
        var store = await _world.OpenAsync(s_alone);
        var writer = await store.CreateAsync();
        var (isFirst, refuse) = (true, new TaskCompletionSource());
        _around = () =>
        {
            if (!isFirst) return ValueTask.CompletedTask;
            isFirst = false;
            return new ValueTask(refuse.Task);
        };
        var first = writer.AppendAsync(Bytes("a")).AsTask();
        var second = writer.AppendAsync(Bytes("b")).AsTask();
        var reader = await store.OpenAsync(writer.Id);
        while (await TryReadAsync(reader, 1) is null) await Task.Yield();
        for (var i = 0; i < 50; i++) await Task.Yield();
        refuse.SetException(new LogIsMirrorException("The entry"));
        Assert.Equal(LedgerError.LedgerClosed, await RefusalAsync(() => first));
        Assert.Equal(LedgerError.LedgerClosed, await RefusalAsync(() => second));
        Assert.Equal(LedgerError.LedgerClosed, await RefusalAsync(async () => await writer.AppendAsync(Bytes("c"))));
        Assert.Equal(-1, (await store.RecoverAsync(writer.Id)).LastConfirmed);
    }

    [Fact]
    public async Task Append_in_doubt_is_in_the_log_once()
    {
        var store = await _world.OpenAsync(s_alone);
        var writer = await store.CreateAsync();
        foreach (var fault in (AppendFault[])[AppendFault.WrittenButUnknown, AppendFault.LostAndUnknown])
        {
            _faults.Enqueue(fault);
            await writer.AppendAsync(Bytes("a"));
        }

        var cursor = new StreamCursor(_world.Log, await _world.StreamAsync(writer.Id));
        await cursor.SyncAsync();
        List<long> ids = [];
        while (await cursor.ReadNextAsync() is { } entry)
            ids.Add(Assert.IsType<EntriesRecord>(LedgerRecord.Decode(entry.Payload)).First);
        Assert.Equal([0, 1], ids);
    }

    [Fact]
    public async Task Writer_with_an_append_in_doubt_ends_and_the_ledger_is_recovered()
    {
        var process = _world.Start();
        var store = await _world.OpenAsync(process);
        var writer = await store.CreateAsync();
        await writer.AppendAsync(Bytes("a"));
        process.Connection.LeaveNextInDoubt();
        process.Connection.BeforeNextAppend(() => ValueTask.CompletedTask);
        _around = () =>
        {
            process.Connection.Lose();
            return ValueTask.CompletedTask;
        };
        var refusal = RefusalAsync(async () => await writer.AppendAsync(Bytes("b")));
        await _world.Host.Time.AdvanceUntilAsync(refusal, TimeSpan.FromSeconds(1));
        Assert.Equal(LedgerError.LedgerInDoubt, await refusal);
        Assert.Equal(LedgerError.LedgerInDoubt, await RefusalAsync(async () => await writer.AppendAsync(Bytes("c"))));
        _around = static () => ValueTask.CompletedTask;
        Assert.Equal("a b", await ReadAllAsync(await (await _world.OpenAsync()).RecoverAsync(writer.Id)));
        process.Connection.Restore();
        Assert.Equal(LedgerError.LedgerFenced, await RefusalAsync(async () => await writer.CloseAsync()));
    }

    // B11: the second entry is in the log, a reader was told of it, and its writer has not heard of it.
    [Fact]
    public async Task Close_keeps_an_entry_that_a_reader_was_told_is_confirmed()
    {
        var store = await _world.OpenAsync(s_alone);
        var writer = await store.CreateAsync();
        await writer.AppendAsync(Bytes("a"));
        var (isHeld, answer) = (false, new TaskCompletionSource());
        _around = () => isHeld ? new ValueTask(answer.Task) : Hold();
        ValueTask Hold()
        {
            isHeld = true;
            return ValueTask.CompletedTask;
        }

        var second = writer.AppendAsync(Bytes("b")).AsTask();
        var reader = await store.OpenAsync(writer.Id);
        while (await reader.ReadLastConfirmedAsync() < 1) await Task.Yield();
        _around = static () => ValueTask.CompletedTask;
        var closing = writer.CloseAsync().AsTask();
        answer.SetResult();
        Assert.Equal(1, (await closing).LastEntry);
        await Assert.ThrowsAsync<LedgerException>(() => second);
        Assert.Equal("a b", await ReadAllAsync(await store.OpenAsync(writer.Id)));
        Assert.Equal(1, (await writer.CloseAsync()).LastEntry);
    }

    // B14: the writer's own fence is no other process', also where its first answer was lost.
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Close_behind_an_append_in_doubt_succeeds(bool isRepeated)
    {
        var log = new HookedLog(_world.Log);
        var store = await _world.OpenAsync(log);
        var writer = await store.CreateAsync();
        await writer.AppendAsync(Bytes("a"));
        log.OnAppend = static async (_, append) => (await append()) with { Outcome = AppendOutcome.Unknown };
        log.OnResolve = static _ => new ValueTask<AppendOutcome>(AppendOutcome.Unknown);
        Assert.Equal(LedgerError.LedgerInDoubt, await RefusalAsync(async () => await writer.AppendAsync(Bytes("b"))));
        if (isRepeated)
            Assert.Equal(LedgerError.LedgerInDoubt, await RefusalAsync(async () => await writer.CloseAsync()));
        log.OnAppend = static (_, append) => append();
        log.OnResolve = null;
        Assert.Equal(1, (await writer.CloseAsync()).LastEntry);
        Assert.Equal(1, (await writer.CloseAsync()).LastEntry);
        Assert.Equal("a b", await ReadAllAsync(await store.OpenAsync(writer.Id)));
    }

    // A gap that is filled acknowledges all above it at once: a spine has room for them.
    [Fact]
    public async Task Filled_gap_leaves_a_ledger_that_can_be_closed()
    {
        await using var world = new LedgerWorld(new Testing.InMemoryLogOptions { MaxPayload = 64 << 10 });
        var store = await world.OpenAsync();
        var writer = await store.CreateOrderedAsync();
        var writes = new List<Task>();
        var error = default(LedgerError?);
        for (var id = 1L; error is null; id++)
        {
            try
            {
                var write = writer.WriteAsync(id, Bytes(id)).AsTask();
                if (write.IsFaulted) await write;
                writes.Add(write);
            }
            catch (LedgerException e)
            {
                error = e.Error;
            }
        }

        Assert.Equal(LedgerError.WriterBusy, error);
        Assert.InRange(writes.Count, 1_000, 2_000);
        await writer.WriteAsync(0, Bytes(0));
        await Task.WhenAll(writes);
        Assert.Equal(writes.Count, (await writer.CloseAsync()).LastEntry);
        Assert.Equal(writes.Count, (await store.OpenAsync(writer.Id)).LastConfirmed);
    }

    [Fact]
    public async Task Appends_in_flight_beyond_the_room_of_a_spine_are_refused()
    {
        await using var world = new LedgerWorld(new Testing.InMemoryLogOptions { MaxPayload = 64 << 10 });
        await Assert.ThrowsAsync<ArgumentException>(
            () => world.OpenAsync(new LedgerOptions { MaxAppendsInFlight = 4_096 }));
    }

    // The writer's spine must not lead readers past an end that the writer has not seen.
    [Fact]
    public async Task Close_behind_a_fence_hides_neither_the_fence_nor_an_entry_below()
    {
        var store = await _world.OpenAsync(s_alone);
        var writer = await store.CreateAsync();
        await writer.AppendAsync(Bytes("a"));
        var (stream, key) = (await _world.StreamAsync(writer.Id), (await _world.RowAsync(writer.Id)).Key);

        // The second entry is in the log, below a fence, and its writer has not heard of it.
        var (isHeld, answer) = (false, new TaskCompletionSource());
        _around = () => isHeld ? new ValueTask(answer.Task) : Hold();
        ValueTask Hold()
        {
            isHeld = true;
            return ValueTask.CompletedTask;
        }

        var second = writer.AppendAsync(Bytes("b")).AsTask();
        while ((await _world.Log.CheckAsync([stream])).Streams[0].Positions.Length < 2) await Task.Yield();
        _around = static () => ValueTask.CompletedTask;
        await _world.AppendAsync(stream, new FenceRecord(key));
        var closing = writer.CloseAsync().AsTask();
        answer.SetResult();
        Assert.Equal(LedgerError.LedgerFenced, await RefusalAsync(() => closing));
        await Assert.ThrowsAsync<LedgerException>(() => second);
        Assert.Equal("a b", await ReadAllAsync(await store.OpenAsync(writer.Id)));
    }

    // B13: an entry above a gap is in the log, and so is the one below it, of which the writer has not heard.
    [Fact]
    public async Task Close_behind_a_fence_hides_no_entry_that_was_in_the_log_above_a_gap()
    {
        var store = await _world.OpenAsync(s_alone with { MaxAppendsInFlight = 1 });
        var writer = await store.CreateOrderedAsync();
        await writer.WriteAsync(0, Bytes("a"));
        var (stream, key) = (await _world.StreamAsync(writer.Id), (await _world.RowAsync(writer.Id)).Key);

        // The fourth turn is behind the second append, which begins once the first one was accounted for.
        var (turns, held, answer) = (0, new TaskCompletionSource(), new TaskCompletionSource());
        _around = () =>
        {
            if (++turns < 4) return ValueTask.CompletedTask;
            held.TrySetResult();
            return new ValueTask(answer.Task);
        };
        var third = writer.WriteAsync(2, Bytes("c")).AsTask();
        var second = writer.WriteAsync(1, Bytes("b")).AsTask();
        await held.Task;
        _around = static () => ValueTask.CompletedTask;
        await _world.AppendAsync(stream, new FenceRecord(key));
        var closing = writer.CloseAsync().AsTask();
        answer.SetResult();
        Assert.Equal(LedgerError.LedgerFenced, await RefusalAsync(() => closing));
        await Assert.ThrowsAsync<LedgerException>(() => second);
        await Assert.ThrowsAsync<LedgerException>(() => third);
        Assert.Equal(2, (await _world.RowAsync(writer.Id)).Last);
        Assert.Equal("a b c", await ReadAllAsync(await store.OpenAsync(writer.Id)));
    }

    [Fact]
    public async Task Reader_closes_the_holes_below_a_reported_entry()
    {
        var store = await _world.OpenAsync();
        var writer = await store.CreateAsync();
        var (stream, key) = (await _world.StreamAsync(writer.Id), (await _world.RowAsync(writer.Id)).Key);
        _faults.Enqueue(AppendFault.LostAndUnknown);
        var hole = await _world.Log.AppendToObjectsAsync(new FenceRecord(key).Encode(), [stream]);
        await _world.AppendAsync(stream, new EntriesRecord(key, 0, null, [Bytes("a")]));
        Assert.Equal(0, (await store.OpenAsync(writer.Id)).LastConfirmed);
        Assert.Equal(PageState.Junk, (await _world.Log.ReadManyAsync(
            [hole.Position], ReadDetail.State, ReadMode.Observe))[0].State);
    }

    [Fact]
    public async Task Slot_of_a_closed_ledger_is_the_next_one_s_and_that_of_an_open_one_is_not()
    {
        var store = await _world.OpenAsync();
        var first = await store.CreateAsync();
        var second = await store.CreateAsync();
        var slot = (await _world.RowAsync(first.Id)).Slot;
        Assert.NotEqual(slot, (await _world.RowAsync(second.Id)).Slot);
        await store.RecoverAsync(first.Id);
        Assert.Equal(slot, (await _world.RowAsync((await store.CreateAsync()).Id)).Slot);
    }

    /// <summary>Null: it is not there.</summary>
    private static async Task<string?> TryReadAsync(LedgerReader reader, long id)
    {
        try
        {
            return await JoinAsync(reader.ReadUnconfirmedAsync(id, id));
        }
        catch (LedgerException e) when (e.Error == LedgerError.NoSuchEntry)
        {
            return null;
        }
    }
}
