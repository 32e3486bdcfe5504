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
    ILogSource source, TailWatcher tails, CallerAccess access, CallerLimits limits, StreamClaims claims,
    IOptions<CorfuGrpcOptions> options, IHostApplicationLifetime lifetime, TimeProvider time)
    : LogService.LogServiceBase
{
    private readonly CorfuGrpcOptions _options = options.Value;

    public override async Task<AppendResponse> Append(AppendRequest request, ServerCallContext context)
    {
        if (request.Entry is null) throw new RequestException("entry: missing.");
        using var bytes = limits.Bytes.TakeNow(Callers.NameOf(context), request.Entry.Payload.Length);
        using var limit = AppendLimit.Of(context, _options.DeadlineMargin, time);
        try
        {
            var log = await source.GetAsync(limit.Token);
            var result = await EntryAppend.RunAsync(log, request.Entry, _options, limit.Token);
            return new AppendResponse
            {
                Result = LogMessages.ToMessage(result),
                ClusterId = await source.GetClusterIdAsync(limit.Token),
            };
        }
        catch (OperationCanceledException) when (!context.CancellationToken.IsCancellationRequested)
        {
            // No position was granted before the deadline came near.
            var nowhere = new Protocol.Log.V1.AppendResult
            {
                Outcome = Outcome.NotAppended,
                Error = ErrorTable.ToError(new DeadlineNearException()),
            };
            return new AppendResponse { Result = nowhere };
        }
    }

    public override async Task AppendMany(IAsyncStreamReader<AppendManyRequest> requestStream,
        IServerStreamWriter<AppendManyResponse> responseStream, ServerCallContext context)
    {
        var log = await source.GetAsync(context.CancellationToken);
        // The client sends nothing before: a call that is refused leaves no outcome open.
        await context.WriteResponseHeadersAsync(new Metadata { { FrontEndHeaders.Accepted, "true" } });
        var caller = new AppendingCaller(Callers.NameOf(context), access.OfEntries(context), limits);
        await new AppendStream(log, _options, caller, responseStream).RunAsync(
            requestStream, lifetime.ApplicationStopping, context.CancellationToken);
    }

    public override async Task<ResolveResponse> Resolve(ResolveRequest request, ServerCallContext context)
    {
        var position = LogMessages.PositionOf(request.Position, "position");
        // R13: without its epoch the position may be one of an ended epoch, or of this one.
        if (position.Epoch == Epoch.None)
            throw new RequestException("position.epoch: missing. It is the one of the append's result.");
        var unknown = new Corfu.AppendResult(
            AppendOutcome.Unknown, position, LogMessages.OriginOf(request.Origin));
        var log = await source.GetAsync(context.CancellationToken);
        var outcome = await log.ResolveAsync(unknown, context.CancellationToken);
        return new ResolveResponse { Outcome = LogMessages.ToMessage(outcome) };
    }

    public override async Task<SettleResponse> Settle(SettleRequest request, ServerCallContext context)
    {
        if (request.Origins.Count > _options.MaxPositions)
            throw new RequestException(
                $"origins: {request.Origins.Count}, where at most {_options.MaxPositions} are settled in one call.");
        var origins = request.Origins.Select(LogMessages.OriginOf).ToImmutableArray();
        var from = LogMessages.PositionOf(request.Since, "since");
        if (from.Epoch == Epoch.None)
            throw new RequestException("since.epoch: missing. A tail or a result has it.");
        var below = LogMessages.PositionOf(request.BelowOffset, "below_offset");
        if (below - from > _options.MaxSettleSpan)
            throw new RequestException(
                $"below_offset: {below - from} above since, where at most {_options.MaxSettleSpan} are settled.");
        if (await source.GetAsync(context.CancellationToken) is not IDelegatedLog log)
            throw new RequestException("origins: this front end's log takes none.");
        var results = await log.SettleAsync(origins, from, below, context.CancellationToken);
        return new SettleResponse { Results = { results.Select(LogMessages.ToMessage) } };
    }

    public override async Task Read(
        ReadRequest request, IServerStreamWriter<ReadResponse> responseStream, ServerCallContext context)
    {
        if (request.Offsets.Count > _options.MaxPositions)
            throw new RequestException(
                $"offsets: {request.Offsets.Count}, where at most {_options.MaxPositions} are read in one call.");
        var positions = request.Offsets.Select(offset => LogMessages.PositionOf(offset, "offsets")).ToArray();
        var reader = await ReaderAsync(responseStream, request.Detail, request.Mode, context);
        await reader.ReadAsync(positions.Length, i => positions[i], context.CancellationToken);
    }

    public override async Task ReadRange(
        ReadRangeRequest request, IServerStreamWriter<ReadResponse> responseStream, ServerCallContext context)
    {
        var from = LogMessages.PositionOf(request.FromOffset, "from_offset");
        var to = RangeEnd(request.HasToOffset, request.ToOffset, from);
        var reader = await ReaderAsync(responseStream, request.Detail, request.Mode, context);
        var tail = await reader.TailAsync(context.CancellationToken);
        var end = LogPosition.Min(to ?? tail, tail);
        await reader.ReadAsync(Math.Max(0, end - from), i => from + i, context.CancellationToken);
    }

    public override async Task Subscribe(
        SubscribeRequest request, IServerStreamWriter<SubscribeResponse> responseStream, ServerCallContext context)
    {
        var terms = TermsOf(request);
        using var place = limits.Subscriptions.Take(Callers.NameOf(context));
        using var ends = CancellationTokenSource.CreateLinkedTokenSource(
            context.CancellationToken, lifetime.ApplicationStopping);
        var log = await source.GetAsync(ends.Token);
        var cluster = await source.GetClusterIdAsync(ends.Token);
        var standing = access.Standing(context, MethodAccess.Of(context.Method).Demands(request));
        await new Subscription(log, tails, terms, _options, standing, responseStream).RunAsync(cluster, ends.Token);
    }

    public override async Task<CheckResponse> Check(CheckRequest request, ServerCallContext context)
    {
        var streams = LogMessages.StreamsOf(request.StreamIds, request.StreamNames);
        var consistency = LogMessages.ConsistencyOf(request.Consistency);
        var log = await source.GetAsync(context.CancellationToken);
        var check = await log.CheckAsync(streams, consistency, context.CancellationToken);
        var response = new CheckResponse
        {
            Tail = LogMessages.ToMessage(check.Tail),
            ClusterId = await source.GetClusterIdAsync(context.CancellationToken),
        };
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

    public override async Task<RetainResponse> Retain(RetainRequest request, ServerCallContext context)
    {
        RequireTrims();
        var from = LogMessages.PositionOf(request.FromOffset, "from_offset");
        var (stream, name) = request.StreamCase switch
        {
            RetainRequest.StreamOneofCase.StreamId => (new StreamId(request.StreamId), null),
            RetainRequest.StreamOneofCase.StreamName when request.StreamName.Length > 0 =>
                (StreamId.FromName(request.StreamName), request.StreamName),
            _ => throw new RequestException("stream: missing."),
        };
        StreamRangeException.ThrowIfNotRaw([stream]);
        await claims.DeclareAsync(stream, name, from, context.CancellationToken);
        return new RetainResponse();
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
            MaxSettleSpan = _options.MaxSettleSpan,
            ClusterId = await source.GetClusterIdAsync(context.CancellationToken),
        };
    }

    private static LogPosition? RangeEnd(bool isGiven, long offset, LogPosition? from)
    {
        if (!isGiven) return null;
        var end = LogMessages.PositionOf(offset, "to_offset");
        return end < from
            ? throw new RequestException($"to_offset: {offset} is below from_offset, which is {from}.")
            : end;
    }

    private static SubscriptionTerms TermsOf(SubscribeRequest request)
    {
        var streams = LogMessages.StreamsOf(request.StreamIds, request.StreamNames);
        var from = request.HasFromOffset
            ? LogMessages.PositionOf(request.FromOffset, "from_offset")
            : (LogPosition?)null;
        var detail = LogMessages.DetailOf(request.Detail);
        if (detail is not (ReadDetail.Full or ReadDetail.Headers))
            throw new RequestException("detail: a subscription delivers entries, FULL or HEADERS.");
        var to = RangeEnd(request.HasToOffset, request.ToOffset, from);
        return new SubscriptionTerms(streams, from, to, detail, request.SkipTrimmed);
    }

    private void RequireTrims()
    {
        if (_options is { AllowTrims: false, RequireRights: false })
            throw new NotAllowedException("trims, fills and claims", nameof(_options.AllowTrims));
    }

    private async ValueTask<BatchReader> ReaderAsync(
        IServerStreamWriter<ReadResponse> responses, Detail detail, Mode mode, ServerCallContext context)
    {
        var (readDetail, readMode) = (LogMessages.DetailOf(detail), LogMessages.ModeOf(mode));
        var (caller, stop) = (Callers.NameOf(context), context.CancellationToken);
        var log = await source.GetAsync(context.CancellationToken);
        return new BatchReader(
            log, (readDetail, readMode), _options, bytes => limits.Bytes.TakeAsync(caller, bytes, stop), responses);
    }
}
