using Corfu.Grpc.Protocol.Log.V1;
using Grpc.Core;

namespace Corfu.Grpc;

/// <summary>The terms of a subscription.</summary>
/// <param name="Streams">None: the whole log.</param>
/// <param name="From">Null: from now on.</param>
/// <param name="To">Exclusive. Null: without an end.</param>
internal sealed record SubscriptionTerms(ImmutableArray<StreamId> Streams, LogPosition? From, LogPosition? To,
    ReadDetail Detail, bool SkipTrimmed);

/// <summary>A Subscribe call. A slow client holds it at the write of a response: only the reads that the feed has under
/// way go ahead of that.</summary>
internal sealed class Subscription(ICorfuLog log, TailWatcher tails, SubscriptionTerms terms, CorfuGrpcOptions options,
    StandingAccess access, IServerStreamWriter<SubscribeResponse> responses)
{
    private SubscribeResponse _response = new();
    private long _bytes;

    public async Task RunAsync(string clusterId, CancellationToken cancellationToken)
    {
        var tail = await CheckAsync(cancellationToken);
        var start = terms.From ?? tail;
        var feed = NewFeed(start);
        _response.ClusterId = clusterId;
        await SendAsync(start, tail, cancellationToken);
        while (true)
        {
            var ends = await IsEndFinalAsync(tail, cancellationToken);
            await feed.SyncAsync(tail, ends, cancellationToken);
            feed = await DeliverAsync(feed, tail, cancellationToken);
            if (ends && feed.HasDelivered(terms.To!.Value))
            {
                await SendAsync(terms.To.Value, tail, cancellationToken);
                return;
            }

            var moved = await tails.MovesAsync(tail, cancellationToken);
            tail = moved.Tail ?? await CheckAsync(cancellationToken);
            if (moved.IsHeartbeat) await SendAsync(feed.Position, tail, cancellationToken);
        }
    }

    private async ValueTask<LogPosition> CheckAsync(CancellationToken cancellationToken) =>
        (await log.CheckAsync([], cancellationToken: cancellationToken)).Tail;

    private IEntryFeed NewFeed(LogPosition from) => terms.Streams.IsEmpty
        ? new LogFeed(log, from, terms, options)
        : new StreamFeed(log, terms.Streams, from);

    // R13: with a final state right below the end every later epoch begins there or above it.
    private async ValueTask<bool> IsEndFinalAsync(LogPosition tail, CancellationToken cancellationToken)
    {
        if (terms.To is not { } end || tail < end) return false;
        if (end == LogPosition.Zero) return true;
        var last = await log.ReadManyAsync(
            [new LogPosition(end.Offset - 1)], ReadDetail.State, cancellationToken: cancellationToken);
        return last[0].State != PageState.Unwritten;
    }

    /// <returns>The feed that goes on.</returns>
    private async Task<IEntryFeed> DeliverAsync(
        IEntryFeed feed, LogPosition tail, CancellationToken cancellationToken)
    {
        while (true)
        {
            try
            {
                await DeliverAllAsync(feed, tail, cancellationToken);
                return feed;
            }
            catch (CorfuException e)
            {
                // The entries before the failure are good.
                await FlushAsync(feed.Position, tail, cancellationToken);
                if (DuePosition(e) is not { } due) throw;
                var mark = await TrimMarks.NextAsync(log, due, cancellationToken);
                if (!terms.SkipTrimmed || e is not LogTrimmedException)
                    throw new SubscriptionEndedException(e, due, mark);
                feed = NewFeed(mark);
                await feed.SyncAsync(tail, isLast: true, cancellationToken);
            }
        }
    }

    private static LogPosition? DuePosition(CorfuException e) => e switch
    {
        LogTrimmedException trimmed => trimmed.Position,
        PageCorruptException corrupt => corrupt.Position,
        _ => null,
    };

    private async Task DeliverAllAsync(IEntryFeed feed, LogPosition tail, CancellationToken cancellationToken)
    {
        while (await feed.NextAsync(cancellationToken) is { } entry)
        {
            if (entry.Position >= terms.To) break;
            if (terms.Detail == ReadDetail.Headers) entry = entry with { Payload = default };
            if (_response.Entries.Count > 0 && _bytes + entry.Payload.Length > options.MaxBatchBytes)
                await SendAsync(entry.Position, tail, cancellationToken);
            _response.Entries.Add(LogMessages.ToMessage(entry));
            _bytes += entry.Payload.Length;
            if (_response.Entries.Count >= options.MaxBatchEntries)
                await SendAsync(entry.Position.Next, tail, cancellationToken);
        }

        await FlushAsync(feed.Position, tail, cancellationToken);
    }

    private async Task FlushAsync(LogPosition resumeFrom, LogPosition tail, CancellationToken cancellationToken)
    {
        if (_response.Entries.Count > 0) await SendAsync(resumeFrom, tail, cancellationToken);
    }

    private async Task SendAsync(LogPosition resumeFrom, LogPosition tail, CancellationToken cancellationToken)
    {
        _response.ResumeOffset = (terms.To is { } to ? LogPosition.Min(resumeFrom, to) : resumeFrom).Offset;
        _response.Tail = LogMessages.ToMessage(tail);
        await access.RequireAsync();
        await responses.WriteAsync(_response, cancellationToken);
        _response = new SubscribeResponse();
        _bytes = 0;
    }
}
