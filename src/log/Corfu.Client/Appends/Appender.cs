using System.Threading.RateLimiting;
using Microsoft.Extensions.Logging;

namespace Corfu.Client;

/// <summary>Appends (CORFU 2.3, 2.4). Two appends never wait for each other.</summary>
/// <remarks>
/// 1. A place among the appends in flight.
/// 2. A token: a position of its own, with the backpointers of its streams.
/// 3. The entry is written down the position's chain, head to tail.
/// 4. At every replica: appended. Another value at the head: the position is lost, and the append begins again at
/// step 2.
/// 5. Anything else is resolved (R9): appended, back to step 2, or unknown.
/// A token at or above the caller's bound is left as a hole, and the append ends: it is not in the log, and never will
/// be.
/// </remarks>
internal sealed class Appender(TokenSource tokens, ITransport transport, UnitCalls units, Resolver resolver,
    CommittedSet committed, EntryOrigins origins, Retry retry, ProjectionHolder projections,
    ProjectionRefresher refresher, ClientClock clock, CorfuClientOptions options, ILogger logger)
{
    // The grace that a writer asks for after it has lost twice in a row (R10). Doubles with every further loss.
    internal const int GraceMilliseconds = 40;
    private const int MaxGraceMilliseconds = 640;

    private readonly ConcurrencyLimiter _inFlight = new(new ConcurrencyLimiterOptions
    {
        PermitLimit = options.MaxAppendsInFlight,
        QueueLimit = options.MaxAppendsWaiting,
    });

    // Bytes of all payloads that callers have handed over: waiting or in flight.
    private long _bytes;

    private enum Written
    {
        AtAllReplicas,

        /// <summary>The position holds another value: this entry never was and never will be in the log.</summary>
        Lost,

        /// <summary>The epoch ended, or a replica cannot say: to be resolved.</summary>
        Unsure,

        /// <summary>Cannot be resolved.</summary>
        Unknown,

        /// <summary>The head has no room: the entry is nowhere, and its position a hole.</summary>
        NoRoom,
    }

    public async ValueTask<AppendResult> AppendAsync(
        ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams, AppendTerms terms,
        CancellationToken cancellationToken)
    {
        if (payload.Length > options.MaxPayload)
            throw new EntryTooLargeException($"A payload of {payload.Length} bytes, limit {options.MaxPayload}");
        if (streams.Length > EntryLimits.MaxStreams)
            throw new EntryTooLargeException($"{streams.Length} streams, limit {EntryLimits.MaxStreams}");
        if (!StreamId.AreDistinct(streams.AsSpan()))
            throw new ArgumentException("A stream is named twice.", nameof(streams));
        clock.ThrowIfClosed();
        using var activity = ClientTelemetry.Activities.StartActivity("corfu.client.append");
        // 1.
        if (Interlocked.Add(ref _bytes, payload.Length) is var bytes && bytes > options.MaxAppendBytesWaiting
            && bytes > payload.Length)
        {
            Interlocked.Add(ref _bytes, -payload.Length);
            throw new LogOverloadedException(
                $"Appends of {bytes - payload.Length} bytes wait already; this one was refused and is not in the log.");
        }

        try
        {
            using var place = await _inFlight.AcquireAsync(1, cancellationToken);
            return place.IsAcquired
                ? await RunAsync(payload, streams, terms, cancellationToken)
                : throw new LogOverloadedException(
                    $"{options.MaxAppendsWaiting} appends wait already; this one was refused and is not in the log.");
        }
        finally
        {
            Interlocked.Add(ref _bytes, -payload.Length);
        }
    }

    private async ValueTask<AppendResult> RunAsync(ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams,
        AppendTerms terms, CancellationToken cancellationToken)
    {
        refresher.Watch();
        var began = clock.GetTimestamp();
        for (var lost = 0; ; lost++)
        {
            // Grants of an epoch only rise: with the bound reached, each further position would only be left as a hole.
            var origin = terms.Origin ?? origins.Next();
            var granted = new LogPosition(projections.Current.Grants.Tail);
            if (IsPastBound(terms, granted)) return new AppendResult(AppendOutcome.NotAppended, granted, origin);

            // 2.
            var grant = await tokens.TakeAsync(streams, GraceAfter(lost), cancellationToken);
            if (lost >= 2) ClientTelemetry.Graces.Add(1);
            if (IsPastBound(terms, grant.Position))
                return new AppendResult(AppendOutcome.NotAppended, grant.Position, origin);
            var entry = new LogEntry(
                grant.Position, origin, EntryKind.Data, clock.Time.GetUtcNow(), grant.Headers, payload);
            var bytes = EntryCodec.Encode(entry);

            // 3., 5.
            var outcome = await WriteOrResolveAsync(grant, origin, bytes, cancellationToken);
            var result = new AppendResult(outcome, grant.Position, origin);

            // 4.
            switch (outcome)
            {
                case AppendOutcome.Appended:
                    committed.Add(grant.Position);
                    ClientTelemetry.AppendTime.Record(clock.GetElapsedTime(began).TotalSeconds);
                    return result;
                case AppendOutcome.Unknown:
                    ClientTelemetry.AppendUnknown.Add(1);
                    return result;
            }

            ClientTelemetry.AppendLost.Add(1);
            if (clock.GetElapsedTime(began) >= options.OperationTimeout)
                throw new LogUnavailableException(
                    $"An append lost {lost + 1} positions one after another and was given up; it is not in the log.");
        }
    }

    private async ValueTask<AppendOutcome> WriteOrResolveAsync(
        TokenGrant grant, EntryOrigin origin, byte[] bytes, CancellationToken cancellationToken)
    {
        try
        {
            return await WriteAsync(grant, origin, bytes, cancellationToken) switch
            {
                Written.Unsure when Planted.Is("retry-without-resolving") => AppendOutcome.NotAppended,
                Written.AtAllReplicas => AppendOutcome.Appended,
                Written.Lost => AppendOutcome.NotAppended,
                Written.NoRoom => throw CorfuStatusException.Create(Status.NoSpace, $"Writing {grant.Position}"),
                Written.Unsure => await resolver.ResolveAsync(grant.Position, origin, cancellationToken),
                _ => AppendOutcome.Unknown,
            };
        }
        catch (Exception e) when (e is OperationCanceledException or LogUnavailableException or ObjectDisposedException)
        {
            // After the grant the entry may be anywhere: the third outcome (R9).
            return AppendOutcome.Unknown;
        }
    }

    /// <summary>The writer's way down the chain. Within its epoch it may repeat a request: a replica that has the entry
    /// says so by its origin. R9: after its epoch it never sends the entry again.</summary>
    private async ValueTask<Written> WriteAsync(
        TokenGrant grant, EntryOrigin origin, byte[] bytes, CancellationToken cancellationToken)
    {
        var projection = grant.View.Projection;
        var chain = projection.ChainOf(grant.Position);
        var request = new WriteRequest(grant.View.Epoch, bytes);
        for (var i = 0; i < chain.Replicas.Length; i++)
        {
            // After its epoch a writer never sends the entry again (R9). A unit that has left the projection might not
            // answer at all.
            if (projections.Current != grant.View) return Written.Unsure;
            var address = projection.AddressOf(chain.Replicas[i].Unit);
            WriteResponse? response = null;
            try
            {
                response = await transport.CallAsync(address, request, cancellationToken);
                if (response.Status == Status.NoSpace && i == 0) return Written.NoRoom;
            }
            catch (TransportException)
            {
                // Treated like a refusal that may pass.
            }

            var isRepeated = response is null;
            if (response is null || MayPass(response.Status))
                response = await PersistAsync(grant.View, address, request, cancellationToken);
            switch (response.Status)
            {
                case Status.Ok:
                    if (Planted.Is("ack-at-head")) return Written.AtAllReplicas;
                    continue;
                case Status.AlreadyWritten when response.StoredOrigin == origin:
                    continue;
                case Status.AlreadyWritten when Planted.Is("already-written-is-mine"):
                    continue;
                case Status.AlreadyWritten when i == 0:
                    return Written.Lost;
                case Status.AlreadyWritten:
                    // The head took this entry, so no client can have put another behind it in this epoch.
                    ClientLog.Diverged(logger, grant.Position.ToString());
                    return Written.Unknown;
                case Status.Sealed:
                    // The entry is resolved under the next epoch.
                    if (projections.Current == grant.View)
                        await retry.NewerThanAsync("An append", grant.View.Epoch, cancellationToken);
                    return Written.Unsure;
                case Status.Trimmed or Status.Corrupt:
                    // R5: the resolver propagates a trim, and finds good copies of a damaged page.
                    return Written.Unsure;
                default:
                    // The head may have it.
                    if (i > 0 || isRepeated) return Written.Unknown;
                    throw CorfuStatusException.Create(response.Status, $"Writing {grant.Position}");
            }
        }

        return Written.AtAllReplicas;
    }

    /// <summary>Sends to one replica until it answers, or the epoch has ended: Sealed.</summary>
    private ValueTask<WriteResponse> PersistAsync(
        EpochView view, NodeAddress address, WriteRequest request, CancellationToken cancellationToken) =>
        retry.RunAsync<WriteResponse>(
            "An append",
            async newest =>
            {
                if (newest != view) return new WriteResponse(Status.Sealed, newest.Epoch);
                var response = await transport.CallAsync(address, request, cancellationToken);
                if (response.Status == Status.NotInstalled)
                    response = await units.InstallAndCallAsync(view, address, request, cancellationToken);
                return MayPass(response.Status) ? response.Status : response;
            },
            cancellationToken);

    private static bool IsPastBound(AppendTerms terms, LogPosition position)
    {
        if (Planted.Is("bound-ignored")) return false;
        return position >= terms.Below;
    }

    private static bool MayPass(Status status) =>
        status is Status.NotInstalled or Status.Failed or Status.Overloaded or Status.NoSpace;

    private static ushort GraceAfter(int lost) =>
        lost < 2 ? (ushort)0 : (ushort)Math.Min(GraceMilliseconds << Math.Min(lost - 2, 16), MaxGraceMilliseconds);
}

/// <summary>Too many appends wait; this one was refused, and is not in the log. Try again later.</summary>
public sealed class LogOverloadedException(string message) : CorfuException(message);
