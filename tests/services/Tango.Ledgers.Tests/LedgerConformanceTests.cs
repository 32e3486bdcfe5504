using Tango.Ledgers.Tests.Support;
using static Tango.Ledgers.Tests.Support.LedgerWorld;

namespace Tango.Ledgers.Tests;

/// <summary>BookKeeper's own tests of its client, clause by clause: a comment names the Java test.</summary>
public sealed class LedgerConformanceTests : IAsyncDisposable
{
    private readonly LedgerWorld _world = new();

    public ValueTask DisposeAsync() => _world.DisposeAsync();

    // BookieWriteLedgerTest.testLedgerHandle..., LedgerHandle.getLastAddPushed, getLastAddConfirmed, getLength.
    [Fact]
    public async Task Writer_tells_pushed_and_confirmed_entries_and_the_length()
    {
        var store = await _world.OpenAsync();
        await using var writer = await store.CreateAsync();
        Assert.Equal((-1, -1, 0), (writer.LastPushed, writer.LastConfirmed, writer.Length));
        for (var i = 0; i < 3; i++)
        {
            Assert.Equal(i, await writer.AppendAsync(Bytes("abcd")));
            Assert.Equal((i, i, 4 * (i + 1)), (writer.LastPushed, writer.LastConfirmed, writer.Length));
        }
    }

    // BookieReadWriteTest.testReadWriteZero, LedgerMetadata of an empty ledger.
    [Fact]
    public async Task Empty_ledger_closes_at_no_entry_and_no_bytes()
    {
        var store = await _world.OpenAsync();
        await using var writer = await store.CreateAsync();
        var closed = await writer.CloseAsync();
        Assert.Equal((true, -1, 0), (closed.IsClosed, closed.LastEntry, closed.Length));
        var reader = await store.OpenAsync(writer.Id);
        Assert.Equal((true, -1, 0), (reader.IsClosed, reader.LastConfirmed, reader.Length));
        Assert.Equal(LedgerError.NoSuchEntry, await RefusalAsync(() => JoinAsync(reader.ReadAsync(0, 0))));
    }

    // BookieReadWriteTest.testReadWriteZero: entries without bytes.
    [Fact]
    public async Task Entries_without_bytes_are_entries()
    {
        var store = await _world.OpenAsync();
        await using var writer = await store.CreateAsync();
        for (var i = 0; i < 5; i++) await writer.AppendAsync(default);
        await writer.CloseAsync();
        var reader = await store.OpenAsync(writer.Id);
        var count = 0;
        await foreach (var entry in reader.ReadAsync(0, 4)) Assert.Equal((count++, 0), (entry.Id, entry.Data.Length));
        Assert.Equal(5, count);
    }

    // BookKeeperTest.testLedgerMetadata, BookKeeperBuildersTest.testFailCreateAdvLedgerBadFixedLedgerIdNegative.
    [Fact]
    public async Task Ledger_has_the_metadata_and_the_id_given_at_the_creation()
    {
        var store = await _world.OpenAsync();
        var properties = new Dictionary<string, string> { ["topic"] = "orders", ["a"] = "1" };
        var spec = new LedgerSpec { Id = new LedgerId(77), Metadata = properties };
        await using var writer = await store.CreateAsync(spec);
        Assert.Equal(new LedgerId(77), writer.Id);
        var other = await _world.OpenAsync();
        var found = await other.FindAsync(new LedgerId(77));
        Assert.Equal(properties.OrderBy(pair => pair.Key), found!.Metadata);
        Assert.Equal(_world.Host.Time.GetUtcNow(), found.Created);
        Assert.False(found.IsClosed);
        Assert.Throws<ArgumentOutOfRangeException>(() => new LedgerId(-1));
        Assert.Equal(LedgerError.LedgerExists,
            await RefusalAsync(async () => await other.CreateAsync(new LedgerSpec { Id = new LedgerId(77) })));
        var large = new Dictionary<string, string> { ["k"] = new('x', LedgerSpec.MaxMetadata) };
        await Assert.ThrowsAsync<ArgumentException>(async () =>
            await store.CreateAsync(new LedgerSpec { Metadata = large }));
    }

    // LedgerDeleteTest, BookKeeperTest: an id is free again once its ledger is deleted.
    [Fact]
    public async Task Id_of_a_deleted_ledger_names_a_new_one()
    {
        var store = await _world.OpenAsync();
        var spec = new LedgerSpec { Id = new LedgerId(5) };
        var first = await store.CreateAsync(spec);
        await first.AppendAsync(Bytes("old"));
        Assert.True(await store.DeleteAsync(first.Id));
        await using var second = await store.CreateAsync(spec);
        await second.AppendAsync(Bytes("new"));
        Assert.Equal("new", await ReadAllAsync(await store.OpenAsync(second.Id)));
        Assert.Equal(LedgerError.LedgerFenced, await RefusalAsync(async () => await first.AppendAsync(Bytes("late"))));
        Assert.Equal("new", await ReadAllAsync(await store.OpenAsync(second.Id)));
    }

    // BookieWriteLedgerTest.testLedgerCreateAdv: any order, acknowledged densely.
    [Fact]
    public async Task Ordered_writer_acknowledges_an_entry_with_all_lower_ones()
    {
        var store = await _world.OpenAsync();
        await using var writer = await store.CreateOrderedAsync();
        var third = writer.WriteAsync(2, Bytes("c")).AsTask();
        var second = writer.WriteAsync(1, Bytes("b")).AsTask();
        Assert.Equal((2, -1), (writer.LastPushed, writer.LastConfirmed));
        Assert.Equal(0, await writer.WriteAsync(0, Bytes("a")));
        var ids = await Task.WhenAll(second, third);
        Assert.Equal([1, 2], ids);
        Assert.Equal((2, 3), (writer.LastConfirmed, writer.Length));
        Assert.Equal("a b c", await ReadAllAsync(await store.OpenAsync(writer.Id)));
    }

    // BookieWriteLedgerTest.testLedgerCreateAdvWithDuplicateEntries (BKDuplicateEntryIdException).
    [Theory]
    [InlineData(0)]
    [InlineData(3)]
    public async Task Ordered_writer_refuses_an_id_a_second_time(long entry)
    {
        var store = await _world.OpenAsync();
        await using var writer = await store.CreateOrderedAsync();
        await writer.WriteAsync(0, Bytes("a"));
        _ = writer.WriteAsync(3, Bytes("d")).AsTask();
        Assert.Equal(LedgerError.DuplicateEntry,
            await RefusalAsync(async () => await writer.WriteAsync(entry, Bytes("x"))));
        Assert.Equal("a", await ReadAllAsync(await store.OpenAsync(writer.Id)));
    }

    // BookieWriteLedgerTest.testLedgerCreateAdvWithGap...: a gap at close ends the ledger before it.
    [Fact]
    public async Task Close_of_an_ordered_writer_above_a_gap_ends_the_ledger_below_the_gap()
    {
        var store = await _world.OpenAsync();
        var writer = await store.CreateOrderedAsync();
        await writer.WriteAsync(0, Bytes("a"));
        var lost = writer.WriteAsync(2, Bytes("c")).AsTask();
        Assert.Equal(0, (await writer.CloseAsync()).LastEntry);
        Assert.Equal(LedgerError.LedgerClosed, await RefusalAsync(() => lost));
        Assert.Equal("a", await ReadAllAsync(await store.OpenAsync(writer.Id)));
    }

    // BookKeeperTest.testBookkeeperDigestPasswordWithAutoDetection..., BookKeeperBuildersTest: wrong password.
    [Fact]
    public async Task Wrong_password_neither_opens_nor_fences()
    {
        var store = await _world.OpenAsync();
        await using var writer = await store.CreateAsync(new LedgerSpec { Password = Bytes("secret") });
        await writer.AppendAsync(Bytes("a"));
        var other = await _world.OpenAsync();
        Assert.Equal(LedgerError.WrongPassword, await RefusalAsync(async () => await other.OpenAsync(writer.Id)));
        Assert.Equal(LedgerError.WrongPassword,
            await RefusalAsync(async () => await other.RecoverAsync(writer.Id, Bytes("Secret"))));
        Assert.Equal(1, await writer.AppendAsync(Bytes("b")));
        Assert.Equal("a b", await ReadAllAsync(await other.OpenAsync(writer.Id, Bytes("secret"))));
    }

    // BookieReadWriteTest.testReadFromOpenLedger: the writer goes on, and confirmed stays until it is asked for. A
    // reader of BookKeeper lags by one entry; this one does not.
    [Fact]
    public async Task Reader_of_an_open_ledger_sees_the_entries_confirmed_at_the_last_question()
    {
        var store = await _world.OpenAsync();
        await using var writer = await store.CreateAsync();
        for (var i = 0; i < 3; i++) await writer.AppendAsync(Bytes(i));
        var reader = await (await _world.OpenAsync()).OpenAsync(writer.Id);
        Assert.Equal((false, 2, 3), (reader.IsClosed, reader.LastConfirmed, reader.Length));
        await writer.AppendAsync(Bytes(3));
        Assert.Equal(2, reader.LastConfirmed);
        Assert.Equal(LedgerError.EntryNotConfirmed, await RefusalAsync(() => JoinAsync(reader.ReadAsync(0, 3))));
        Assert.Equal("0 1 2 3", await JoinAsync(reader.ReadUnconfirmedAsync(0, 3)));
        Assert.Equal(LedgerError.NoSuchEntry,
            await RefusalAsync(() => JoinAsync(reader.ReadUnconfirmedAsync(0, 4))));
        Assert.Equal(3, await reader.ReadLastConfirmedAsync());
        Assert.Equal("1 2 3", await JoinAsync(reader.ReadAsync(1, 3)));
        Assert.Equal(4, await writer.AppendAsync(Bytes(4)));
    }

    // BookieReadWriteTest.testReadUnconfirmed...: an entry above a gap is in the log, and not confirmed.
    [Fact]
    public async Task Entry_above_a_gap_is_read_unconfirmed_alone()
    {
        var store = await _world.OpenAsync();
        await using var writer = await store.CreateOrderedAsync();
        await writer.WriteAsync(0, Bytes("a"));
        var ahead = writer.WriteAsync(2, Bytes("c")).AsTask();
        var reader = await store.OpenAsync(writer.Id);
        while ((await _world.Log.CheckAsync([await _world.StreamAsync(writer.Id)])).Streams[0].Positions.Length < 2)
            await Task.Yield();
        Assert.Equal("c", await JoinAsync(reader.ReadUnconfirmedAsync(2, 2)));
        Assert.Equal(0, reader.LastConfirmed);
        Assert.False(ahead.IsCompleted);
        Assert.Equal(LedgerError.NoSuchEntry,
            await RefusalAsync(() => JoinAsync(reader.ReadUnconfirmedAsync(0, 2))));
    }

    // BookieRecoveryTest, LedgerRecoveryTest.testLedgerRecovery; FencingTest.testBasicFencing, testThreadedMultiFence.
    [Fact]
    public async Task Recovery_closes_the_ledger_and_fences_the_writer()
    {
        var store = await _world.OpenAsync();
        var writer = await store.CreateAsync();
        for (var i = 0; i < 10; i++) await writer.AppendAsync(Bytes(i));
        var recovered = await (await _world.OpenAsync()).RecoverAsync(writer.Id);
        Assert.Equal((true, 9, 10), (recovered.IsClosed, recovered.LastConfirmed, recovered.Length));
        Assert.Equal(LedgerError.LedgerFenced, await RefusalAsync(async () => await writer.AppendAsync(Bytes("x"))));
        Assert.Equal(LedgerError.LedgerFenced, await RefusalAsync(async () => await writer.AppendAsync(Bytes("y"))));
        Assert.Equal("0 1 2 3 4 5 6 7 8 9", await ReadAllAsync(await store.OpenAsync(writer.Id)));
        var closed = await writer.CloseAsync();
        Assert.Equal((true, 9), (closed.IsClosed, closed.LastEntry));
    }

    // LedgerRecoveryTest.testEmptyLedgerRecoveryOne, testLedgerRecoveryWithWrongPassword's empty ledger.
    [Fact]
    public async Task Recovery_of_an_empty_ledger_leaves_no_entry()
    {
        var store = await _world.OpenAsync();
        var writer = await store.CreateAsync();
        var recovered = await store.RecoverAsync(writer.Id);
        Assert.Equal((true, -1, 0), (recovered.IsClosed, recovered.LastConfirmed, recovered.Length));
        Assert.Equal(LedgerError.LedgerFenced, await RefusalAsync(async () => await writer.AppendAsync(Bytes("x"))));
        Assert.Equal(-1, (await store.FindAsync(writer.Id))!.LastEntry);
    }

    // LedgerRecoveryTest.testRecoveryWithGap...: what is above a gap was acknowledged by no writer.
    [Fact]
    public async Task Recovery_ends_a_ledger_before_the_first_gap()
    {
        var store = await _world.OpenAsync();
        var writer = await store.CreateOrderedAsync();
        await writer.WriteAsync(0, Bytes("a"));
        var lost = writer.WriteAsync(2, Bytes("c")).AsTask();
        var stream = await _world.StreamAsync(writer.Id);
        while ((await _world.Log.CheckAsync([stream])).Streams[0].Positions.Length < 2) await Task.Yield();
        Assert.Equal(0, (await store.RecoverAsync(writer.Id)).LastConfirmed);
        Assert.Equal(LedgerError.LedgerFenced,
            await RefusalAsync(async () => await writer.WriteAsync(1, Bytes("b"))));
        Assert.Equal(LedgerError.LedgerFenced, await RefusalAsync(() => lost));
        Assert.Equal("a", await ReadAllAsync(await store.OpenAsync(writer.Id)));
    }

    // LedgerCloseTest.testLedgerCloseWithConsistentLength, BookKeeperTest.testConcurrentRecover: ten recoverers agree,
    // at or above what the writer heard, and no append hangs.
    [Theory]
    [InlineData(1)]
    [InlineData(5)]
    public async Task Recoverers_beside_a_writer_agree_on_an_end_with_all_acknowledged_entries(int before)
    {
        var writing = await _world.OpenAsync(new LedgerOptions { MaxAppendsInFlight = 4 });
        var writer = await writing.CreateAsync();
        for (var i = 0; i < before; i++) await writer.AppendAsync(Bytes(i));
        var stores = await Task.WhenAll(Enumerable.Range(0, 10).Select(_ => _world.OpenAsync()));
        var appends = AppendUntilFencedAsync(writer);
        var readers = await Task.WhenAll(stores.Select(store => store.RecoverAsync(writer.Id).AsTask()));
        var heard = await appends;
        var last = Assert.Single(readers.Select(reader => reader.LastConfirmed).Distinct());
        Assert.True(last >= heard, $"The writer heard of {heard}, and the ledger ends at {last}.");
        Assert.Single((await Task.WhenAll(readers.Select(ReadAllAsync))).Distinct());
    }

    // LedgerCloseTest.testCloseRace: a recovery while the writer closes.
    [Fact]
    public async Task Recovery_while_the_writer_closes_finds_the_end_of_one_of_both()
    {
        var store = await _world.OpenAsync();
        var other = await _world.OpenAsync();
        for (var round = 0; round < 20; round++)
        {
            var writer = await store.CreateAsync();
            await writer.AppendAsync(Bytes("a"));
            var closing = writer.CloseAsync().AsTask();
            var recovered = await other.RecoverAsync(writer.Id);
            var closed = await closing;
            Assert.Equal((0, 0), (recovered.LastConfirmed, closed.LastEntry));
        }
    }

    // FencingTest.testWriteAfterRecover..., LedgerCloseTest: a close repeated, or after another's.
    [Fact]
    public async Task Close_may_be_repeated_and_appends_afterwards_are_refused()
    {
        var store = await _world.OpenAsync();
        var writer = await store.CreateAsync();
        await writer.AppendAsync(Bytes("a"));
        var closed = await writer.CloseAsync();
        Assert.Equal(closed, await writer.CloseAsync());
        Assert.Equal(LedgerError.LedgerClosed, await RefusalAsync(async () => await writer.AppendAsync(Bytes("b"))));
        var recovered = await store.RecoverAsync(writer.Id);
        Assert.Equal((true, 0), (recovered.IsClosed, recovered.LastConfirmed));
    }

    // BookieWriteLedgerTest.testWriteAfterClose...: entries in flight fail at a close. Unlike BookKeeper's they are in
    // the ledger where the log has them: readers do not lag behind the log here, and may have seen them.
    [Fact]
    public async Task Entries_in_flight_at_a_close_fail_and_are_in_the_ledger()
    {
        var gate = new TaskCompletionSource();
        var isHeld = false;
        await using var world = new LedgerWorld(new Testing.InMemoryLogOptions
        {
            AroundAppend = _ => isHeld ? new ValueTask(gate.Task) : ValueTask.CompletedTask,
        });
        var store = await world.OpenAsync();
        var writer = await store.CreateAsync();
        await writer.AppendAsync(Bytes("a"));
        isHeld = true;
        var late = writer.AppendAsync(Bytes("b")).AsTask();
        var closing = writer.CloseAsync().AsTask();
        Assert.Equal(LedgerError.LedgerClosed, await RefusalAsync(() => late));
        Assert.False(closing.IsCompleted);
        isHeld = false;
        gate.SetResult();
        Assert.Equal(1, (await closing).LastEntry);
        Assert.Equal("a b", await ReadAllAsync(await store.OpenAsync(writer.Id)));
        Assert.Equal("a b", await ReadAllAsync(await store.RecoverAsync(writer.Id)));
    }

    // FencingTest.testWriteAfterDelete...: fence, delete, append.
    [Fact]
    public async Task Writer_of_a_deleted_ledger_is_fenced()
    {
        var store = await _world.OpenAsync();
        var writer = await store.CreateAsync();
        await writer.AppendAsync(Bytes("a"));
        Assert.True(await store.DeleteAsync(writer.Id));
        Assert.Equal(LedgerError.LedgerFenced, await RefusalAsync(async () => await writer.AppendAsync(Bytes("b"))));
        Assert.Equal(LedgerError.LedgerNotFound, await RefusalAsync(async () => await writer.CloseAsync()));
    }

    // LedgerDeleteTest.testLedgerDelete, testCannotDeleteLedgerTwice; testLedgerDeletionIdempotency contradicts it.
    [Fact]
    public async Task Deleted_ledger_is_found_by_no_call()
    {
        var store = await _world.OpenAsync();
        var writer = await store.CreateAsync();
        await writer.AppendAsync(Bytes("a"));
        await writer.CloseAsync();
        var reader = await store.OpenAsync(writer.Id);
        Assert.True(await store.DeleteAsync(writer.Id));
        Assert.False(await store.DeleteAsync(writer.Id));
        Assert.Null(await store.FindAsync(writer.Id));
        Assert.Equal(LedgerError.LedgerNotFound, await RefusalAsync(async () => await store.OpenAsync(writer.Id)));
        Assert.Equal(LedgerError.LedgerNotFound, await RefusalAsync(async () => await store.RecoverAsync(writer.Id)));
        await store.DisposeAsync();
        Assert.Equal(LedgerError.LedgerNotFound, await RefusalAsync(() => JoinAsync(reader.ReadAsync(0, 0))));
    }

    // TestReadLastConfirmedAndEntry: at once, on arrival, time-out, race with the close.
    [Fact]
    public async Task Long_poll_returns_an_entry_at_once_on_arrival_or_not_at_all()
    {
        var store = await _world.OpenAsync();
        var writer = await store.CreateAsync();
        await writer.AppendAsync(Bytes("a"));
        var reader = await (await _world.OpenAsync()).OpenAsync(writer.Id);
        Assert.Equal("a", Text((await reader.WaitForAsync(0, TimeSpan.FromSeconds(5)))!.Value));

        var time = _world.Host.Time;
        var arriving = reader.WaitForAsync(1, TimeSpan.FromSeconds(5)).AsTask();
        await writer.AppendAsync(Bytes("b"));
        await time.AdvanceUntilAsync(arriving);
        Assert.Equal("b", Text((await arriving)!.Value));

        var late = reader.WaitForAsync(2, TimeSpan.FromMilliseconds(50)).AsTask();
        await time.AdvanceUntilAsync(late);
        Assert.Null(await late);

        var never = reader.WaitForAsync(2, TimeSpan.FromHours(5)).AsTask();
        await writer.CloseAsync();
        await time.AdvanceUntilAsync(never);
        Assert.Null(await never);
    }

    // TestReadLastConfirmedLongPoll..., DistributedLog's readers: all entries in order, to the end.
    [Fact]
    public async Task Follower_reads_all_entries_and_ends_with_the_ledger()
    {
        var store = await _world.OpenAsync();
        var writer = await store.CreateAsync();
        var reader = await (await _world.OpenAsync()).OpenAsync(writer.Id);
        var following = JoinAsync(reader.FollowAsync(1));
        for (var i = 0; i < 30; i++)
        {
            await writer.AppendAsync(Bytes(i));
            if (i % 10 == 0) _world.Host.Time.Advance(TimeSpan.FromMilliseconds(10));
        }

        await writer.CloseAsync();
        await _world.Host.Time.AdvanceUntilAsync(following);
        Assert.Equal(string.Join(' ', Enumerable.Range(1, 29)), await following);
    }

    // BookKeeperTest.testReadHandleWithInvalidRange... (BKIncorrectParameterException).
    [Theory]
    [InlineData(-1, 0)]
    [InlineData(1, 0)]
    public async Task Range_without_an_entry_is_refused(long first, long last)
    {
        var store = await _world.OpenAsync();
        var writer = await store.CreateAsync();
        await writer.AppendAsync(Bytes("a"));
        var reader = await store.OpenAsync(writer.Id);
        Assert.Throws<ArgumentOutOfRangeException>(() => reader.ReadAsync(first, last));
    }

    [Fact]
    public async Task Ledgers_are_listed_in_the_order_of_ids()
    {
        var store = await _world.OpenAsync();
        foreach (var id in (long[])[900, 3, 17]) await store.CreateAsync(new LedgerSpec { Id = new LedgerId(id) });
        await store.CreateAsync();
        List<long> all = [], some = [];
        await foreach (var ledger in store.ListAsync()) all.Add(ledger.Id.Value);
        await foreach (var ledger in store.ListAsync(new LedgerId(4))) some.Add(ledger.Id.Value);
        Assert.Equal([3, 17, 900, 901], all);
        Assert.Equal([17, 900, 901], some);
    }

    [Fact]
    public async Task Entry_that_fits_no_entry_of_the_log_is_refused()
    {
        var store = await _world.OpenAsync();
        var writer = await store.CreateAsync();
        Assert.Equal(LedgerError.EntryTooLarge,
            await RefusalAsync(async () => await writer.AppendAsync(new byte[_world.Log.MaxPayload])));
        Assert.Equal(0, await writer.AppendAsync(new byte[_world.Log.MaxPayload - 64]));
    }

    [Fact]
    public async Task Transaction_refuses_ledgers()
    {
        var process = _world.Start();
        var store = await _world.OpenAsync(process);
        await using var transaction = process.Runtime.BeginTx();
        await Assert.ThrowsAsync<TangoTransactionException>(async () => await store.CreateAsync());
    }

    /// <returns>The last id that was acknowledged.</returns>
    private static async Task<long> AppendUntilFencedAsync(LedgerWriter writer)
    {
        var heard = writer.LastConfirmed;
        while (true)
        {
            var appends = Enumerable.Range(0, 3).Select(_ => writer.AppendAsync(Bytes("x")).AsTask()).ToArray();
            foreach (var append in appends)
            {
                try
                {
                    heard = await append;
                }
                catch (LedgerException e)
                {
                    Assert.Equal(LedgerError.LedgerFenced, e.Error);
                    Assert.Equal(heard, writer.LastConfirmed);
                    return heard;
                }
            }
        }
    }
}
