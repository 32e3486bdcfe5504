using Corfu;
using Tango.Formatting;
using Tango.Testing;

namespace Tango.Tests.Places;

/// <summary>Tango 3.1: views hold places in the log in place of values. Places are the same everywhere, and each names
/// its call.</summary>
public class PlaceTests
{
    private static readonly TangoOptions s_options = new() { NewLogMaxSpan = 1, Checkpoints = null };

    private static readonly string[] s_damaged =
        ["9201FF", "93FF0000", "9301FF00", "930100FF", "93CF7FFFFFFFFFFFFFFF0000", "C0"];

    [Fact]
    public async Task Places_of_updates_batches_transactions_and_spills_are_the_same_everywhere_and_can_be_read()
    {
        await using var world = new World(new InMemoryLogOptions { MaxPayload = 300 });
        var runtime = world.NewRuntime();
        var notes = await runtime.OpenAsync<Notes>("notes", OpenMode.Create);
        var other = await world.NewRuntime().OpenAsync<Notes>("notes", OpenMode.Create);
        var expected = new SortedDictionary<string, string>(StringComparer.Ordinal);
        // Concurrent calls share entries.
        await Task.WhenAll(Enumerable.Range(0, 40).Select(i => SetAsync($"update {i}").AsTask()));
        await using (var transaction = runtime.BeginTx())
        {
            for (var i = 0; i < 3; i++) await SetAsync($"committed {i}");
            Assert.True((await transaction.EndTxAsync()).IsCommitted);
        }

        await using (var transaction = runtime.BeginTx())
        {
            for (var i = 0; i < 30; i++) await SetAsync($"spilled {i}");
            Assert.True((await transaction.EndTxAsync()).IsCommitted);
        }

        var places = await notes.PlacesAsync();
        Assert.Contains(places, known => known.Value.Record > 0);
        Assert.Equal([0, 1, 2], Enumerable.Range(0, 3).Select(i => places[$"committed {i}"].Call));
        Assert.True(Enumerable.Range(0, 30).Select(i => places[$"spilled {i}"].Position).Distinct().Count() > 2);
        await runtime.Checkpoints.WriteAsync(notes);
        await SetAsync("behind the checkpoint");
        var late = await world.NewRuntime().OpenAsync<Notes>("notes", OpenMode.Create);
        var own = await notes.PlacesAsync();
        foreach (var replica in new[] { notes, other, late })
        {
            Assert.Equal(own, await replica.PlacesAsync());
            Assert.Equal(expected, await replica.ReadAllAsync());
        }

        // Calls of an object are read also where the object is not played.
        var writeOnly = await world.NewRuntime().OpenWriteOnlyAsync<Notes>("notes", OpenMode.Create);
        Assert.Equal(expected["update 7"], await writeOnly.ReadAsync(places["update 7"]));
        var past =
            await (await world.NewRuntime().History.OpenAsync(await world.TailAsync())).OpenAsync<Notes>("notes");
        Assert.Equal(expected, await past.ReadAllAsync());

        ValueTask SetAsync(string key)
        {
            lock (expected) expected[key] = $"text of {key}";
            return notes.SetAsync(key, $"text of {key}");
        }
    }

    [Fact]
    public async Task Spilled_call_has_a_place_in_the_spill_and_the_last_calls_in_the_commit_record()
    {
        await using var world = new World(new InMemoryLogOptions { MaxPayload = 200 });
        var runtime = world.NewRuntime();
        var notes = await runtime.OpenAsync<Notes>("notes", OpenMode.Create);
        await using var transaction = runtime.BeginTx();
        for (var i = 0; i < 20; i++) await notes.SetAsync($"{i}", "0123456789");
        var committed = Assert.IsType<TxOutcome.Committed>(await transaction.EndTxAsync());
        var places = await notes.PlacesAsync();
        Assert.True(places["0"].Position < committed.Version.Position);
        Assert.All(places.Values, place => Assert.True(place.Position <= committed.Version.Position));
        Assert.Equal(20, places.Values.Distinct().Count());
    }

    [Fact]
    public async Task Pending_place_is_read_by_the_own_transaction_alone()
    {
        await using var world = new World();
        var runtime = world.NewRuntime();
        var notes = await runtime.OpenAsync<Notes>("notes", OpenMode.Create);
        var second = await runtime.OpenAsync<Notes>("second", OpenMode.Create);
        await notes.SetAsync("a", "old");
        LogPlace pending, returned;
        await using (var transaction = runtime.BeginTx())
        {
            Assert.Equal("old", await notes.ReadAsync(await notes.PlaceAsync("a")));
            await notes.SetAsync("a", "first");
            await notes.SetAsync("b", "other");
            returned = await notes.ReplaceAsync("a", "second");
            pending = await notes.PlaceAsync("a");
            Assert.Equal((true, returned), (pending.IsPending, pending));
            Assert.Equal("second", await notes.ReadAsync(pending));
            Assert.Equal("other", await notes.ReadAsync(await notes.PlaceAsync("b")));
            Assert.NotEqual(pending, await notes.PlaceAsync("b"));
            await Assert.ThrowsAsync<TangoPlaceException>(async () => await second.ReadAsync(pending));
            await using (var joined = runtime.BeginTx())
            {
                Assert.Equal("second", await notes.ReadAsync(pending));
                await joined.EndTxAsync();
            }

            Assert.True((await transaction.EndTxAsync()).IsCommitted);
        }

        await Assert.ThrowsAsync<TangoPlaceException>(async () => await notes.ReadAsync(pending));
        await using (var later = runtime.BeginTx())
        {
            for (var i = 0; i < 3; i++) await notes.SetAsync("a", "never");
            await Assert.ThrowsAsync<TangoPlaceException>(async () => await notes.ReadAsync(pending));
        }

        var place = await notes.PlaceAsync("a");
        Assert.False(place.IsPending);
        Assert.Equal("second", await notes.ReadAsync(place));
        Assert.True(pending > place);
        Assert.Throws<TangoFormatException>(() => TangoFormatters.ToBytes(pending));
    }

    [Fact]
    public async Task Place_without_a_call_of_the_object_fails_typed()
    {
        await using var world = new World();
        var runtime = world.NewRuntime(s_options);
        var notes = await runtime.OpenAsync<Notes>("notes", OpenMode.Create);
        var other = await runtime.OpenAsync<Notes>("other", OpenMode.Create);
        await notes.SetAsync("a", "mine");
        await other.SetAsync("a", "other's");
        await using (var transaction = runtime.BeginTx())
        {
            await other.SetAsync("b", "first");
            await notes.SetAsync("b", "second");
            await transaction.EndTxAsync();
        }

        var (update, inTransaction) = (await notes.PlaceAsync("a"), await notes.PlaceAsync("b"));
        var hole = (await world.TailAsync()).Offset + 5;
        var raw = (await world.Log.AppendAsync("raw"u8.ToArray(), [])).Position;
        await Assert.ThrowsAsync<TangoFormatException>(async () => await notes.ReadAsync(new LogPlace(raw, 0, 0)));
        LogPlace[] wrong =
        [
            await other.PlaceAsync("a"), new(inTransaction.Position, inTransaction.Record, 0),
            new(inTransaction.Position, inTransaction.Record, 2), new(update.Position, update.Record, 1),
            new(update.Position, update.Record + 9, 0), new(new LogPosition(hole), 0, 0), default,
        ];
        foreach (var place in wrong)
        {
            var refused = await Assert.ThrowsAsync<TangoPlaceException>(async () => await notes.ReadAsync(place));
            Assert.Equal(("notes", place), (refused.ObjectName, refused.Place));
        }

        await runtime.Checkpoints.WriteAsync(notes);
        var chunk = (await Checkpoints.CheckpointWorld.CheckpointEntriesAsync(world, 256))[0].Position;
        await Assert.ThrowsAsync<TangoPlaceException>(async () => await notes.ReadAsync(new LogPlace(chunk, 0, 0)));
    }

    [Fact]
    public async Task A_trimmed_or_damaged_call_is_a_typed_error()
    {
        await using var world = new World();
        var notes = await world.NewRuntime().OpenAsync<Notes>("notes", OpenMode.Create);
        var place = await notes.ReplaceAsync("a", "text");
        var damaged = await world.Log.AppendToObjectsAsync(
            RawRecords.Entry(1, static writer => writer.WriteArrayHeader(5)), [new StreamId(999)]);
        await Assert.ThrowsAsync<TangoFormatException>(
            async () => await notes.ReadAsync(new LogPlace(damaged.Position, 0, 0)));
        await world.Log.TrimPrefixAsync(place.Position.Next);
        await Assert.ThrowsAsync<TangoTrimmedException>(async () => await notes.ReadAsync(place));
    }

    [Fact]
    public void A_place_is_three_numbers()
    {
        var place = new LogPlace(new LogPosition(1000), 2, 3);
        Assert.Equal("93CD03E80203", Convert.ToHexString(TangoFormatters.ToBytes(place).Span));
        var reader = new MessagePackReader(Convert.FromHexString("93CD03E80203"));
        Assert.Equal(place, TangoFormatters.Read<LogPlace>(ref reader));
        Assert.True(place < new LogPlace(place.Position, 2, 4) && place < new LogPlace(place.Position, 3, 0));
        foreach (var damaged in s_damaged)
        {
            Assert.Throws<TangoFormatException>(() =>
            {
                var bad = new MessagePackReader(Convert.FromHexString(damaged));
                TangoFormatters.Read<LogPlace>(ref bad);
            });
        }
    }
}
