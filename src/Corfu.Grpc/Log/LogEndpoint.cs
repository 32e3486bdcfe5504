using Corfu.Client;
using Corfu.Grpc.Protocol;
using Corfu.Grpc.Protocol.Log.V1;
using Grpc.Core;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Options;
using FillRequest = Corfu.Grpc.Protocol.Log.V1.FillRequest;
using ReadRequest = Corfu.Grpc.Protocol.Log.V1.ReadRequest;
using ReadResponse = Corfu.Grpc.Protocol.Log.V1.ReadResponse;
using TrimPrefixRequest = Corfu.Grpc.Protocol.Log.V1.TrimPrefixRequest;
using TrimRequest = Corfu.Grpc.Protocol.Log.V1.TrimRequest;

namespace Corfu.Grpc;

/// <summary>corfu.log.v1 over an ordinary client. <see cref="ErrorTable"/> maps what it throws.</summary>
internal sealed class LogEndpoint(
    ILogSource source, TailWatcher tails, SubscriptionLimit subscriptions, IOptions<CorfuGrpcOptions> options,
    IHostApplicationLifetime lifetime, TimeProvider time) : LogService.LogServiceBase
{
    private readonly CorfuGrpcOptions _options = options.Value;

    public override async Task<AppendResponse> Append(AppendRequest request, ServerCallContext context)
    {
        if (request.Entry is null) throw new RequestException("entry: missing.");
        using var limit = AppendLimit.Of(context, _options.DeadlineMargin, time);
        try
        {
            var log = await source.GetAsync(limit.Token);
            var result = await EntryAppend.RunAsync(log, request.Entry, _options, limit.Token);
            return new AppendResponse { Result = LogMessages.ToMessage(result) };
        }
        catch (OperationCanceledException) when (!context.CancellationToken.IsCancellationRequested)
        {
            // No position was granted before the deadline came near.
            var nowhere = new Protocol.Log.V1.AppendResult { Outcome = Outcome.NotAppended };
            return new AppendResponse { Result = nowhere };
        }
    }

    public override async Task AppendMany(IAsyncStreamReader<AppendManyRequest> requestStream,
        IServerStreamWriter<AppendManyResponse> responseStream, ServerCallContext context)
    {
        var log = await source.GetAsync(context.CancellationToken);
        // The client sends nothing before: a call that is refused leaves no outcome open.
        await context.WriteResponseHeadersAsync(new Metadata { { FrontEndHeaders.Accepted, "true" } });
        await new AppendStream(log, _options, responseStream).RunAsync(
            requestStream, lifetime.ApplicationStopping, context.CancellationToken);
    }

    public override async Task<ResolveResponse> Resolve(ResolveRequest request, ServerCallContext context)
    {
        var position = LogMessages.PositionOf(request.Position, "position");
        // R13: without its epoch the position may be one of an ended epoch, or of this one.
        if (position.Epoch == Epoch.None)
            throw new RequestException("position.epoch: missing. It is the one of the append's result.");
        var unknown = new Client.AppendResult(
            AppendOutcome.Unknown, position, LogMessages.OriginOf(request.Origin));
        var log = await source.GetAsync(context.CancellationToken);
        var outcome = await log.ResolveAsync(unknown, context.CancellationToken);
        return new ResolveResponse { Outcome = LogMessages.ToMessage(outcome) };
    }

    public override async Task Read(
        ReadRequest request, IServerStreamWriter<ReadResponse> responseStream, ServerCallContext context)
    {
        if (request.Positions.Count > _options.MaxPositions)
            throw new RequestException(
                $"positions: {request.Positions.Count}, where at most {_options.MaxPositions} are read in one call.");
        var positions = request.Positions.Select(offset => LogMessages.PositionOf(offset, "positions")).ToArray();
        var reader = await ReaderAsync(responseStream, request.Detail, request.Mode, context);
        await reader.ReadAsync(positions.Length, i => positions[i], context.CancellationToken);
    }

    public override async Task ReadRange(
        ReadRangeRequest request, IServerStreamWriter<ReadResponse> responseStream, ServerCallContext context)
    {
        var from = LogMessages.PositionOf(request.From, "from");
        var to = request.HasTo ? LogMessages.PositionOf(request.To, "to") : (LogPosition?)null;
        if (to < from) throw new RequestException($"to: {request.To} is below from, which is {request.From}.");
        var reader = await ReaderAsync(responseStream, request.Detail, request.Mode, context);
        to ??= await reader.TailAsync(context.CancellationToken);
        await reader.ReadAsync(Math.Max(0, to.Value - from), i => from + i, context.CancellationToken);
    }

    public override async Task Subscribe(
        SubscribeRequest request, IServerStreamWriter<SubscribeResponse> responseStream, ServerCallContext context)
    {
        var streams = LogMessages.StreamsOf(request.StreamIds, request.StreamNames);
        var from = request.HasFrom ? LogMessages.PositionOf(request.From, "from") : (LogPosition?)null;
        using var place = subscriptions.Take();
        using var ends = CancellationTokenSource.CreateLinkedTokenSource(
            context.CancellationToken, lifetime.ApplicationStopping);
        var log = await source.GetAsync(ends.Token);
        await new Subscription(log, tails, _options, responseStream).RunAsync(streams, from, ends.Token);
    }

    public override async Task<CheckResponse> Check(CheckRequest request, ServerCallContext context)
    {
        var streams = LogMessages.StreamsOf(request.StreamIds, request.StreamNames);
        var consistency = LogMessages.ConsistencyOf(request.Consistency);
        var log = await source.GetAsync(context.CancellationToken);
        var check = await log.CheckAsync(streams, consistency, context.CancellationToken);
        var response = new CheckResponse { Tail = LogMessages.ToMessage(check.Tail) };
        foreach (var tail in check.Streams) response.Streams.Add(LogMessages.ToMessage(tail));
        return response;
    }

    public override async Task<FillResponse> Fill(FillRequest request, ServerCallContext context)
    {
        RequireTrims();
        var position = LogMessages.PositionOf(request.Position, "position");
        var log = await source.GetAsync(context.CancellationToken);
        var result = await log.FillAsync(position, context.CancellationToken);
        return new FillResponse { Result = LogMessages.ToMessage(result) };
    }

    public override async Task<TrimResponse> Trim(TrimRequest request, ServerCallContext context)
    {
        RequireTrims();
        var position = LogMessages.PositionOf(request.Position, "position");
        var log = await source.GetAsync(context.CancellationToken);
        await log.TrimAsync(position, context.CancellationToken);
        return new TrimResponse();
    }

    public override async Task<TrimPrefixResponse> TrimPrefix(
        TrimPrefixRequest request, ServerCallContext context)
    {
        RequireTrims();
        var below = LogMessages.PositionOf(request.Below, "below");
        var log = await source.GetAsync(context.CancellationToken);
        await log.TrimPrefixAsync(below, context.CancellationToken);
        return new TrimPrefixResponse();
    }

    public override async Task<DescribeResponse> Describe(DescribeRequest request, ServerCallContext context)
    {
        var log = await source.GetAsync(context.CancellationToken);
        return new DescribeResponse
        {
            MaxPayload = log.MaxPayload,
            MaxEntriesInFlight = _options.MaxEntriesInFlight,
            MaxPositions = _options.MaxPositions,
            MaxMessage = _options.MaxReceiveMessage,
        };
    }

    private void RequireTrims()
    {
        if (!_options.AllowTrims) throw new NotAllowedException("trims and fills", nameof(_options.AllowTrims));
    }

    private async ValueTask<BatchReader> ReaderAsync(
        IServerStreamWriter<ReadResponse> responses, Detail detail, Mode mode, ServerCallContext context)
    {
        var (readDetail, readMode) = (LogMessages.DetailOf(detail), LogMessages.ModeOf(mode));
        var log = await source.GetAsync(context.CancellationToken);
        return new BatchReader(log, readDetail, readMode, _options, responses);
    }
}
