using System.Collections.Immutable;
using System.Text;
using Corfu.Grpc.Protocol.Log.V1;
using Corfu.Protocol;
using Google.Rpc;
using Grpc.Core;
using Tango.Testing;
using ReadResponse = Corfu.Grpc.Protocol.Log.V1.ReadResponse;

namespace Corfu.Grpc.Tests;

/// <summary>Terms of a subscription, and its end.</summary>
public sealed class SubscribeEndTests
{
    private static readonly StreamId s_stream = StreamId.FromName("s");
    private static readonly StreamId s_other = StreamId.FromName("x");

    private static ReadOnlyMemory<byte> Bytes(string text) => Encoding.UTF8.GetBytes(text);

    private static async Task<(List<SubscribeResponse> Responses, RpcException? Failure)> ReadAsync(
        FrontEnd frontEnd, SubscribeRequest request)
    {
        var responses = new List<SubscribeResponse>();
        using var call = new LogService.LogServiceClient(frontEnd.Channel).Subscribe(request);
        try
        {
            while (await call.ResponseStream.MoveNext(CancellationToken.None))
                responses.Add(call.ResponseStream.Current);
            return (responses, null);
        }
        catch (RpcException e)
        {
            return (responses, e);
        }
    }

    private static string[] Texts(IEnumerable<SubscribeResponse> responses) =>
        [.. responses.SelectMany(static r => r.Entries).Select(static entry => entry.Payload.ToStringUtf8())];

    /// <summary>S X X S S X S, of which what a digit names is trimmed.</summary>
    private static async Task<InMemoryCorfuLog> IslandsAsync(params long[] trimmed)
    {
        var log = new InMemoryCorfuLog();
        for (var i = 0; i < 7; i++) await log.AppendAsync(Bytes($"{i}"), [i is 1 or 2 or 5 ? s_other : s_stream]);
        foreach (var offset in trimmed) await log.TrimAsync(new LogPosition(offset));
        return log;
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task End_that_is_named_ends_the_call_once_all_below_is_delivered(bool streams)
    {
        await using var frontEnd = await FrontEnd.StartAsync(await IslandsAsync());
        var request = new SubscribeRequest { FromOffset = 0, ToOffset = 6 };
        if (streams) request.StreamIds.Add(s_stream.Value);
        var (responses, failure) = await ReadAsync(frontEnd, request);
        Assert.Null(failure);
        Assert.Equal(streams ? ["0", "3", "4"] : ["0", "1", "2", "3", "4", "5"], Texts(responses));
        Assert.Equal(6, responses[^1].ResumeOffset);
        Assert.Equal(FrontEnd.ClusterId, responses[0].ClusterId);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Headers_alone_are_delivered_without_payloads(bool streams)
    {
        await using var frontEnd = await FrontEnd.StartAsync(await IslandsAsync());
        var request = new SubscribeRequest { FromOffset = 0, ToOffset = 7, Detail = Detail.Headers };
        if (streams) request.StreamIds.Add(s_stream.Value);
        var entries = (await ReadAsync(frontEnd, request)).Responses.SelectMany(static r => r.Entries).ToArray();
        Assert.Equal(streams ? 4 : 7, entries.Length);
        Assert.All(entries, static entry => Assert.True(entry.Payload.IsEmpty && entry.Origin.Writer.Length == 16));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Trimmed_entries_are_passed_over_where_that_is_asked_for(bool streams)
    {
        await using var frontEnd = await FrontEnd.StartAsync(await IslandsAsync(0, 2, 4));
        var request = new SubscribeRequest { FromOffset = 0, ToOffset = 7, SkipTrimmed = true };
        if (streams) request.StreamIds.Add(s_stream.Value);
        var (responses, failure) = await ReadAsync(frontEnd, request);
        Assert.Null(failure);
        Assert.Equal(streams ? ["3", "6"] : ["1", "3", "5", "6"], Texts(responses));
    }

    /// <summary>Entries that another stream has lost before it do not move the mark.</summary>
    [Fact]
    public async Task Mark_of_a_stream_lies_behind_the_trimmed_entry_of_that_stream()
    {
        await using var frontEnd = await FrontEnd.StartAsync(await IslandsAsync(1, 2, 4));
        var (responses, failure) = await ReadAsync(
            frontEnd, new SubscribeRequest { FromOffset = 0, StreamIds = { s_stream.Value } });
        Assert.Equal(["0", "3"], Texts(responses));
        var info = failure!.GetRpcStatus()!.GetDetail<ErrorInfo>()!;
        Assert.Equal(("TRIMMED", "4", "5"), (info.Reason, info.Metadata["position"], info.Metadata["mark"]));
    }

    [Fact]
    public async Task Damaged_entry_ends_the_subscription_with_the_position_after_all_entries_before()
    {
        var log = new DamagedLog(3);
        for (var i = 0; i < 6; i++) await log.AppendAsync(Bytes($"{i}"), [s_stream], default(CancellationToken));
        await using var frontEnd = await FrontEnd.StartAsync(log);
        var request = new SubscribeRequest { FromOffset = 0, ToOffset = 6 };
        var (responses, failure) = await ReadAsync(frontEnd, request);
        Assert.Equal(["0", "1", "2"], Texts(responses));
        Assert.Equal(StatusCode.DataLoss, failure!.StatusCode);
        var info = failure.GetRpcStatus()!.GetDetail<ErrorInfo>()!;
        Assert.Equal(("CORRUPT", "3", "4"), (info.Reason, info.Metadata["position"], info.Metadata["mark"]));
        request.FromOffset = 4;
        Assert.Equal(["4", "5"], Texts((await ReadAsync(frontEnd, request)).Responses));
    }

    [Fact]
    public async Task Range_ends_at_the_tail_whatever_end_is_named()
    {
        await using var frontEnd = await FrontEnd.StartAsync(await IslandsAsync());
        var call = new LogService.LogServiceClient(frontEnd.Channel).ReadRange(
            new ReadRangeRequest { FromOffset = 2, ToOffset = long.MaxValue, Mode = Mode.Observe });
        var read = new List<ReadResponse>();
        while (await call.ResponseStream.MoveNext(CancellationToken.None)) read.Add(call.ResponseStream.Current);
        Assert.Equal(5, read.Sum(static response => response.Results.Count));
    }

    /// <summary>The watcher's check is confirmed already, and serves all subscriptions.</summary>
    [Fact]
    public async Task Subscription_to_streams_asks_for_no_further_confirmation()
    {
        var log = new CountingLog();
        for (var i = 0; i < 3; i++) await log.AppendAsync(Bytes($"{i}"), [s_stream], default(CancellationToken));
        await using var frontEnd = await FrontEnd.StartAsync(log);
        using var call = new LogService.LogServiceClient(frontEnd.Channel).Subscribe(
            new SubscribeRequest { FromOffset = 0, StreamIds = { s_stream.Value } });
        for (var read = 0; read < 3; read += call.ResponseStream.Current.Entries.Count)
            Assert.True(await call.ResponseStream.MoveNext(CancellationToken.None));
        Assert.Equal(0, log.ConfirmedOfStreams);
    }

    private sealed class CountingLog : WrappedLog
    {
        private int _confirmed;

        public int ConfirmedOfStreams => _confirmed;

        public override ValueTask<LogCheck> CheckAsync(
            ImmutableArray<StreamId> streams, ReadConsistency consistency, CancellationToken cancellationToken)
        {
            if (!streams.IsEmpty && consistency == ReadConsistency.Linearizable) Interlocked.Increment(ref _confirmed);
            return base.CheckAsync(streams, consistency, cancellationToken);
        }
    }

    /// <summary>A log with a page that is damaged at every replica.</summary>
    private sealed class DamagedLog(long damaged) : WrappedLog
    {
        public override async ValueTask<ImmutableArray<LogReadResult>> ReadManyAsync(
            ImmutableArray<LogPosition> positions, ReadDetail detail, ReadMode mode,
            CancellationToken cancellationToken) =>
        [
            .. (await base.ReadManyAsync(positions, detail, mode, cancellationToken)).Select(result =>
                result.Position.Offset == damaged
                    ? new LogReadResult(result.Position, PageState.Corrupt, null)
                    : result),
        ];
    }
}
