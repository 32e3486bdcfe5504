using Corfu.Grpc.Protocol.Log.V1;
using Corfu.Grpc.Protocol.Tango.V1;
using Corfu.Grpc.Tests.Tango;
using Corfu.Protocol;
using global::Grpc.Core;
using Google.Protobuf;
using Google.Protobuf.WellKnownTypes;
using FillRequest = Corfu.Grpc.Protocol.Log.V1.FillRequest;
using ReadRequest = Corfu.Grpc.Protocol.Log.V1.ReadRequest;
using TrimPrefixRequest = Corfu.Grpc.Protocol.Log.V1.TrimPrefixRequest;

namespace Corfu.Grpc.Tests.Access;

/// <summary>Callers with grants reach what is granted, and find no way around it.</summary>
public sealed class GrantTests
{
    private const string Grants = """
        "billing": { "read": ["objects:orders/*", "stream:audit"], "write": ["objects:billing/*", "stream:bills"] },
        "reader": { "read": ["log"], "cluster": "read" },
        "writer": { "write": ["log"] }
        """;

    [Fact]
    public async Task Stream_is_reached_by_name_and_by_id()
    {
        await using var frontEnd = await SecureFrontEnd.StartAsync(Grants);
        var billing = frontEnd.As(AccessRole.Caller, "billing").Log;
        var (audit, bills) = (StreamId.FromName("audit").Value, StreamId.FromName("bills").Value);
        Assert.True(await Caller.May(async () => await billing.CheckAsync(Check([audit], []))));
        Assert.True(await Caller.May(async () => await billing.CheckAsync(Check([], ["audit"]))));
        Assert.True(await Caller.May(async () => await billing.CheckAsync(new CheckRequest())));
        Assert.False(await Caller.May(async () => await billing.CheckAsync(Check([bills], []))));
        Assert.False(await Caller.May(async () => await billing.CheckAsync(Check([], ["audit", "bills"]))));
        Assert.False(await Caller.May(async () => await billing.CheckAsync(Check([], ["Audit"]))));
        Assert.True(await Caller.May(async () => await AppendAsync(billing, [bills], [])));
        Assert.True(await Caller.May(async () => await AppendAsync(billing, [], ["bills"])));
        Assert.False(await Caller.May(async () => await AppendAsync(billing, [audit], [])));
        Assert.False(await Caller.May(async () => await AppendAsync(billing, [bills], ["audit"])));
        Assert.False(await Caller.May(async () => await AppendAsync(billing, [], [])));
        Assert.False(await Caller.May(async () => await AppendAsync(billing, [300], [], toObjects: true)));
        // A stream of an object is no stream of a name.
        Assert.False(await Caller.May(async () => await FirstAsync(billing.Subscribe(Streams([300], [])))));
    }

    [Fact]
    public async Task Log_as_a_whole_needs_the_log()
    {
        await using var frontEnd = await SecureFrontEnd.StartAsync(Grants);
        var billing = frontEnd.As(AccessRole.Caller, "billing").Log;
        var reader = frontEnd.As(AccessRole.Caller, "reader").Log;
        var writer = frontEnd.As(AccessRole.Caller, "writer").Log;
        Assert.True(await Caller.May(async () => await AppendAsync(writer, [], [])));
        Assert.True(await Caller.May(async () => await AppendAsync(writer, [], ["anything"])));
        Assert.False(await Caller.May(async () => await AppendAsync(reader, [], [])));
        foreach (var (log, may) in new[] { (billing, false), (reader, true), (writer, false) })
        {
            Assert.Equal(may, await Caller.May(async () => await FirstAsync(log.Subscribe(Streams([], [])))));
            Assert.Equal(may, await Caller.May(async () => await FirstAsync(log.Read(
                new ReadRequest { Offsets = { 0 } }))));
            Assert.Equal(may, await Caller.May(async () => await FirstAsync(log.ReadRange(new ReadRangeRequest()))));
        }

        // Objects' entries stand in the log, and their streams are read with it.
        Assert.True(await Caller.May(async () => await FirstAsync(reader.Subscribe(Streams([300], [])))));
        var position = new FillRequest { Position = new Corfu.Grpc.Protocol.V1.Position() };
        Assert.False(await Caller.May(async () => await billing.FillAsync(position)));
        Assert.False(await Caller.May(async () => await reader.FillAsync(position)));
        Assert.True(await Caller.May(async () => await writer.FillAsync(position)));
        Assert.False(await Caller.May(async () => await writer.TrimPrefixAsync(new TrimPrefixRequest())));
        Assert.False(await Caller.May(async () => await writer.RetainAsync(new RetainRequest())));
        Assert.False(await Caller.May(async () => await reader.SettleAsync(new SettleRequest())));
        Assert.True(await Caller.May(async () => await billing.SettleAsync(new SettleRequest())));
    }

    [Fact]
    public async Task Entry_of_a_stream_of_appends_is_refused_alone()
    {
        await using var frontEnd = await SecureFrontEnd.StartAsync(Grants);
        using var call = frontEnd.As(AccessRole.Caller, "billing").Log.AppendMany();
        await call.RequestStream.WriteAsync(new AppendManyRequest
        {
            Items = { Item(1, "bills"), Item(2, "audit"), Item(3), Item(4, "bills", "audit"), Item(5, "bills") },
        });
        await call.RequestStream.CompleteAsync();
        var results = new Dictionary<ulong, (Outcome Outcome, string? Reason)>();
        await foreach (var response in call.ResponseStream.ReadAllAsync())
        {
            foreach (var item in response.Items)
                results.Add(item.Id, (item.Result.Outcome, item.Result.Error?.Reason));
        }

        Assert.All((ulong[])[1, 5], id => Assert.Equal((Outcome.Appended, null), results[id]));
        Assert.All((ulong[])[2, 3, 4], id => Assert.Equal((Outcome.NotAppended, "DENIED"), results[id]));
        Assert.Equal(2, (await frontEnd.Log.CheckAsync([])).Tail.Offset);
    }

    [Fact]
    public async Task Object_is_listed_and_used_by_a_grant()
    {
        await using var frontEnd = await SecureFrontEnd.StartAsync(Grants);
        var (admin, billing) = (frontEnd.As(AccessRole.Admin, "root"), frontEnd.As(AccessRole.Caller, "billing"));
        foreach (var name in (string[])["orders/1", "orders/2", "orders", "Orders/3", "billing/1", "secret"])
        {
            await admin.Objects.CreateAsync(new CreateRequest { Object = name, Type = ObjectType.Dictionary });
            await admin.Dictionaries.SetAsync(new SetRequest { Object = name, Key = "k" });
        }

        var first = await billing.Objects.ListAsync(new ListObjectsRequest { PageSize = 1 });
        Assert.Equal("orders/1", Assert.Single(first.Objects).Name);
        var second = new ListObjectsRequest { PageSize = 5, PageToken = first.NextPageToken };
        Assert.Equal("orders/2", Assert.Single((await billing.Objects.ListAsync(second)).Objects).Name);
        // The list of another caller is not gone on with.
        var all = await admin.Objects.ListAsync(new ListObjectsRequest { PageSize = 1 });
        var stolen = await Assert.ThrowsAsync<RpcException>(async () => await billing.Objects.ListAsync(
            new ListObjectsRequest { PageToken = all.NextPageToken }));
        Assert.Equal(StatusCode.InvalidArgument, stolen.StatusCode);

        Assert.True(await Caller.May(async () => await billing.Dictionaries.GetAsync(Get("orders/1"))));
        foreach (var name in (string[])["orders", "Orders/3", "billing/1", "secret", "none"])
            Assert.False(await Caller.May(async () => await billing.Dictionaries.GetAsync(Get(name))));
        Assert.True(await Caller.May(async () => await billing.Dictionaries.SetAsync(Set("billing/1"))));
        Assert.False(await Caller.May(async () => await billing.Dictionaries.SetAsync(Set("orders/1"))));
        // A caller that may only write reads nothing by a condition that fails.
        Assert.False(await Caller.May(async () => await billing.Dictionaries.SetIfAsync(
            new SetIfRequest { Object = "billing/1", Key = "k", Condition = new Condition { Exists = false } })));
        Assert.False(await Caller.May(async () => await billing.Objects.CreateAsync(
            new CreateRequest { Object = "orders/9", Type = ObjectType.Lock })));
        // The list of what a caller may not read any more has no further page.
        frontEnd.Grant("");
        Assert.Empty((await billing.Objects.ListAsync(second)).Objects);
        Assert.False(await Caller.May(async () => await billing.Dictionaries.GetAsync(Get("orders/1"))));
    }

    [Fact]
    public async Task Transaction_needs_the_rights_for_both_lists()
    {
        await using var frontEnd = await SecureFrontEnd.StartAsync(Grants);
        var transactions = frontEnd.As(AccessRole.Caller, "billing").Transactions;
        var compare = new Compare
        {
            Object = "orders/1",
            Key = new KeyCompare { Condition = new Condition { Exists = true } },
        };
        var (get, set) = (new GetOperation(), new SetOperation());
        Assert.True(await May(new TransactRequest
        {
            Compare = { compare },
            OnSuccess = { new Operation { Object = "billing/1", Set = set } },
            OnFailure = { new Operation { Object = "orders/2", Get = get } },
        }));
        Assert.False(await May(new TransactRequest
        {
            Compare = { new Compare(compare) { Object = "billing/1" } },
            OnSuccess = { new Operation { Object = "billing/1", Set = set } },
        }));
        Assert.False(await May(new TransactRequest
        {
            Compare = { new Compare { Object = "billing/lock", LockHeld = 1 } },
            OnSuccess = { new Operation { Object = "billing/1", Set = set } },
        }));
        Assert.False(await May(new TransactRequest
        {
            OnSuccess = { new Operation { Object = "billing/1", Set = set } },
            OnFailure = { new Operation { Object = "billing/1", Get = get } },
        }));
        foreach (var operation in new[]
        {
            new Operation { Object = "orders/1", Set = set },
            new Operation { Object = "orders/1", Remove = new RemoveOperation() },
            new Operation { Object = "orders/1", Enqueue = new EnqueueOperation() },
            new Operation { Object = "orders/1", Complete = new Delivery { Item = 1, Token = 1 } },
            new Operation { Object = "orders/1" },
        })
            Assert.False(await May(new TransactRequest { OnFailure = { operation } }));

        Task<bool> May(TransactRequest request) =>
            Caller.May(async () => await transactions.TransactAsync(request));
    }

    [Fact]
    public async Task Session_and_request_id_belong_to_one_caller()
    {
        await using var frontEnd = await SecureFrontEnd.StartAsync(
            """ "a": { "write": ["objects:*"] }, "b": { "write": ["objects:*"] }, "c": {} """);
        var (a, b) = (frontEnd.As(AccessRole.Caller, "a"), frontEnd.As(AccessRole.Caller, "b"));
        await a.Objects.CreateAsync(new CreateRequest { Object = "l", Type = ObjectType.Lock });
        await a.Objects.CreateAsync(new CreateRequest { Object = "d", Type = ObjectType.Dictionary });
        await using var session = await CallerSession.OpenAsync(a.Sessions, TimeSpan.FromSeconds(30), "a", []);
        var acquire = new AcquireRequest { Object = "l", Session = session.Id };
        var foreign = await Assert.ThrowsAsync<RpcException>(async () => await b.Locks.AcquireAsync(acquire));
        Assert.Equal(StatusCode.NotFound, foreign.StatusCode);
        var held = await a.Locks.AcquireAsync(acquire);

        // Naming another's lock as held would renew it, and free it in the end.
        var open = new KeepRequest
        {
            Open = new OpenSession
            {
                TimeToLive = Duration.FromTimeSpan(TimeSpan.FromSeconds(30)),
                Held = { new Holding { Object = "l", FencingToken = held.FencingToken } },
            },
        };
        using var keep = frontEnd.As(AccessRole.Caller, "c").Sessions.Keep();
        await keep.RequestStream.WriteAsync(open);
        Assert.Equal("DENIED", await Caller.RefusalOf(() => keep.ResponseStream.MoveNext()));

        var set = new SetRequest { Object = "d", Key = "k", RequestId = "same" };
        await a.Dictionaries.SetAsync(set);
        await b.Dictionaries.SetAsync(set);
        await Assert.ThrowsAsync<RpcException>(async () => await a.Dictionaries.SetAsync(set));
        var unknown = await Assert.ThrowsAsync<RpcException>(
            async () => await frontEnd.As(AccessRole.Client, "a").Transactions.ResolveAsync(
                new Corfu.Grpc.Protocol.Tango.V1.ResolveRequest { RequestId = "same" }));
        Assert.Equal(StatusCode.NotFound, unknown.StatusCode);
    }

    [Fact]
    public async Task Right_that_is_taken_away_ends_the_calls_under_way()
    {
        await using var frontEnd = await SecureFrontEnd.StartAsync(
            Grants, static options => options.Heartbeat = TimeSpan.FromMilliseconds(100));
        var billing = frontEnd.As(AccessRole.Caller, "billing");
        using var subscription = billing.Log.Subscribe(Streams([], ["audit"]));
        Assert.True(await subscription.ResponseStream.MoveNext());
        using var appends = billing.Log.AppendMany();
        await appends.RequestStream.WriteAsync(new AppendManyRequest { Items = { Item(1, "bills") } });
        Assert.True(await appends.ResponseStream.MoveNext());
        Assert.Equal(Outcome.Appended, appends.ResponseStream.Current.Items[0].Result.Outcome);
        frontEnd.Grant("");
        await appends.RequestStream.WriteAsync(new AppendManyRequest { Items = { Item(2, "bills") } });
        Assert.True(await appends.ResponseStream.MoveNext());
        Assert.Equal("DENIED", appends.ResponseStream.Current.Items[0].Result.Error.Reason);
        Assert.Equal("DENIED", await Caller.RefusalOf(async () =>
        {
            while (await subscription.ResponseStream.MoveNext())
            {
            }
        }));
    }

    [Fact]
    public async Task Cluster_is_looked_at_by_a_grant()
    {
        await using var frontEnd = await SecureFrontEnd.StartAsync(Grants);
        var request = new Corfu.Grpc.Protocol.Admin.V1.StatusRequest();
        Assert.True(await Caller.May(
            async () => await frontEnd.As(AccessRole.Caller, "reader").Admin.StatusAsync(request)));
        Assert.False(await Caller.May(
            async () => await frontEnd.As(AccessRole.Caller, "writer").Admin.StatusAsync(request)));
    }

    private static CheckRequest Check(ulong[] ids, string[] names) =>
        new() { StreamIds = { ids }, StreamNames = { names } };

    private static SubscribeRequest Streams(ulong[] ids, string[] names) =>
        new() { StreamIds = { ids }, StreamNames = { names } };

    private static GetRequest Get(string name) => new() { Object = name, Key = "k" };

    private static SetRequest Set(string name) => new() { Object = name, Key = "k", Value = ByteString.Empty };

    private static AppendManyRequest.Types.Item Item(ulong id, params string[] streams) =>
        new() { Id = id, Entry = new NewEntry { StreamNames = { streams } } };

    private static async Task AppendAsync(
        LogService.LogServiceClient log, ulong[] ids, string[] names, bool toObjects = false) =>
        await log.AppendAsync(new AppendRequest
        {
            Entry = new NewEntry { StreamIds = { ids }, StreamNames = { names }, ToObjects = toObjects },
        });

    private static async Task FirstAsync<T>(AsyncServerStreamingCall<T> call)
    {
        using (call) await call.ResponseStream.MoveNext(CancellationToken.None);
    }
}
