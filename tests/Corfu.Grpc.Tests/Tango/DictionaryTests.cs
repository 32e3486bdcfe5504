using Corfu.Grpc.Protocol.Tango.V1;
using Google.Protobuf;
using global::Grpc.Core;
using global::Tango.Collections;

namespace Corfu.Grpc.Tests.Tango;

public sealed class DictionaryTests
{
    private const string Name = "settings";

    [Fact]
    public async Task What_is_set_is_read_by_every_front_end_and_by_dotnet()
    {
        await using var front = new Front();
        var (first, second) = (await front.StartAsync(), await front.StartAsync());
        await first.CreateAsync(Name, ObjectType.Dictionary);
        await first.Dictionaries.SetAsync(Set("a", "1"));
        var read = await second.Dictionaries.GetAsync(new GetRequest { Object = Name, Key = "a" });
        Assert.Equal("1", read.Value.ToStringUtf8());
        Assert.False((await second.Dictionaries.GetAsync(new GetRequest { Object = Name, Key = "b" })).HasValue);

        var shared = await front.NewRuntime().OpenAsync<TangoDictionary<string, byte[]>>(Name);
        Assert.True((await shared.TryGetAsync("a")).TryGet(out var value));
        Assert.Equal("1"u8.ToArray(), value);
        await shared.SetAsync("b", "2"u8.ToArray());
        var both = await first.Dictionaries.GetManyAsync(
            new GetManyRequest { Object = Name, Keys = { "b", "c", "a" } });
        Assert.Equal(["b", "c", "a"], both.Lookups.Select(lookup => lookup.Key));
        Assert.Equal([true, false, true], both.Lookups.Select(lookup => lookup.HasValue));
        Assert.Equal(2UL, (await second.Dictionaries.CountAsync(new CountRequest { Object = Name })).Count);

        Assert.True((await first.Dictionaries.RemoveAsync(new RemoveRequest { Object = Name, Key = "a" })).Removed);
        Assert.False((await second.Dictionaries.RemoveAsync(new RemoveRequest { Object = Name, Key = "a" })).Removed);
    }

    [Fact]
    public async Task A_condition_of_absence_or_value_or_version_holds_or_tells_what_is_there()
    {
        await using var front = new Front();
        var (first, second) = (await front.StartAsync(), await front.StartAsync());
        await first.CreateAsync(Name, ObjectType.Dictionary);
        Assert.True((await first.Dictionaries.SetIfAsync(If("a", "1", new Condition { Exists = false }))).Succeeded);
        var refused = await second.Dictionaries.SetIfAsync(If("a", "2", new Condition { Exists = false }));
        Assert.False(refused.Succeeded);
        Assert.Equal("1", refused.Value.ToStringUtf8());

        var byValue = await second.Dictionaries.SetIfAsync(If("a", "2", new Condition { Value = Text("1") }));
        Assert.True(byValue.Succeeded);
        var own = new Condition { UnchangedSince = byValue.Version };
        var read = await first.Dictionaries.GetAsync(new GetRequest { Object = Name, Key = "a" });
        Assert.True((await first.Dictionaries.SetIfAsync(If("a", "3", own))).Succeeded);
        // Written since, whatever it was read from.
        Assert.False((await first.Dictionaries.SetIfAsync(If("a", "4", own))).Succeeded);
        var stale = new Condition { UnchangedSince = read.Version };
        Assert.False((await second.Dictionaries.SetIfAsync(If("a", "4", stale))).Succeeded);
        var missing = await second.Dictionaries.GetAsync(new GetRequest { Object = Name, Key = "b" });
        await first.Dictionaries.SetAsync(Set("c", "5"));
        var absent = new Condition { UnchangedSince = missing.Version };
        Assert.True((await first.Dictionaries.SetIfAsync(If("b", "6", absent))).Succeeded);
    }

    [Fact]
    public async Task Callers_that_compare_and_set_lose_no_update()
    {
        const int Callers = 4, Steps = 10;
        await using var front = new Front();
        TangoFrontEnd[] fronts = [await front.StartAsync(), await front.StartAsync()];
        await fronts[0].CreateAsync(Name, ObjectType.Dictionary);
        await fronts[0].Dictionaries.SetAsync(Set("count", "0"));
        await Task.WhenAll(Enumerable.Range(0, Callers).Select(caller => IncrementAsync(fronts[caller % 2])));
        var last = await fronts[1].Dictionaries.GetAsync(new GetRequest { Object = Name, Key = "count" });
        Assert.Equal($"{Callers * Steps}", last.Value.ToStringUtf8());

        async Task IncrementAsync(TangoFrontEnd own)
        {
            for (var done = 0; done < Steps;)
            {
                var read = await own.Dictionaries.GetAsync(new GetRequest { Object = Name, Key = "count" });
                var next = $"{int.Parse(read.Value.ToStringUtf8(), null) + 1}";
                var condition = new Condition { UnchangedSince = read.Version };
                if ((await own.Dictionaries.SetIfAsync(If("count", next, condition))).Succeeded) done++;
            }
        }
    }

    [Fact]
    public async Task A_list_has_the_keys_of_a_prefix_in_order_in_several_messages()
    {
        await using var front = new Front();
        var own = await front.StartAsync(static options => options.MaxBatchEntries = 7);
        await own.CreateAsync(Name, ObjectType.Dictionary);
        var none = await ListAsync(own, new ListRequest { Object = Name });
        Assert.Empty(Assert.Single(none).Entries);
        var all = Enumerable.Range(0, 20).Select(i => $"k/{i:00}").ToList();
        foreach (var key in all) await own.Dictionaries.SetAsync(Set(key, $"v{key}"));
        await own.Dictionaries.SetAsync(Set("", "empty"));
        await own.Dictionaries.SetAsync(Set("l", "other"));

        var messages = await ListAsync(own, new ListRequest { Object = Name, Prefix = "k/" });
        Assert.Equal([7, 7, 6], messages.Select(message => message.Entries.Count));
        Assert.Single(messages.Select(message => message.NextPosition).Distinct());
        var entries = messages.SelectMany(message => message.Entries).ToList();
        Assert.Equal(all, entries.Select(entry => entry.Key));
        Assert.All(entries, entry => Assert.Equal($"v{entry.Key}", entry.Value.ToStringUtf8()));
        var page = await ListAsync(
            own, new ListRequest { Object = Name, AfterKey = "k/18", Limit = 2, KeysOnly = true });
        Assert.Equal(["k/19", "l"], page.SelectMany(message => message.Entries).Select(entry => entry.Key));
        Assert.All(page.SelectMany(message => message.Entries), entry => Assert.True(entry.Value.IsEmpty));
        var first = await ListAsync(own, new ListRequest { Object = Name, Limit = 1 });
        Assert.Equal("", Assert.Single(first.SelectMany(message => message.Entries)).Key);
    }

    [Fact]
    public async Task Objects_are_created_by_name_and_type_and_never_by_accident()
    {
        await using var front = new Front();
        var own = await front.StartAsync(static options => options.Tango.MaxOpenObjects = 3);
        Assert.Equal((StatusCode.NotFound, "OBJECT_NOT_FOUND"),
            await TangoFrontEnd.FailureOf(async () => await own.Dictionaries.SetAsync(Set("a", "1"))));
        await own.CreateAsync(Name, ObjectType.Dictionary);
        await own.CreateAsync(Name, ObjectType.Dictionary);
        await own.CreateAsync("jobs", ObjectType.WorkQueue);
        Assert.Equal((StatusCode.FailedPrecondition, "OBJECT_TYPE"),
            await TangoFrontEnd.FailureOf(() => own.CreateAsync("jobs", ObjectType.Dictionary)));
        Assert.Equal((StatusCode.FailedPrecondition, "OBJECT_TYPE"), await TangoFrontEnd.FailureOf(
            async () => await own.Dictionaries.GetAsync(new GetRequest { Object = "jobs", Key = "a" })));
        Assert.Equal((StatusCode.InvalidArgument, "INVALID_REQUEST"),
            await TangoFrontEnd.FailureOf(() => own.CreateAsync("x", ObjectType.Unspecified)));
        Assert.Equal((StatusCode.InvalidArgument, "INVALID_REQUEST"),
            await TangoFrontEnd.FailureOf(() => own.CreateAsync("", ObjectType.Lock)));
        Assert.Equal((StatusCode.InvalidArgument, "INVALID_REQUEST"),
            await TangoFrontEnd.FailureOf(() => own.CreateAsync(new string('x', 513), ObjectType.Lock)));
        var all = await own.Objects.ListAsync(new ListObjectsRequest());
        Assert.Equal(["jobs", Name], all.Objects.Select(one => one.Name).Order());
        Assert.Contains("tango.dictionary", all.Objects.Single(one => one.Name == Name).TypeName);
        await own.CreateAsync("third", ObjectType.Lock);
        Assert.Equal((StatusCode.ResourceExhausted, "OVERLOADED"),
            await TangoFrontEnd.FailureOf(() => own.CreateAsync("fourth", ObjectType.Lock)));
    }

    [Fact]
    public async Task A_name_that_was_deleted_may_be_of_another_object()
    {
        await using var front = new Front();
        var own = await front.StartAsync();
        await own.CreateAsync(Name, ObjectType.Dictionary);
        await own.Dictionaries.SetAsync(Set("a", "1"));
        var other = front.NewRuntime();
        await other.DeleteAsync(Name);
        Assert.Equal((StatusCode.NotFound, "OBJECT_NOT_FOUND"), await TangoFrontEnd.FailureOf(
            async () => await own.Dictionaries.GetAsync(new GetRequest { Object = Name, Key = "a" })));
        await own.CreateAsync(Name, ObjectType.Dictionary);
        Assert.Equal(0UL, (await own.Dictionaries.CountAsync(new CountRequest { Object = Name })).Count);
        await other.DeleteAsync(Name);
        await own.CreateAsync(Name, ObjectType.Dictionary);
        await own.Dictionaries.SetAsync(Set("b", "2"));
        Assert.Equal(1UL, (await own.Dictionaries.CountAsync(new CountRequest { Object = Name })).Count);
    }

    [Fact]
    public async Task What_makes_no_sense_is_refused()
    {
        await using var front = new Front();
        var own = await front.StartAsync(static options => options.Tango.MaxOperations = 2);
        await own.CreateAsync(Name, ObjectType.Dictionary);
        Func<Task>[] calls =
        [
            async () => await own.Dictionaries.GetManyAsync(new GetManyRequest { Object = Name }),
            async () => await own.Dictionaries.GetManyAsync(
                new GetManyRequest { Object = Name, Keys = { "a", "b", "c" } }),
            async () => await own.Dictionaries.SetIfAsync(If("a", "1", null)),
            async () => await own.Dictionaries.SetIfAsync(If("a", "1", new Condition())),
            async () => await own.Dictionaries.SetIfAsync(If("a", "1", new Condition
            {
                UnchangedSince = new Protocol.Tango.V1.Version { Position = ulong.MaxValue },
            })),
            async () => await own.Transactions.TransactAsync(new TransactRequest()),
            async () => await own.Transactions.TransactAsync(
                new TransactRequest { OnSuccess = { new Operation { Object = Name } } }),
        ];
        foreach (var call in calls)
            Assert.Equal((StatusCode.InvalidArgument, "INVALID_REQUEST"), await TangoFrontEnd.FailureOf(call));
    }

    private static SetRequest Set(string key, string value) =>
        new() { Object = Name, Key = key, Value = Text(value) };

    private static SetIfRequest If(string key, string value, Condition? condition) =>
        new() { Object = Name, Key = key, Value = Text(value), Condition = condition };

    private static ByteString Text(string text) => ByteString.CopyFromUtf8(text);

    private static async Task<List<ListResponse>> ListAsync(TangoFrontEnd own, ListRequest request)
    {
        using var call = own.Dictionaries.List(request);
        var all = new List<ListResponse>();
        await foreach (var message in call.ResponseStream.ReadAllAsync()) all.Add(message);
        return all;
    }
}
