using Corfu.Grpc.Protocol.Tango.V1;
using Corfu.Grpc.Protocol.V1;
using Google.Protobuf;
using global::Grpc.Core;
using global::Tango;
using global::Tango.Collections;

namespace Corfu.Grpc.Tests.Tango;

public sealed class WatchTests
{
    private const string Name = "settings";

    [Fact]
    public async Task A_watch_goes_on_at_another_front_end_without_a_gap()
    {
        await using var front = new Front();
        var writer = await front.StartAsync();
        await writer.CreateAsync(Name, ObjectType.Dictionary);
        await SetAsync(writer, "a", "1");
        Place after;
        await using (var first = await TangoFrontEnd.StartAsync(front.NewRuntime()))
        {
            using var watch = new CallerWatch(first, new WatchRequest { Object = Name });
            await NextAsync(watch);
            await SetAsync(writer, "b", "2");
            after = (await NextAsync(watch)).Place;
        }

        await SetAsync(writer, "c", "3");
        await writer.Dictionaries.RemoveAsync(new RemoveRequest { Object = Name, Key = "b" });
        var second = await front.StartAsync();
        using var again = new CallerWatch(second, new WatchRequest { Object = Name, After = after });
        Assert.Equal(WatchEvent.EventOneofCase.Started, (await NextAsync(again)).EventCase);
        Assert.Equal("c", (await NextAsync(again)).Set.Key);
        Assert.Equal("b", (await NextAsync(again)).Removed);
        await SetAsync(writer, "d", "4");
        Assert.Equal("4", (await NextAsync(again)).Set.Value.ToStringUtf8());
    }

    [Fact]
    public async Task List_and_a_watch_from_the_position_listed_have_every_change_once()
    {
        await using var front = new Front();
        var own = await front.StartAsync();
        await own.CreateAsync(Name, ObjectType.Dictionary);
        await SetAsync(own, "a", "1");
        var list = await own.Dictionaries.ListAsync(new ListRequest { Object = Name });
        await SetAsync(own, "b", "2");
        using var watch = new CallerWatch(
            own, new WatchRequest { Object = Name, FromPosition = list.NextPosition });
        await NextAsync(watch);
        Assert.Equal("b", (await NextAsync(watch)).Set.Key);
    }

    [Fact]
    public async Task Keys_and_prefixes_select_and_dotnets_own_conditions_are_told_as_such()
    {
        await using var front = new Front();
        var own = await front.StartAsync();
        await own.CreateAsync(Name, ObjectType.Dictionary);
        using var prefix = new CallerWatch(own, new WatchRequest { Object = Name, Prefix = "x/" });
        using var keys = new CallerWatch(
            own, new WatchRequest { Object = Name, Keys = new Keys { Keys_ = { "y" } } });
        await NextAsync(prefix);
        await NextAsync(keys);
        var shared = await front.NewRuntime().OpenAsync<TangoDictionary<string, byte[]>>(Name);
        await shared.SetAsync("y", [1]);
        await shared.SetAsync("x/1", [2]);
        await shared.TryAddAsync("x/1", [3]);
        await shared.TakeAsync("x/1");
        await shared.ClearAsync();
        Assert.Equal("x/1", (await NextAsync(prefix)).Set.Key);
        Assert.Equal("x/1", (await NextAsync(prefix)).Touched);
        Assert.Equal("x/1", (await NextAsync(prefix)).Removed);
        Assert.Equal(WatchEvent.EventOneofCase.Cleared, (await NextAsync(prefix)).EventCase);
        Assert.Equal("y", (await NextAsync(keys)).Set.Key);
        Assert.Equal(WatchEvent.EventOneofCase.Cleared, (await NextAsync(keys)).EventCase);
    }

    [Fact]
    public async Task A_start_that_is_trimmed_is_an_error_or_a_reset()
    {
        await using var front = new Front();
        var own = await front.StartAsync(static options => options.MaxBatchEntries = 2);
        await own.CreateAsync(Name, ObjectType.Dictionary);
        for (var i = 0; i < 5; i++) await SetAsync(own, $"k{i}", $"{i}");
        var shared = await own.Runtime.OpenAsync<TangoDictionary<string, byte[]>>(Name);
        var before = (await front.Log.CheckAsync([])).Tail;
        await own.Runtime.Checkpoints.WriteAsync(shared);
        await SetAsync(own, "later", "x");
        await front.Log.TrimPrefixAsync(before);

        using var refused = new CallerWatch(own, new WatchRequest { Object = Name, FromPosition = new Position() });
        await NextAsync(refused);
        Assert.Equal((StatusCode.OutOfRange, "TRIMMED"), await TangoFrontEnd.FailureOf(() => NextAsync(refused)));

        using var reset = new CallerWatch(
            own, new WatchRequest { Object = Name, FromPosition = new Position(), ResetIfTrimmed = true });
        await NextAsync(reset);
        var entries = new List<Entry>();
        WatchEvent told;
        do
        {
            told = await NextAsync(reset);
            entries.AddRange(told.Reset.Entries);
            Assert.Equal(told.Reset.More, told.Place is null);
        }
        while (told.Reset.More);
        Assert.Equal(["k0", "k1", "k2", "k3", "k4"], entries.Select(entry => entry.Key));
        Assert.Equal("later", (await NextAsync(reset)).Set.Key);
    }

    [Fact]
    public async Task Events_that_are_ready_share_messages_of_a_limited_size()
    {
        await using var front = new Front();
        var own = await front.StartAsync(static options => options.MaxBatchEntries = 10);
        await own.CreateAsync(Name, ObjectType.Dictionary);
        var shared = await own.Runtime.OpenAsync<TangoDictionary<string, byte[]>>(Name);
        // The changes of one entry are there at once.
        await using (var transaction = own.Runtime.BeginTx())
        {
            for (var i = 0; i < 24; i++) await shared.SetAsync($"k{i:00}", [1]);
            (await transaction.EndTxAsync()).ThrowIfNotCommitted();
        }

        using var watch = new CallerWatch(own, new WatchRequest { Object = Name, FromPosition = new Position() });
        await NextAsync(watch);
        for (var i = 0; i < 24; i++) Assert.Equal($"k{i:00}", (await NextAsync(watch)).Set.Key);
        Assert.True(watch.Messages <= 4, $"{watch.Messages} messages");
    }

    [Fact]
    public async Task Watches_have_a_limit_and_end_with_the_front_end()
    {
        await using var front = new Front();
        var own = await TangoFrontEnd.StartAsync(front.NewRuntime(), static options => options.Tango.MaxWatches = 1);
        await own.CreateAsync(Name, ObjectType.Dictionary);
        using var first = new CallerWatch(own, new WatchRequest { Object = Name });
        await NextAsync(first);
        using var second = new CallerWatch(own, new WatchRequest { Object = Name });
        Assert.Equal((StatusCode.ResourceExhausted, "OVERLOADED"),
            await TangoFrontEnd.FailureOf(() => NextAsync(second)));
        var stopping = own.StopAsync();
        Assert.Equal((StatusCode.Unavailable, "SHUTTING_DOWN"),
            await TangoFrontEnd.FailureOf(() => NextAsync(first)));
        await stopping;
        await own.DisposeAsync();
    }

    private static Task<WatchEvent> NextAsync(CallerWatch watch) => watch.NextAsync();

    private static async Task SetAsync(TangoFrontEnd own, string key, string value) =>
        await own.Dictionaries.SetAsync(
            new SetRequest { Object = Name, Key = key, Value = ByteString.CopyFromUtf8(value) });
}
