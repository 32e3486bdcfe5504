using System.Threading.RateLimiting;

namespace Corfu.Client;

/// <summary>Appends (CORFU 2.3, 2.4). Two appends never wait for each other.</summary>
/// <remarks>
/// 1. A place among the appends in flight.
/// 2. A token: a position of its own, with the backpointers of its streams.
/// 3. The entry is written down the position's chain, head to tail, and resolved where the replicas do not tell (R9).
/// <see cref="ChainWriter"/> repeats requests within the epoch, with the pauses of <see cref="Retry"/>.
/// 4. Appended or unknown: the append ends. Not appended: the position is lost, and the append begins again at step 2.
/// A token at or above the caller's bound is left as a hole, and the append ends: it is not in the log, and never will
/// be.
/// </remarks>
internal sealed class Appender(TokenSource tokens, ChainWriter writer, CommittedSet committed, EntryOrigins origins,
    ProjectionHolder projections, ProjectionRefresher refresher, ClientClock clock, CorfuClientOptions options)
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

    public long InFlight => options.MaxAppendsInFlight - (_inFlight.GetStatistics()?.CurrentAvailablePermits ?? 0);

    public long Waiting => _inFlight.GetStatistics()?.CurrentQueuedCount ?? 0;

    public async ValueTask<AppendResult> AppendAsync(
        ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams, AppendTerms terms,
        CancellationToken cancellationToken) =>
        (await AppendAsync(payload, streams, terms, null, cancellationToken)).Result;

    /// <param name="followed">Streams that the caller plays. Null: it does not play the entry.</param>
    public async ValueTask<FollowedAppend> AppendAsync(
        ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams, AppendTerms terms,
        ImmutableArray<StreamId>? followed, CancellationToken cancellationToken)
    {
        Check(payload.Length, streams);
        using var activity = ClientTelemetry.Activities.StartActivity("corfu.client.append");
        Count(payload.Length);
        try
        {
            using var place = Require(await _inFlight.AcquireAsync(1, cancellationToken));
            return await RunAsync(payload, streams, terms, followed, cancellationToken);
        }
        finally
        {
            Interlocked.Add(ref _bytes, -payload.Length);
        }
    }

    /// <summary>As <see cref="ICorfuLog.AppendDecidedAsync"/>.</summary>
    /// <param name="followed">Streams that the caller plays.</param>
    public async ValueTask<DecidedAppend> AppendDecidedAsync(ImmutableArray<StreamId> streams, Declaration declaration,
        int largest, Func<Ruling?, ReadOnlyMemory<byte>?> payload, ImmutableArray<StreamId> followed,
        CancellationToken cancellationToken)
    {
        Check(largest, streams);
        Check(declaration, streams);
        using var activity = ClientTelemetry.Activities.StartActivity("corfu.client.append");
        Count(largest);
        try
        {
            using var place = Require(await _inFlight.AcquireAsync(1, cancellationToken));
            return await RunDecidedAsync(streams, declaration, largest, payload, followed, cancellationToken);
        }
        finally
        {
            Interlocked.Add(ref _bytes, -largest);
        }
    }

    private void Check(int length, ImmutableArray<StreamId> streams)
    {
        if (length > options.MaxPayload)
            throw new EntryTooLargeException($"A payload of {length} bytes, limit {options.MaxPayload}");
        if (streams.Length > EntryLimits.MaxStreams)
            throw new EntryTooLargeException($"{streams.Length} streams, limit {EntryLimits.MaxStreams}");
        if (!StreamId.AreDistinct(streams.AsSpan()))
            throw new ArgumentException("A stream is named twice.", nameof(streams));
        clock.ThrowIfClosed();
    }

    private static void Check(Declaration declaration, ImmutableArray<StreamId> streams)
    {
        if (declaration.IsTooLarge)
            throw new ArgumentException("An entry declares more than a request may.", nameof(declaration));
        foreach (var record in declaration.Records)
        {
            if (record.Writes.IsEmpty || record.Writes.Any(write => !streams.Contains(write.Stream)))
                throw new ArgumentException("A record writes streams of its entry.", nameof(declaration));
        }
    }

    // 1.
    private void Count(int length)
    {
        if (Interlocked.Add(ref _bytes, length) is var bytes && (bytes <= options.MaxAppendBytesWaiting
            || bytes <= length)) return;
        Interlocked.Add(ref _bytes, -length);
        throw new LogOverloadedException(
            $"Appends of {bytes - length} bytes wait already; this one was refused and is not in the log.");
    }

    private RateLimitLease Require(RateLimitLease place) =>
        place.IsAcquired
            ? place
            : throw new LogOverloadedException(
                $"{options.MaxAppendsWaiting} appends wait already; this one was refused and is not in the log.");

    private async ValueTask<FollowedAppend> RunAsync(ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams,
        AppendTerms terms, ImmutableArray<StreamId>? followed, CancellationToken cancellationToken)
    {
        refresher.Watch();
        var besides = followed?.RemoveRange(streams) ?? [];
        var began = clock.GetTimestamp();
        for (var lost = 0; ; lost++)
        {
            // Grants of an epoch only rise: with the bound reached, each further position would only be left as a hole.
            var origin = terms.Origin ?? origins.Next();
            var granted = new LogPosition(projections.Current.Grants.Tail);
            if (IsPastBound(terms, granted))
                return new FollowedAppend(new AppendResult(AppendOutcome.NotAppended, granted, origin), null);

            // 2.
            var grant = await tokens.TakeAsync(
                streams, besides, null, GraceAfter(lost), neverBlocks: true, cancellationToken);
            if (lost >= 2) ClientTelemetry.Graces.Add(1);
            if (IsPastBound(terms, grant.Position))
            {
                // Leaves the thread that receives from the sequencer, which the caller's code must not block.
                await Task.Yield();
                return new FollowedAppend(new AppendResult(AppendOutcome.NotAppended, grant.Position, origin), null);
            }

            if (await WriteAsync(grant, origin, payload, began, followed is null ? null : besides.Length,
                cancellationToken) is { } done)
                return done;
            GiveUpAfter(lost, began);
        }
    }

    private async ValueTask<DecidedAppend> RunDecidedAsync(ImmutableArray<StreamId> streams, Declaration declaration,
        int largest, Func<Ruling?, ReadOnlyMemory<byte>?> payload, ImmutableArray<StreamId> followed,
        CancellationToken cancellationToken)
    {
        refresher.Watch();
        var besides = followed.RemoveRange(streams);
        var began = clock.GetTimestamp();
        for (var lost = 0; ; lost++)
        {
            var origin = origins.Next();
            var grant = await tokens.TakeAsync(
                streams, besides, declaration, GraceAfter(lost), neverBlocks: false, cancellationToken);
            if (lost >= 2) ClientTelemetry.Graces.Add(1);
            if (grant.Ruling is { IsGranted: false }) return new DecidedAppend(grant.Ruling, null);

            // R28: the payload says what was ruled at this position. Without one the position is left as a hole.
            if (payload(grant.Ruling) is not { } bytes) return new DecidedAppend(grant.Ruling, null);
            if (bytes.Length > largest)
                throw new ArgumentException("The payload is larger than was said.", nameof(payload));
            if (await WriteAsync(grant, origin, bytes, began, besides.Length, cancellationToken) is { } done)
                return new DecidedAppend(grant.Ruling, done);
            if (declaration.IsDecided && !Planted.Is("retry-keeps-its-ruling"))
            {
                var result = new AppendResult(AppendOutcome.NotAppended, grant.Position, origin);
                return new DecidedAppend(grant.Ruling, new FollowedAppend(result, null));
            }

            GiveUpAfter(lost, began);
        }
    }

    /// <summary>Step 3.</summary>
    /// <param name="besides">Streams whose tails the token was asked for. Null: the caller does not play the
    /// entry.</param>
    /// <returns>Null: the position is lost.</returns>
    private async ValueTask<FollowedAppend?> WriteAsync(TokenGrant grant, EntryOrigin origin,
        ReadOnlyMemory<byte> payload, long began, int? besides, CancellationToken cancellationToken)
    {
        var entry = EntryCodec.Encode(new LogEntry(
            grant.Position, origin, EntryKind.Data, clock.Time.GetUtcNow(), grant.Headers, payload));
        AppendOutcome outcome;
        try
        {
            // As above, also where the write is done before it is awaited.
            outcome = await writer.WriteAsync(grant.View, entry, cancellationToken).AsTask()
                .ConfigureAwait(ConfigureAwaitOptions.ForceYielding | ConfigureAwaitOptions.ContinueOnCapturedContext);
        }
        catch (Exception e)
            when (e is OperationCanceledException or LogUnavailableException or ObjectDisposedException)
        {
            // After the grant the entry may be anywhere: the third outcome (R9).
            outcome = AppendOutcome.Unknown;
        }

        var result = new AppendResult(outcome, grant.Position, origin) { Headers = grant.Headers };
        switch (outcome)
        {
            case AppendOutcome.Appended:
                committed.Add(grant.Position);
                ClientTelemetry.AppendSize.Record(payload.Length);
                ClientTelemetry.AppendTime.Record(clock.GetElapsedTime(began).TotalSeconds);
                return new FollowedAppend(result, besides is { } told ? Place(grant, entry, told) : null);
            case AppendOutcome.Unknown:
                ClientTelemetry.AppendUnknown.Add(1);
                return new FollowedAppend(result, null);
            default:
                ClientTelemetry.AppendLost.Add(1);
                return null;
        }
    }

    // Step 4.
    private void GiveUpAfter(int lost, long began)
    {
        if (clock.GetElapsedTime(began) >= options.OperationTimeout)
            throw new LogUnavailableException(
                $"An append lost {lost + 1} positions one after another and was given up; it is not in the log.");
    }

    /// <summary>The entry as readers decode it, behind what the token's answer told.</summary>
    private static AppendedEntry? Place(TokenGrant grant, byte[] entry, int besides)
    {
        if (grant.Besides.Length != besides) return null;
        var tails = ImmutableArray.CreateBuilder<StreamTail>(grant.Headers.Length + besides);
        foreach (var (stream, backpointers) in grant.Headers)
            tails.Add(new StreamTail(
                stream, [grant.Position, .. backpointers.Take(StreamHeader.MaxBackpointers - 1)]));
        tails.AddRange(grant.Besides);
        return new AppendedEntry(
            EntryCodec.Decode(entry), new LogCheck(grant.Position.Next, tails.MoveToImmutable()));
    }

    private static bool IsPastBound(AppendTerms terms, LogPosition position)
    {
        if (Planted.Is("bound-ignored")) return false;
        return position >= terms.Below;
    }

    private static ushort GraceAfter(int lost) =>
        lost < 2 ? (ushort)0 : (ushort)Math.Min(GraceMilliseconds << Math.Min(lost - 2, 16), MaxGraceMilliseconds);
}

/// <summary>Too many appends wait; this one was refused, and is not in the log. Try again later.</summary>
public sealed class LogOverloadedException(string message) : CorfuException(message);
