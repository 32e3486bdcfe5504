using Corfu.Client;
using Corfu.Grpc.Protocol.Log.V1;
using Corfu.Grpc.Protocol.V1;
using Corfu.Hosting;
using Corfu.Protocol;
using Google.Protobuf;
using Google.Rpc;
using Grpc.Core;
using global::Tango;
using global::Tango.Collections;
using global::Tango.Testing;
using FillRequest = Corfu.Grpc.Protocol.Log.V1.FillRequest;
using Outcome = Corfu.Grpc.Protocol.Log.V1.Outcome;
using TrimPrefixRequest = Corfu.Grpc.Protocol.Log.V1.TrimPrefixRequest;
using TrimRequest = Corfu.Grpc.Protocol.Log.V1.TrimRequest;

namespace Corfu.Grpc.Tests;

/// <summary>A call of an unauthenticated caller must not end an object, release an entry, or get a false
/// answer.</summary>
public sealed class AllowanceTests
{
    // [2, runtime 1, sequence 1, [[update, object 256, mutator 1, nil, no arguments]]]
    private static readonly byte[] s_update =
        [0x94, 2, 1, 1, 0x91, 0x95, 1, 0xcd, 1, 0, 1, 0xc0, 0xc4, 0];

    private static async Task<(StatusCode Code, string Reason)> FailureOf(Func<Task> call)
    {
        var failure = await Assert.ThrowsAsync<RpcException>(call);
        return (failure.StatusCode, failure.GetRpcStatus()!.GetDetail<ErrorInfo>()!.Reason);
    }

    private static AppendRequest ToObject(ulong stream, ReadOnlySpan<byte> payload) => new()
    {
        Entry = new NewEntry { Payload = ByteString.CopyFrom(payload), StreamIds = { stream }, ToObjects = true },
    };

    [Fact]
    public async Task Append_to_an_object_is_refused_by_default()
    {
        var log = new InMemoryCorfuLog();
        await using var frontEnd = await FrontEnd.StartAsync(log);
        var client = new LogService.LogServiceClient(frontEnd.Channel);
        Assert.Equal((StatusCode.PermissionDenied, "NOT_ALLOWED"),
            await FailureOf(async () => await client.AppendAsync(ToObject(256, s_update))));
        var many = client.AppendMany();
        await many.RequestStream.WriteAsync(new AppendManyRequest
        {
            Items = { new AppendManyRequest.Types.Item { Entry = ToObject(256, s_update).Entry } },
        });
        await many.RequestStream.CompleteAsync();
        Assert.True(await many.ResponseStream.MoveNext(CancellationToken.None));
        var item = Assert.Single(many.ResponseStream.Current.Items);
        Assert.Equal((Outcome.NotAppended, "NOT_ALLOWED"), (item.Result.Outcome, item.Result.Error.Reason));
        Assert.Equal(0, (await log.CheckAsync([])).Tail.Offset);
    }

    [Fact]
    public async Task Append_to_an_object_takes_well_formed_entries_outside_the_systems_streams()
    {
        var log = new InMemoryCorfuLog();
        await using var frontEnd = await FrontEnd.StartAsync(
            log, static options => options.AllowObjectAppends = true);
        var client = new LogService.LogServiceClient(frontEnd.Channel);
        foreach (var request in new[]
        {
            ToObject(256, "x"u8), ToObject(256, s_update.AsSpan(..^1)), ToObject(256, [.. s_update, 0]),
            ToObject(1, s_update), ToObject(255, s_update),
            // From before the first release.
            ToObject(256, [0x94, 1, .. s_update[2..]]),
        })
            Assert.Equal((StatusCode.InvalidArgument, "INVALID_REQUEST"),
                await FailureOf(async () => await client.AppendAsync(request)));

        Assert.Equal(0, (await log.CheckAsync([])).Tail.Offset);
        Assert.Equal(Outcome.Appended, (await client.AppendAsync(ToObject(256, s_update))).Result.Outcome);
    }

    [Fact]
    public async Task Entry_of_a_runtime_is_well_formed_and_a_part_of_one_is_not()
    {
        var log = new InMemoryCorfuLog();
        await using var runtime = new TangoRuntime(log);
        var one = await runtime.OpenAsync<TangoDictionary<string, long>>("one", OpenMode.Create);
        var two = await runtime.OpenAsync<TangoDictionary<string, long>>("two", OpenMode.Create);
        await one.SetAsync("a", 1);
        await runtime.RunTransactionAsync(async _ => await two.SetAsync("b", await one.CountAsync()));
        await runtime.Checkpoints.WriteAsync("one");
        var tail = (await log.CheckAsync([])).Tail;
        Assert.True(tail.Offset > 4);
        for (var position = LogPosition.Zero; position < tail; position = position.Next)
        {
            var payload = (await log.ReadManyAsync([position]))[0].Entry!.Payload;
            Assert.True(TangoEntry.IsWellFormed(payload), $"{position}");
            Assert.False(TangoEntry.IsWellFormed(payload[..^1]), $"{position}");
        }
    }

    [Fact]
    public async Task Trims_and_fills_are_refused_by_default()
    {
        var log = new InMemoryCorfuLog();
        (await log.AppendAsync("x"u8.ToArray(), [])).Require();
        await using var frontEnd = await FrontEnd.StartAsync(log);
        var client = new LogService.LogServiceClient(frontEnd.Channel);
        Func<Task>[] calls =
        [
            async () => await client.FillAsync(new FillRequest { Position = new Position() }),
            async () => await client.TrimAsync(new TrimRequest { Position = new Position() }),
            async () => await client.TrimPrefixAsync(new TrimPrefixRequest { Below = new Position { Offset = 1 } }),
            async () => await client.RetainAsync(new RetainRequest { StreamName = "orders" }),
        ];
        foreach (var call in calls)
            Assert.Equal((StatusCode.PermissionDenied, "NOT_ALLOWED"), await FailureOf(call));
        Assert.True((await log.ReadManyAsync([LogPosition.Zero]))[0].IsData);
    }

    [Fact]
    public async Task Stream_that_a_caller_retains_is_declared_in_the_directory()
    {
        await using var cluster = await EmbeddedCluster.StartAsync(
            new EmbeddedClusterOptions { Units = 1, Replicas = 1 });
        await using var frontEnd = await FrontEnd.ConnectAsync(
            cluster.ConnectionString, static options => options.AllowTrims = true);
        var client = new LogService.LogServiceClient(frontEnd.Channel);
        await client.RetainAsync(new RetainRequest { StreamName = "orders" });
        Assert.Equal((StatusCode.InvalidArgument, "INVALID_REQUEST"),
            await FailureOf(async () => await client.RetainAsync(new RetainRequest())));
        await using var log = await cluster.ConnectAsync();
        await using var runtime = new TangoRuntime(log);
        var declared = Assert.Single((await runtime.Log.ReadTrimPointAsync()).Streams);
        Assert.Equal((StreamId.FromName("orders"), "orders"), (declared.Stream, declared.Name));
    }

    [Fact]
    public async Task Resolve_without_the_epoch_of_the_grant_is_refused()
    {
        await using var frontEnd = await FrontEnd.StartAsync(new InMemoryCorfuLog());
        var client = new LogService.LogServiceClient(frontEnd.Channel);
        var appended = (await client.AppendAsync(new AppendRequest { Entry = new NewEntry() })).Result;
        var request = new ResolveRequest
        {
            Position = new Position { Offset = appended.Position.Offset },
            Origin = appended.Origin,
        };
        Assert.Equal((StatusCode.InvalidArgument, "INVALID_REQUEST"),
            await FailureOf(async () => await client.ResolveAsync(request)));
        request.Position.Epoch = appended.Position.Epoch;
        Assert.Equal(Outcome.Appended, (await client.ResolveAsync(request)).Outcome);
    }
}
