using Tango.Ledgers.Reading;
using Tango.Ledgers.Records;
using Tango.Ledgers.Tests.Support;
using Tango.Testing;
using static Tango.Ledgers.Tests.Support.LedgerWorld;

namespace Tango.Ledgers.Tests;

/// <summary>Ledgers of more batches than one record of the spine names.</summary>
public sealed class LedgerSpineTests : IAsyncDisposable
{
    // Each entry is a batch of its own.
    private static readonly LedgerOptions s_alone = new() { MaxBatchBytes = 1 };

    private readonly LedgerWorld _world = new();

    public ValueTask DisposeAsync() => _world.DisposeAsync();

    // The second recovery begins at the spine of the first one, which names more than the writer's.
    [Fact]
    public async Task Recovery_after_one_that_died_before_the_directory_heard_has_all_entries()
    {
        var store = await _world.OpenAsync(s_alone);
        var writer = await store.CreateAsync();
        for (var i = 0; i < 300; i++) await writer.AppendAsync(Bytes(i));
        var expected = string.Join(' ', Enumerable.Range(0, 300));
        for (var died = 0; died < 2; died++)
        {
            // The fence and the spine are in the log; the call of the directory is not.
            var dying = _world.Start();
            var other = await _world.OpenAsync(dying);
            CutAfter(dying.Connection, 2);
            await Assert.ThrowsAnyAsync<Exception>(async () => await other.RecoverAsync(writer.Id));
            Assert.False((await store.FindAsync(writer.Id))!.IsClosed);
            Assert.Equal(expected, await ReadAllAsync(await store.OpenAsync(writer.Id)));
        }

        var recovered = await store.RecoverAsync(writer.Id);
        Assert.Equal(expected, await ReadAllAsync(recovered));
        Assert.Equal(expected, await ReadAllAsync(await store.OpenAsync(writer.Id)));
        Assert.Equal(1, await store.MoveAsync(await _world.Host.TailAsync()));
        Assert.Equal(expected, await ReadAllAsync(await store.OpenAsync(writer.Id)));
        Assert.Equal(299, (await writer.CloseAsync()).LastEntry);
    }

    // The floor of all spines is below the id that waits, so that a recovery meets older spines again.
    [Fact]
    public async Task Recovery_that_meets_an_older_spine_again_has_all_entries()
    {
        var store = await _world.OpenAsync(s_alone);
        var writer = await store.CreateOrderedAsync();
        var ahead = writer.WriteAsync(1000, Bytes("ahead")).AsTask();
        for (var i = 0; i < 600; i++) await writer.WriteAsync(i, Bytes(i));
        var expected = string.Join(' ', Enumerable.Range(0, 600));
        Assert.Equal(expected, await ReadAllAsync(await store.OpenAsync(writer.Id)));
        Assert.Equal(expected, await ReadAllAsync(await store.RecoverAsync(writer.Id)));
        Assert.Equal(599, (await writer.CloseAsync()).LastEntry);
        await RefusalAsync(() => ahead);
    }

    // The newest spine stands above a fence that its writer has not seen: the replay meets the older one and the fence,
    // and not the newest again.
    [Fact]
    public async Task Recovery_from_a_spine_above_the_fence_has_all_entries()
    {
        var log = new HookedLog(_world.Log);
        var store = await _world.OpenAsync(log, s_alone);
        var writer = await store.CreateOrderedAsync();
        var (stream, key) = (await _world.StreamAsync(writer.Id), (await _world.RowAsync(writer.Id)).Key);
        var fenced = new TaskCompletionSource();
        log.OnAppend = async (record, append) =>
        {
            if (record is not SpineRecord { Spine.Through: >= 511 }) return await append();
            await _world.AppendAsync(stream, new FenceRecord(key));
            var spine = await append();
            fenced.TrySetResult();
            return spine;
        };
        var ahead = writer.WriteAsync(1000, Bytes("ahead")).AsTask();
        for (var i = 0; i < 512; i++) await writer.WriteAsync(i, Bytes(i));
        await fenced.Task;
        var expected = string.Join(' ', Enumerable.Range(0, 512));
        Assert.Equal(expected, await ReadAllAsync(await store.OpenAsync(writer.Id)));
        Assert.Equal(expected, await ReadAllAsync(await store.RecoverAsync(writer.Id)));
        Assert.Equal(511, (await writer.CloseAsync()).LastEntry);
        await RefusalAsync(() => ahead);
    }

    [Fact]
    public async Task Second_recovery_reads_from_the_fence_on()
    {
        var store = await _world.OpenAsync(s_alone);
        var writer = await store.CreateAsync();
        for (var i = 0; i < 300; i++) await writer.AppendAsync(Bytes(i));
        var dying = _world.Start();
        var other = await _world.OpenAsync(dying);
        CutAfter(dying.Connection, 2);
        await Assert.ThrowsAnyAsync<Exception>(async () => await other.RecoverAsync(writer.Id));
        var log = new HookedLog(_world.Start().Connection);
        var read = new HashSet<LogPosition>();
        log.BeforeRead = positions =>
        {
            foreach (var position in positions) read.Add(position);
            return ValueTask.CompletedTask;
        };
        Assert.Equal(299, (await (await _world.OpenAsync(log)).RecoverAsync(writer.Id)).LastConfirmed);
        Assert.True(read.Count < 20, $"{read.Count} positions were read.");
    }

    [Fact]
    public async Task Spine_that_the_log_refuses_is_due_again_256_batches_later()
    {
        var log = new HookedLog(_world.Start().Connection);
        var batches = new List<int>();
        log.OnAppend = (record, append) =>
        {
            if (record is not SpineRecord { Spine: var spine }) return append();
            lock (batches) batches.Add(spine.Levels[0].Length);
            return batches.Count > 2 ? append() : throw new EntryTooLargeException("A spine");
        };
        var store = await _world.OpenAsync(log, s_alone);
        var writer = await store.CreateAsync();
        for (var i = 0; i < 1100; i++) await writer.AppendAsync(Bytes(i));
        Assert.Equal([256, 512, 768, 256], batches);
        Assert.Equal(1099, (await writer.CloseAsync()).LastEntry);
        var expected = string.Join(' ', Enumerable.Range(0, 1100));
        Assert.Equal(expected, await ReadAllAsync(await store.OpenAsync(writer.Id)));
    }

    [Fact]
    public async Task Spine_in_doubt_of_a_disposed_log_does_not_hold_the_writer_s_end()
    {
        var log = new HookedLog(_world.Start().Connection);
        var began = new TaskCompletionSource();
        log.OnAppend = async (record, append) =>
        {
            var result = await append();
            if (record is not SpineRecord) return result;
            began.SetResult();
            return result with { Outcome = AppendOutcome.Unknown };
        };
        log.OnResolve = _ => throw new ObjectDisposedException("log");
        var store = await _world.OpenAsync(log, s_alone);
        var writer = await store.CreateAsync();
        for (var i = 0; i < 256; i++) await writer.AppendAsync(Bytes(i));
        await began.Task;
        await writer.DisposeAsync();
        Assert.Equal(255, (await (await _world.OpenAsync()).RecoverAsync(writer.Id)).LastConfirmed);
    }

    [Fact]
    public void Spine_with_a_gap_is_not_encoded()
    {
        var key = new LogPlace(new LogPosition(3), 0, 0);
        var spine = new Spine(9, 10, default, [[new SpineRange(0, 9, new LogPosition(4))], [], []]);
        Assert.Throws<TangoFormatException>(() => new SpineRecord(key, spine).Encode());
        Assert.Throws<TangoFormatException>(() => new CloseRecord(key, spine).Encode());
    }

    // A deleted ledger's records are released as they are listed.
    [Fact]
    public async Task Spines_of_a_ledger_are_listed_once_and_after_the_last_read()
    {
        var log = new HookedLog(_world.Log);
        var key = new LogPlace(new LogPosition(3), 0, 0);
        var stream = LedgerStreams.FirstValue;
        var edge = new SpineEdge();
        var inner = new HashSet<LogPosition>();
        const int Batches = 66_500;
        for (var i = 1; i <= Batches; i++)
        {
            edge.Add(1, new LogPosition(1_000_000 + i), 1);
            if (!edge.IsFull) continue;
            var spine = edge.ToSpine(default);
            var position = await _world.AppendAsync(new StreamId(stream), new SpineRecord(key, spine));
            inner.Add(position);
            edge.Follow(spine, position);
        }

        var listed = new HashSet<LogPosition>();
        log.BeforeRead = positions =>
        {
            Assert.DoesNotContain(positions, listed.Contains);
            return ValueTask.CompletedTask;
        };
        var reader = new SpineReader(log, key);
        await foreach (var position in reader.ListAsync(edge.ToSpine(default), CancellationToken.None))
            Assert.True(listed.Add(position), $"{position} was listed twice.");
        Assert.Equal(Batches + inner.Count, listed.Count);
        Assert.Superset(inner, listed);
    }

    /// <summary>Cuts the connection before the append that follows so many.</summary>
    private static void CutAfter(TestConnection connection, int appends) =>
        connection.BeforeNextAppend(() =>
        {
            if (appends == 0) connection.Lose();
            else CutAfter(connection, appends - 1);
            return ValueTask.CompletedTask;
        });
}
