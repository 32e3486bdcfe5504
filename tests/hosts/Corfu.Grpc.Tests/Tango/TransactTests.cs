using Corfu.Grpc.Protocol.Tango.V1;
using Google.Protobuf;
using global::Grpc.Core;
using global::Tango.Collections;
using global::Tango.Testing;
using Outcome = Corfu.Grpc.Protocol.Tango.V1.TransactResponse.OutcomeOneofCase;

namespace Corfu.Grpc.Tests.Tango;

public sealed class TransactTests
{
    [Fact]
    public async Task Transaction_executes_the_branch_of_the_comparisons_as_one_step()
    {
        await using var front = new Front();
        var own = await StartAsync(front);
        var request = new TransactRequest
        {
            Compare = { Key("accounts", "a", new Condition { Exists = false }) },
            OnSuccess =
            {
                Set("accounts", "a", "10"), Get("accounts", "a"),
                new Operation { Object = "jobs", Enqueue = new EnqueueOperation { Value = Text("opened a") } },
            },
            OnFailure = { Get("accounts", "a"), Get("accounts", "b") },
        };
        var first = await own.Transactions.TransactAsync(request);
        Assert.Equal(Outcome.Committed, first.OutcomeCase);
        Assert.True(first.Committed.Succeeded);
        // The transaction sees its own writes.
        Assert.Equal("10", first.Committed.Results[1].Value.ToStringUtf8());
        var second = await own.Transactions.TransactAsync(request);
        Assert.False(second.Committed.Succeeded);
        Assert.Equal([true, false], second.Committed.Results.Select(result => result.HasValue));
        var count = await own.Queues.CountAsync(new CountItemsRequest { Object = "jobs" });
        Assert.Equal((1L, 0L), (count.Ready, count.Delivered));
        var removed = await own.Transactions.TransactAsync(new TransactRequest
        {
            Compare = { Key("accounts", "a", new Condition { UnchangedSince = first.Committed.Version }) },
            OnSuccess = { new Operation { Object = "accounts", Remove = new RemoveOperation { Key = "a" } } },
        });
        Assert.True(Assert.Single(removed.Committed.Results).Removed);
    }

    [Fact]
    public async Task Two_callers_that_move_between_two_objects_keep_the_sum()
    {
        const int Callers = 3, Moves = 8;
        await using var front = new Front();
        TangoFrontEnd[] fronts = [await StartAsync(front), await front.StartAsync()];
        await fronts[0].CreateAsync("savings", ObjectType.Dictionary);
        await fronts[0].Transactions.TransactAsync(
            new TransactRequest { OnSuccess = { Set("accounts", "a", "100"), Set("savings", "a", "0") } });
        await Task.WhenAll(Enumerable.Range(0, Callers).Select(caller => MoveAsync(fronts[caller % 2])));
        var last = await fronts[1].Transactions.TransactAsync(
            new TransactRequest { OnSuccess = { Get("accounts", "a"), Get("savings", "a") } });
        Assert.Equal([$"{100 - (Callers * Moves)}", $"{Callers * Moves}"],
            last.Committed.Results.Select(result => result.Value.ToStringUtf8()));

        async Task MoveAsync(TangoFrontEnd own)
        {
            for (var done = 0; done < Moves;)
            {
                var read = (await own.Transactions.TransactAsync(
                    new TransactRequest { OnSuccess = { Get("accounts", "a"), Get("savings", "a") } })).Committed;
                var (from, to) = (Number(read.Results[0]), Number(read.Results[1]));
                var moved = await own.Transactions.TransactAsync(new TransactRequest
                {
                    Compare =
                    {
                        Key("accounts", "a", new Condition { Value = read.Results[0].Value }),
                        Key("savings", "a", new Condition { Value = read.Results[1].Value }),
                    },
                    OnSuccess = { Set("accounts", "a", $"{from - 1}"), Set("savings", "a", $"{to + 1}") },
                });
                if (moved.Committed.Succeeded) done++;
            }
        }
    }

    [Fact]
    public async Task Transaction_that_loses_every_time_is_aborted_and_names_the_conflict()
    {
        await using var host = new TangoTestHost();
        var process = host.Start();
        await using var own = await TangoFrontEnd.StartAsync(
            process.Runtime, static options => options.Tango.MaxAttempts = 1);
        await own.CreateAsync("accounts", ObjectType.Dictionary);
        var other = await host.Start().Runtime.OpenAsync<TangoDictionary<string, byte[]>>("accounts");
        process.Connection.BeforeNextAppend(() => other.SetAsync("a", [1]));
        var request = new TransactRequest
        {
            Compare = { Key("accounts", "a", new Condition { Exists = false }) },
            OnSuccess = { Set("accounts", "b", "1") },
        };
        var lost = await own.Transactions.TransactAsync(request);
        Assert.Equal(Outcome.Aborted, lost.OutcomeCase);
        Assert.Equal((Aborted.Types.Reason.Conflict, "accounts", "a"),
            (lost.Aborted.Reason, lost.Aborted.Object, lost.Aborted.Key));
        Assert.False((await own.Dictionaries.GetAsync(new GetRequest { Object = "accounts", Key = "b" })).HasValue);

        process.Connection.BeforeNextAppend(() => other.SetAsync("b", [1]));
        var single = await Assert.ThrowsAsync<RpcException>(async () => await own.Dictionaries.SetIfAsync(
            new SetIfRequest { Object = "accounts", Key = "b", Condition = new Condition { Exists = false } }));
        Assert.Equal((StatusCode.Aborted, "CONFLICT"), TangoFrontEnd.ReasonOf(single));
        Assert.Equal("b", TangoFrontEnd.InfoOf(single).Metadata["key"]);
    }

    [Theory]
    [InlineData(true, "")]
    [InlineData(false, "")]
    [InlineData(true, "mine")]
    [InlineData(false, "mine")]
    public async Task Transaction_in_doubt_is_reported_and_resolved_and_never_guessed(bool isWritten, string id)
    {
        await using var host = new TangoTestHost();
        var process = host.Start();
        await using var own = await TangoFrontEnd.StartAsync(process.Runtime);
        await own.CreateAsync("accounts", ObjectType.Dictionary);
        process.Connection.LeaveNextInDoubt(isWritten);
        var doubt = await own.Transactions.TransactAsync(new TransactRequest
        {
            Compare = { Key("accounts", "a", new Condition { Exists = false }) },
            OnSuccess = { Set("accounts", "a", "1"), Get("accounts", "a") },
            RequestId = id,
        });
        Assert.Equal(Outcome.InDoubt, doubt.OutcomeCase);
        if (id.Length > 0) Assert.Equal(id, doubt.InDoubt.RequestId);
        var request = new ResolveRequest { RequestId = doubt.InDoubt.RequestId };
        for (var i = 0; i < 2; i++)
        {
            var resolved = await own.Transactions.ResolveAsync(request);
            if (isWritten) Assert.True(resolved.Committed.Succeeded);
            else Assert.Equal(Aborted.Types.Reason.NotWritten, resolved.Aborted.Reason);
        }

        var read = await own.Dictionaries.GetAsync(new GetRequest { Object = "accounts", Key = "a" });
        Assert.Equal(isWritten, read.HasValue);
    }

    [Fact]
    public async Task Single_write_in_doubt_names_the_id_for_resolving()
    {
        await using var host = new TangoTestHost();
        var process = host.Start();
        await using var own = await TangoFrontEnd.StartAsync(process.Runtime);
        await own.CreateAsync("accounts", ObjectType.Dictionary);
        process.Connection.LeaveNextInDoubt();
        var doubt = await Assert.ThrowsAsync<RpcException>(async () => await own.Dictionaries.SetAsync(
            new SetRequest { Object = "accounts", Key = "a", Value = Text("1") }));
        Assert.Equal((StatusCode.Unknown, "IN_DOUBT"), TangoFrontEnd.ReasonOf(doubt));
        var id = TangoFrontEnd.InfoOf(doubt).Metadata["request_id"];
        var resolved = await own.Transactions.ResolveAsync(new ResolveRequest { RequestId = id });
        Assert.True(resolved.Committed.Succeeded);
    }

    [Fact]
    public async Task A_named_one_is_remembered_for_a_caller_that_lost_the_answer()
    {
        await using var front = new Front();
        var own = await StartAsync(front, static options => options.Tango.MaxRememberedTransactions = 2);
        var request = new TransactRequest { OnSuccess = { Set("accounts", "a", "1") }, RequestId = "t1" };
        var done = await own.Transactions.TransactAsync(request);
        var told = await own.Transactions.ResolveAsync(new ResolveRequest { RequestId = "t1" });
        Assert.Equal((true, done.Committed.Version), (told.Committed.Succeeded, told.Committed.Version));
        Assert.Equal((StatusCode.AlreadyExists, "REQUEST_EXISTS"),
            await TangoFrontEnd.FailureOf(async () => await own.Transactions.TransactAsync(request)));
        // A refused request has left its id free.
        var refused = new TransactRequest { OnSuccess = { Set("missing", "a", "1") }, RequestId = "t2" };
        for (var i = 0; i < 2; i++)
            Assert.Equal((StatusCode.NotFound, "OBJECT_NOT_FOUND"),
                await TangoFrontEnd.FailureOf(async () => await own.Transactions.TransactAsync(refused)));
        for (var i = 3; i < 6; i++)
            await own.Transactions.TransactAsync(
                new TransactRequest { OnSuccess = { Set("accounts", "a", "1") }, RequestId = $"t{i}" });
        Assert.Equal((StatusCode.NotFound, "REQUEST_NOT_FOUND"), await TangoFrontEnd.FailureOf(
            async () => await own.Transactions.ResolveAsync(new ResolveRequest { RequestId = "t1" })));
    }

    [Fact]
    public async Task Single_writes_with_an_id_are_done_once()
    {
        await using var front = new Front();
        var own = await StartAsync(front);
        Func<string, Task>[] writes =
        [
            async id => await own.Dictionaries.SetAsync(
                new SetRequest { Object = "accounts", Key = "a", RequestId = id }),
            async id => await own.Dictionaries.SetIfAsync(new SetIfRequest
            {
                Object = "accounts", Key = "b", Condition = new Condition { Exists = false }, RequestId = id,
            }),
            async id => await own.Dictionaries.RemoveAsync(
                new RemoveRequest { Object = "accounts", Key = "a", RequestId = id }),
            async id => await own.Queues.EnqueueAsync(new EnqueueRequest { Object = "jobs", RequestId = id }),
        ];
        for (var i = 0; i < writes.Length; i++)
        {
            var id = $"write {i}";
            await writes[i](id);
            Assert.Equal((StatusCode.AlreadyExists, "REQUEST_EXISTS"),
                await TangoFrontEnd.FailureOf(() => writes[i](id)));
            var told = await own.Transactions.ResolveAsync(new ResolveRequest { RequestId = id });
            Assert.True(told.Committed.Succeeded);
        }

        Assert.Equal(1, (await own.Queues.CountAsync(new CountItemsRequest { Object = "jobs" })).Ready);
    }

    [Fact]
    public async Task Write_whose_deadline_comes_near_names_the_id_for_resolving()
    {
        await using var host = new TangoTestHost();
        var process = host.Start();
        await using var own = await TangoFrontEnd.StartAsync(
            process.Runtime, static options => options.DeadlineMargin = TimeSpan.FromMinutes(1));
        await own.CreateAsync("accounts", ObjectType.Dictionary);
        var isLeft = new TaskCompletionSource();
        process.Connection.BeforeNextAppend(async () => await isLeft.Task);
        var doubt = await Assert.ThrowsAsync<RpcException>(async () => await own.Dictionaries.SetAsync(
            new SetRequest { Object = "accounts", Key = "a", RequestId = "mine" },
            deadline: DateTime.UtcNow.AddSeconds(5)));
        isLeft.SetResult();
        Assert.Equal((StatusCode.Unknown, "IN_DOUBT"), TangoFrontEnd.ReasonOf(doubt));
        Assert.Equal("mine", TangoFrontEnd.InfoOf(doubt).Metadata["request_id"]);
    }

    [Fact]
    public void Ids_are_remembered_for_each_caller_and_forgotten_for_requests_not_sent()
    {
        var options = new CorfuGrpcOptions();
        options.Tango.MaxRememberedTransactions = 2;
        var remembered = new RememberedTransactions(Microsoft.Extensions.Options.Options.Create(options));
        var (mine, yours) = (new RequestKey("me", "1"), new RequestKey("you", "1"));
        remembered.Begin(mine);
        remembered.Begin(yours);
        Assert.Throws<RequestExistsException>(() => remembered.Begin(mine));
        // An id that is used again after a refusal is the newest.
        remembered.Withdraw(mine);
        remembered.Begin(mine);
        remembered.Begin(new RequestKey("me", "2"));
        Assert.Throws<RequestExistsException>(() => remembered.Begin(mine));
        remembered.Begin(yours);
    }

    private static async Task<TangoFrontEnd> StartAsync(Front front, Action<CorfuGrpcOptions>? configure = null)
    {
        var own = await front.StartAsync(configure);
        await own.CreateAsync("accounts", ObjectType.Dictionary);
        await own.CreateAsync("jobs", ObjectType.WorkQueue);
        return own;
    }

    private static int Number(OperationResult result) => int.Parse(result.Value.ToStringUtf8(), null);

    private static ByteString Text(string text) => ByteString.CopyFromUtf8(text);

    private static Compare Key(string name, string key, Condition condition) =>
        new() { Object = name, Key = new KeyCompare { Key = key, Condition = condition } };

    private static Operation Set(string name, string key, string value) =>
        new() { Object = name, Set = new SetOperation { Key = key, Value = Text(value) } };

    private static Operation Get(string name, string key) =>
        new() { Object = name, Get = new GetOperation { Key = key } };
}
