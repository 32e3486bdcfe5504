using Corfu.Grpc.Protocol.Tango.V1;
using Corfu.Grpc.Protocol.V1;
using Google.Protobuf;
using global::Grpc.Core;
using global::Tango.Collections;

namespace Corfu.Grpc.Tests.Tango;

public sealed class DictionaryTests
{
    private const string Name = "settings";

    [Fact]
    public async Task Value_set_is_read_by_every_front_end_and_by_dotnet()
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
        Assert.Equal(2, (await second.Dictionaries.CountAsync(new CountRequest { Object = Name })).Count);

        Assert.True((await first.Dictionaries.RemoveAsync(new RemoveRequest { Object = Name, Key = "a" })).Removed);
        Assert.False((await second.Dictionaries.RemoveAsync(new RemoveRequest { Object = Name, Key = "a" })).Removed);
    }

    [Fact]
    public async Task Condition_of_absence_or_value_or_version_holds_or_returns_the_present_value()
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
    public async Task A_list_has_the_keys_of_a_prefix_in_the_order_of_code_points_in_pages_of_one_position()
    {
        await using var front = new Front();
        var own = await front.StartAsync(static options => options.MaxBatchEntries = 7);
        await own.CreateAsync(Name, ObjectType.Dictionary);
        var none = await own.Dictionaries.ListAsync(new ListRequest { Object = Name });
        Assert.Equal((0, ""), (none.Entries.Count, none.NextPageToken));
        var all = Enumerable.Range(0, 18).Select(i => $"k/{i:00}").Concat(["k/\uE000", "k/\U0001F600"]).ToList();
        foreach (var key in all.AsEnumerable().Reverse()) await own.Dictionaries.SetAsync(Set(key, $"v{key}"));
        await own.Dictionaries.SetAsync(Set("", "empty"));
        await own.Dictionaries.SetAsync(Set("l", "other"));

        var pages = new List<ListResponse>();
        do
        {
            var token = pages.LastOrDefault()?.NextPageToken ?? "";
            pages.Add(await own.Dictionaries.ListAsync(
                new ListRequest { Object = Name, Prefix = "k/", PageToken = token }));
            // Written after the first page: no page has it.
            await own.Dictionaries.SetAsync(Set($"k/99{pages.Count}", "later"));
        }
        while (pages[^1].NextPageToken.Length > 0);

        Assert.Equal([7, 7, 6], pages.Select(page => page.Entries.Count));
        Assert.Single(pages.Select(page => page.NextPosition).Distinct());
        var entries = pages.SelectMany(page => page.Entries).ToList();
        Assert.Equal(all, entries.Select(entry => entry.Key));
        Assert.All(entries, entry => Assert.Equal($"v{entry.Key}", entry.Value.ToStringUtf8()));
        var first = await own.Dictionaries.ListAsync(
            new ListRequest { Object = Name, PageSize = 2, KeysOnly = true });
        Assert.Equal(["", "k/00"], first.Entries.Select(entry => entry.Key));
        Assert.All(first.Entries, entry => Assert.True(entry.Value.IsEmpty));
    }

    [Fact]
    public async Task A_page_that_is_not_kept_or_makes_no_sense_is_refused()
    {
        await using var front = new Front();
        var own = await front.StartAsync(static options => options.Tango.MaxOpenLists = 1);
        var other = await front.StartAsync();
        await own.CreateAsync(Name, ObjectType.Dictionary);
        foreach (var key in (string[])["a", "b", "c"]) await own.Dictionaries.SetAsync(Set(key, key));
        var first = new ListRequest { Object = Name, PageSize = 1 };
        var old = await own.Dictionaries.ListAsync(first);
        var next = new ListRequest { Object = Name, PageSize = 1, PageToken = old.NextPageToken };
        // A page may be asked for again.
        for (var i = 0; i < 2; i++)
            Assert.Equal("b", Assert.Single((await own.Dictionaries.ListAsync(next)).Entries).Key);
        Assert.Equal((StatusCode.OutOfRange, "PAGE_EXPIRED"),
            await TangoFrontEnd.FailureOf(async () => await other.Dictionaries.ListAsync(next)));
        await own.Dictionaries.ListAsync(first);
        Assert.Equal((StatusCode.OutOfRange, "PAGE_EXPIRED"),
            await TangoFrontEnd.FailureOf(async () => await own.Dictionaries.ListAsync(next)));

        var token = (await own.Dictionaries.ListAsync(first)).NextPageToken;
        ListRequest[] senseless =
        [
            new() { Object = Name, PageSize = -1 }, new() { Object = Name, PageToken = "x" },
            new() { Object = Name, Prefix = "a", PageToken = token },
        ];
        foreach (var request in senseless)
            Assert.Equal((StatusCode.InvalidArgument, "INVALID_REQUEST"),
                await TangoFrontEnd.FailureOf(async () => await own.Dictionaries.ListAsync(request)));
    }

    [Fact]
    public async Task Objects_are_listed_in_pages()
    {
        await using var front = new Front();
        var own = await front.StartAsync();
        foreach (var name in (string[])["c", "a", "b"]) await own.CreateAsync(name, ObjectType.Lock);
        var first = await own.Objects.ListAsync(new ListObjectsRequest { PageSize = 2 });
        Assert.Equal(["a", "b"], first.Objects.Select(one => one.Name));
        await own.CreateAsync("bb", ObjectType.Lock);
        var last = await own.Objects.ListAsync(
            new ListObjectsRequest { PageSize = 2, PageToken = first.NextPageToken });
        Assert.Equal(["c"], last.Objects.Select(one => one.Name));
        Assert.Empty(last.NextPageToken);
    }

    [Fact]
    public async Task An_answer_that_the_client_does_not_take_is_refused_before_anything_is_done()
    {
        await using var front = new Front();
        var own = await front.StartAsync();
        await own.CreateAsync(Name, ObjectType.Dictionary);
        var keys = Enumerable.Range(0, 8).Select(i => $"k{i}").ToList();
        foreach (var key in keys)
            await own.Dictionaries.SetAsync(
                new SetRequest { Object = Name, Key = key, Value = ByteString.CopyFrom(new byte[700_000]) });
        var request = new TransactRequest
        {
            OnSuccess =
            {
                keys.Select(key => new Operation { Object = Name, Get = new GetOperation { Key = key } }),
                new Operation { Object = Name, Set = new SetOperation { Key = "done" } },
            },
            RequestId = "large",
        };
        Assert.Equal((StatusCode.ResourceExhausted, "ANSWER_TOO_LARGE"),
            await TangoFrontEnd.FailureOf(async () => await own.Transactions.TransactAsync(request)));
        Assert.Equal((StatusCode.ResourceExhausted, "ANSWER_TOO_LARGE"), await TangoFrontEnd.FailureOf(
            async () => await own.Dictionaries.GetManyAsync(new GetManyRequest { Object = Name, Keys = { keys } })));
        Assert.False((await own.Dictionaries.GetAsync(new GetRequest { Object = Name, Key = "done" })).HasValue);
        // Nothing was done, so that the id is free; what fits is done.
        for (var i = 0; i < 4; i++) request.OnSuccess.RemoveAt(0);
        var done = await own.Transactions.TransactAsync(request);
        Assert.Equal(5, done.Committed.Results.Count);
        // Outcomes are remembered without the values.
        var resolved = await own.Transactions.ResolveAsync(new ResolveRequest { RequestId = "large" });
        Assert.Equal((true, done.Committed.Version, 0), (
            resolved.Committed.Succeeded, resolved.Committed.Version, resolved.Committed.Results.Count));
    }

    [Fact]
    public async Task Objects_are_created_by_name_and_type_and_never_by_accident()
    {
        await using var front = new Front();
        var own = await front.StartAsync();
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
    }

    [Fact]
    public async Task Front_end_serves_more_names_than_the_limit_of_open_objects()
    {
        await using var front = new Front();
        await using var own = await TangoFrontEnd.StartAsync(front.NewRuntime(maxRemoteCohorts: 1));
        for (var round = 0; round < 2; round++)
        {
            foreach (var name in (string[])["a", "b", "c"])
            {
                await own.CreateAsync(name, ObjectType.Dictionary);
                var count = await own.Dictionaries.CountAsync(new CountRequest { Object = name });
                Assert.Equal(round, count.Count);
                await own.Dictionaries.SetAsync(new SetRequest { Object = name, Key = "key" });
            }
        }
    }

    [Fact]
    public async Task A_rename_shows_at_once_at_every_front_end()
    {
        await using var front = new Front();
        TangoFrontEnd[] fronts = [await front.StartAsync(), await front.StartAsync()];
        await fronts[0].CreateAsync(Name, ObjectType.Dictionary);
        foreach (var own in fronts) await own.Dictionaries.SetAsync(Set("a", "old"));
        await front.NewRuntime().Directory.RenameAsync(Name, "archive");
        foreach (var own in fronts)
            Assert.Equal((StatusCode.NotFound, "OBJECT_NOT_FOUND"), await TangoFrontEnd.FailureOf(
                async () => await own.Dictionaries.GetAsync(new GetRequest { Object = Name, Key = "a" })));
        await fronts[1].CreateAsync(Name, ObjectType.Dictionary);
        await fronts[1].Dictionaries.SetAsync(Set("a", "new"));
        foreach (var own in fronts)
        {
            var now = await own.Dictionaries.GetAsync(new GetRequest { Object = Name, Key = "a" });
            var archived = await own.Dictionaries.GetAsync(new GetRequest { Object = "archive", Key = "a" });
            Assert.Equal(("new", "old"), (now.Value.ToStringUtf8(), archived.Value.ToStringUtf8()));
        }
    }

    [Fact]
    public async Task A_name_that_was_deleted_may_be_of_another_object()
    {
        await using var front = new Front();
        var own = await front.StartAsync();
        await own.CreateAsync(Name, ObjectType.Dictionary);
        await own.Dictionaries.SetAsync(Set("a", "1"));
        var other = front.NewRuntime();
        await other.Directory.DeleteAsync(Name);
        Assert.Equal((StatusCode.NotFound, "OBJECT_NOT_FOUND"), await TangoFrontEnd.FailureOf(
            async () => await own.Dictionaries.GetAsync(new GetRequest { Object = Name, Key = "a" })));
        await own.CreateAsync(Name, ObjectType.Dictionary);
        Assert.Equal(0, (await own.Dictionaries.CountAsync(new CountRequest { Object = Name })).Count);
        await other.Directory.DeleteAsync(Name);
        await own.CreateAsync(Name, ObjectType.Dictionary);
        await own.Dictionaries.SetAsync(Set("b", "2"));
        Assert.Equal(1, (await own.Dictionaries.CountAsync(new CountRequest { Object = Name })).Count);
    }

    [Fact]
    public async Task Request_that_makes_no_sense_is_refused()
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
                UnchangedSince = new Protocol.Tango.V1.Version { Position = new Position { Offset = -1 } },
            })),
            async () => await own.Dictionaries.SetIfAsync(If("a", "1", new Condition
            {
                UnchangedSince = new Protocol.Tango.V1.Version { Index = 1 },
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
}
