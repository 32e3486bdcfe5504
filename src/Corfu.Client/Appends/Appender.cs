using System.Collections.Immutable;
using System.Threading.RateLimiting;
using Corfu.Protocol;
using Corfu.Transport;
using Microsoft.Extensions.Logging;

namespace Corfu.Client;

/// <summary>
/// Appends (CORFU 2.3, 2.4). Two appends never wait for each other.
/// </summary>
/// <remarks>
/// 1. A place among the appends in flight.
/// 2. A token: a position of its own, with the backpointers of its streams.
/// 3. The entry is written down the position's chain, head to tail.
/// 4. At every replica: appended. Another value at the head: the position is lost, and the append goes back to step 2.
/// 5. Anything else is resolved (R9): appended, back to step 2, or unknown.
/// </remarks>
internal sealed class Appender(
    TokenSource tokens, ITransport transport, UnitCalls units, Resolver resolver, CommittedSet committed,
    EntryOrigins origins, Retry retry,
    ProjectionHolder projections, ProjectionRefresher refresher, ClientClock clock, CorfuClientOptions options,
    ILogger logger)
{
    private readonly ConcurrencyLimiter _inFlight = new(new ConcurrencyLimiterOptions
    {
        PermitLimit = options.MaxAppendsInFlight,
        QueueLimit = options.MaxAppendsWaiting,
    });

    private enum Written
    {
        /// <summary>At every replica.</summary>
        All,

        /// <summary>The position holds another value: ours never was and never will be in the log.</summary>
        Lost,

        /// <summary>The epoch ended, or trouble: find out.</summary>
        Unsure,

        /// <summary>Beyond finding out.</summary>
        Unknown,

        /// <summary>The head has no room: the entry is nowhere, and its position a hole.</summary>
        NoRoom,
    }

    public async ValueTask<AppendResult> AppendAsync(
        ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams, CancellationToken cancellationToken)
    {
        if (payload.Length > options.MaxPayload)
            throw new EntryTooLargeException($"A payload of {payload.Length} bytes, limit {options.MaxPayload}");
        if (streams.Length > EntryCodec.MaxStreams)
            throw new EntryTooLargeException($"{streams.Length} streams, limit {EntryCodec.MaxStreams}");
        clock.ThrowIfClosed();
        using var activity = ClientTelemetry.Activities.StartActivity("corfu.client.append");
        // 1.
        using var place = await _inFlight.AcquireAsync(1, cancellationToken);
        return place.IsAcquired
            ? await RunAsync(payload, streams, cancellationToken)
            : throw new LogOverloadedException(
                $"{options.MaxAppendsWaiting} appends wait already; this one was refused and is not in the log.");
    }

    private async ValueTask<AppendResult> RunAsync(
        ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams, CancellationToken cancellationToken)
    {
        refresher.Watch();
        var began = clock.GetTimestamp();
        for (var lost = 0; ; lost++)
        {
            // 2.
            var grant = await tokens.TakeAsync(streams, GraceAfter(lost), cancellationToken);
            if (lost >= 2) ClientTelemetry.Graces.Add(1);
            var origin = origins.Next();
            var entry = new LogEntry(
                grant.Position, origin, EntryKind.Data, clock.Time.GetUtcNow(), grant.Headers, payload);
            var bytes = EntryCodec.Encode(entry);

            // 3., 5.
            var outcome = await FinishAsync(grant, origin, bytes, cancellationToken);
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

    private async ValueTask<AppendOutcome> FinishAsync(
        TokenGrant grant, EntryOrigin origin, byte[] bytes, CancellationToken cancellationToken)
    {
        try
        {
            return await WriteAsync(grant, origin, bytes, cancellationToken) switch
            {
#if PLANTED
                Written.Unsure when Planted.Is("retry-without-resolving") => AppendOutcome.NotAppended,
#endif
                Written.All => AppendOutcome.Appended,
                Written.Lost => AppendOutcome.NotAppended,
                Written.NoRoom => throw CorfuException.FromStatus(Status.NoSpace, $"Writing {grant.Position}"),
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

    /// <summary>
    /// The writer's own way down the chain. Within its epoch it may send its entry as often as it likes: a replica that
    /// has it says so by its origin. R9: after its epoch it never sends it again.
    /// </summary>
    private async ValueTask<Written> WriteAsync(
        TokenGrant grant, EntryOrigin origin, byte[] bytes, CancellationToken cancellationToken)
    {
        var projection = grant.View.Projection;
        var chain = projection.ChainOf(grant.Position);
        var request = new WriteRequest(grant.View.Epoch, bytes);
        for (var i = 0; i < chain.Replicas.Length; i++)
        {
            // R9; and a unit that has left the projection might not answer at all.
            if (projections.Current != grant.View) return Written.Unsure;
            var address = projection.AddressOf(chain.Replicas[i].Unit);
            WriteResponse response;
            try
            {
                response = await transport.CallAsync(address, request, cancellationToken);
                if (response.Status == Status.NoSpace && i == 0) return Written.NoRoom;
            }
            catch (TransportException)
            {
                response = await PersistAsync(grant.View, address, request, cancellationToken);
            }

            if (MayPass(response.Status))
                response = await PersistAsync(grant.View, address, request, cancellationToken);

            switch (response.Status)
            {
                case Status.Ok:
#if PLANTED
                    if (Planted.Is("ack-at-head")) return Written.All;
#endif
                    continue;
                case Status.AlreadyWritten when response.StoredOrigin == origin:
                    continue;
#if PLANTED
                case Status.AlreadyWritten when Planted.Is("already-written-is-mine"):
                    continue;
#endif
                case Status.AlreadyWritten when i == 0:
                    return Written.Lost;
                case Status.AlreadyWritten:
                    // The head took ours, so nobody can have put anything else behind it in this epoch.
                    ClientLog.Diverged(logger, grant.Position.ToString());
                    return Written.Unknown;
                case Status.Sealed:
                    // What became of the entry is asked under the next epoch: this one has nothing more to say.
                    if (projections.Current == grant.View)
                        await retry.NewerThanAsync("An append", grant.View.Epoch, cancellationToken);
                    return Written.Unsure;
                case Status.Trimmed or Status.Corrupt:
                    // R5: the resolver brings a trim it meets to the whole chain, and finds good copies of a damaged
                    // page.
                    return Written.Unsure;
                default:
                    throw CorfuException.FromStatus(response.Status, $"Writing {grant.Position}");
            }
        }

        return Written.All;
    }

    /// <summary>
    /// Sends to one replica until it answers or the epoch has ended, which the caller hears as Sealed.
    /// </summary>
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

    private static bool MayPass(Status status) =>
        status is Status.NotInstalled or Status.Failed or Status.Overloaded or Status.NoSpace;

    // R10: a writer that has lost twice in a row asks fillers to wait longer.
    private ushort GraceAfter(int lost) => lost < 2
        ? (ushort)0
        : (ushort)Math.Min(
            options.Grace.TotalMilliseconds * Math.Pow(2, Math.Min(lost - 2, 16)), options.MaxGrace.TotalMilliseconds);
}

/// <summary>
/// The client has as many appends waiting as it may; this one was refused, and is not in the log. Try again later.
/// </summary>
public sealed class LogOverloadedException(string message) : CorfuException(message);
