using Corfu.Client;
using Corfu.Grpc.Protocol.Log.V1;
using Corfu.Grpc.Protocol.V1;
using Corfu.Hosting;
using Corfu.Protocol;
using Google.Protobuf;
using Google.Rpc;
using Grpc.Core;
using Outcome = Corfu.Grpc.Protocol.Log.V1.Outcome;

namespace Corfu.Grpc.Tests;

/// <summary>Clients choose origins and bounds: an append whose answer was lost is settled by what the log holds,
/// without clocks.</summary>
public sealed class OriginTests
{
    private static readonly ByteString s_writer = ByteString.CopyFrom(Guid.NewGuid().ToByteArray());

    private static Origin Own(long sequence) => new() { Writer = s_writer, Sequence = sequence };

    private static AppendRequest Append(long sequence, long below) => new()
    {
        Entry = new NewEntry
        {
            Payload = ByteString.CopyFromUtf8($"{sequence}"),
            Origin = Own(sequence),
            BelowOffset = below,
        },
    };

    private static async Task<EmbeddedCluster> ClusterAsync() =>
        await EmbeddedCluster.StartAsync(new EmbeddedClusterOptions { Units = 1, Replicas = 1 });

    private static async Task<(StatusCode Code, string Reason)> FailureOf(Func<Task> call)
    {
        var failure = await Assert.ThrowsAsync<RpcException>(call);
        return (failure.StatusCode, failure.GetRpcStatus()!.GetDetail<ErrorInfo>()!.Reason);
    }

    [Fact]
    public async Task Origin_of_the_client_stands_in_the_entry_and_is_found_by_headers()
    {
        await using var cluster = await ClusterAsync();
        await using var frontEnd = await FrontEnd.ConnectAsync(cluster.ConnectionString);
        var log = new LogService.LogServiceClient(frontEnd.Channel);
        var appended = (await log.AppendAsync(Append(7, 100))).Result;
        Assert.Equal((Outcome.Appended, Own(7)), (appended.Outcome, appended.Origin));
        var call = log.ReadRange(new ReadRangeRequest { Detail = Detail.Headers });
        Assert.True(await call.ResponseStream.MoveNext(CancellationToken.None));
        var entry = Assert.Single(call.ResponseStream.Current.Results, result => result.State == State.Data).Entry;
        Assert.Equal((Own(7), 0), (entry.Origin, entry.Payload.Length));
    }

    [Fact]
    public async Task Entry_past_the_bound_is_refused_and_costs_no_position()
    {
        await using var cluster = await ClusterAsync();
        await using var frontEnd = await FrontEnd.ConnectAsync(cluster.ConnectionString);
        var log = new LogService.LogServiceClient(frontEnd.Channel);
        for (var i = 0; i < 3; i++) await log.AppendAsync(Append(i, 3));
        for (var i = 0; i < 3; i++)
            Assert.Equal((StatusCode.Aborted, "BOUND_PASSED"), await FailureOf(async () => await log.AppendAsync(
                Append(9, 3))));
        Assert.Equal(3, (await log.CheckAsync(new CheckRequest())).Tail.Offset);
        Assert.Equal(Outcome.Appended, (await log.AppendAsync(Append(9, 4))).Result.Outcome);
    }

    /// <summary>An append that another front end has not answered yet must not stand below the bound any
    /// more.</summary>
    [Fact]
    public async Task Settling_makes_an_absence_final_and_finds_present_entries()
    {
        await using var cluster = await ClusterAsync();
        await using var first = await FrontEnd.ConnectAsync(cluster.ConnectionString);
        await using var second = await FrontEnd.ConnectAsync(cluster.ConnectionString);
        var log = new LogService.LogServiceClient(first.Channel);
        var other = new LogService.LogServiceClient(second.Channel);
        var from = (await log.CheckAsync(new CheckRequest())).Tail;
        var appended = (await log.AppendAsync(Append(1, 1000))).Result;
        var request = new SettleRequest { Origins = { Own(1), Own(2) }, Since = from, BelowOffset = 1000 };
        for (var i = 0; i < 2; i++)
        {
            var settled = (await other.SettleAsync(request)).Results;
            Assert.Equal([Outcome.Appended, Outcome.NotAppended], settled.Select(result => result.Outcome));
            Assert.Equal(appended.Position, settled[0].Position);
        }

        Assert.Equal((StatusCode.Aborted, "BOUND_PASSED"),
            await FailureOf(async () => await log.AppendAsync(Append(2, 1000))));
        var next = (await log.AppendAsync(Append(2, 2000))).Result;
        Assert.Equal(Outcome.Appended, next.Outcome);
        Assert.True(next.Position.Offset >= 1000);
    }

    /// <summary>Each call is an append of its own: a client sends again only what was settled.</summary>
    [Fact]
    public async Task Origin_that_is_sent_over_two_front_ends_may_stand_twice()
    {
        await using var cluster = await ClusterAsync();
        await using var first = await FrontEnd.ConnectAsync(cluster.ConnectionString);
        await using var second = await FrontEnd.ConnectAsync(cluster.ConnectionString);
        var one = await new LogService.LogServiceClient(first.Channel).AppendAsync(Append(1, 100));
        var two = await new LogService.LogServiceClient(second.Channel).AppendAsync(Append(1, 100));
        Assert.Equal((Outcome.Appended, Outcome.Appended), (one.Result.Outcome, two.Result.Outcome));
        Assert.NotEqual(one.Result.Position.Offset, two.Result.Position.Offset);
        Assert.Equal(one.Result.Origin, two.Result.Origin);
    }

    [Fact]
    public async Task Settling_trimmed_positions_stays_unknown()
    {
        await using var cluster = await ClusterAsync();
        await using var frontEnd = await FrontEnd.ConnectAsync(cluster.ConnectionString);
        var log = new LogService.LogServiceClient(frontEnd.Channel);
        var from = (await log.CheckAsync(new CheckRequest())).Tail;
        for (var i = 0; i < 4; i++) await log.AppendAsync(Append(i, 100));
        await using var client = await cluster.ConnectAsync();
        await client.TrimPrefixAsync(new LogPosition(2));
        var request = new SettleRequest { Origins = { Own(0), Own(3), Own(9) }, Since = from, BelowOffset = 100 };
        Assert.Equal([Outcome.Unknown, Outcome.Appended, Outcome.Unknown],
            (await log.SettleAsync(request)).Results.Select(result => result.Outcome));
    }

    [Fact]
    public async Task Settling_without_an_epoch_or_beyond_the_span_is_refused()
    {
        await using var cluster = await ClusterAsync();
        await using var frontEnd = await FrontEnd.ConnectAsync(
            cluster.ConnectionString, static options => options.MaxSettleSpan = 10);
        var log = new LogService.LogServiceClient(frontEnd.Channel);
        var from = (await log.CheckAsync(new CheckRequest())).Tail;
        SettleRequest[] requests =
        [
            new() { Since = new Position(), BelowOffset = 5 }, new() { Since = from, BelowOffset = 11 },
            new() { BelowOffset = 5 }, new() { Since = from, BelowOffset = 5, Origins = { new Origin() } },
        ];
        foreach (var request in requests)
            Assert.Equal((StatusCode.InvalidArgument, "INVALID_REQUEST"),
                await FailureOf(async () => await log.SettleAsync(request)));
        // A position of another log, far above this one's tail, moves nothing.
        var foreign = new SettleRequest { Since = new Position { Offset = 1L << 40, Epoch = from.Epoch } };
        foreign.BelowOffset = foreign.Since.Offset + 5;
        Assert.Equal((StatusCode.OutOfRange, "NOT_GRANTED"),
            await FailureOf(async () => await log.SettleAsync(foreign)));
        Assert.Equal(0, (await log.CheckAsync(new CheckRequest())).Tail.Offset);
    }

    private static CallOptions Demanding(string cluster) => new(new Metadata { { "corfu-cluster-id", cluster } });

    [Fact]
    public async Task Call_that_demands_another_cluster_is_refused()
    {
        await using var cluster = await ClusterAsync();
        await using var frontEnd = await FrontEnd.ConnectAsync(cluster.ConnectionString);
        var log = new LogService.LogServiceClient(frontEnd.Channel);
        var own = (await log.DescribeAsync(new DescribeRequest())).ClusterId;
        var appended = await log.AppendAsync(Append(1, 10), Demanding(own));
        Assert.Equal(own, appended.ClusterId);
        Assert.Equal(own, (await log.CheckAsync(new CheckRequest(), Demanding(own))).ClusterId);
        Assert.Equal((StatusCode.FailedPrecondition, "WRONG_CLUSTER"), await FailureOf(
            async () => await log.AppendAsync(Append(2, 10), Demanding(Guid.NewGuid().ToString()))));
        var subscription = log.Subscribe(new SubscribeRequest(), Demanding(Guid.NewGuid().ToString()));
        Assert.Equal((StatusCode.FailedPrecondition, "WRONG_CLUSTER"), await FailureOf(
            async () => await subscription.ResponseStream.MoveNext(CancellationToken.None)));
        Assert.Equal(1, (await log.CheckAsync(new CheckRequest())).Tail.Offset);
    }
}
