using System.Threading.RateLimiting;
using Corfu.Client;
using Corfu.Grpc.Protocol;
using Corfu.Grpc.Protocol.Log.V1;
using Grpc.Core;
using ReadRequest = Corfu.Grpc.Protocol.Log.V1.ReadRequest;

namespace Corfu.Grpc.Client;

/// <summary>The shared log through gRPC front ends, for programs that reach nothing else of it. Calls go to one
/// front end, and to the next one when it fails. Appends share one call, several entries a message.</summary>
/// <remarks>An append whose connection breaks before its answer is <see cref="AppendOutcome.Unknown"/> without a
/// position. <see cref="ResolveAsync"/> of the same instance finds its entry by its origin, or makes sure that it never
/// comes.</remarks>
public sealed class GrpcCorfuLog : ICorfuLog, IAsyncDisposable
{
    private readonly FrontEnds _frontEnds;
    private readonly CancellationTokenSource _closed = new();
    private readonly LogCalls _calls;
    private readonly AppendPipe _appends;
    private readonly ConcurrencyLimiter _inFlight;
    private readonly LostAppends _lost = new();

    // R9: random for this instance.
    private readonly WriterId _writer = new(SystemEntropy.Instance.NewGuid());
    private long _sequence;
    private int _maxPositions;
    private int _disposed;

    private GrpcCorfuLog(string addresses, GrpcLogOptions options)
    {
        _frontEnds = new FrontEnds(addresses, options);
        _calls = new LogCalls(_frontEnds, options, _closed.Token);
        _appends = new AppendPipe(_frontEnds, options, _closed.Token);
        _frontEnds.Renewed += _appends.Renew;
        _inFlight = new ConcurrencyLimiter(new ConcurrencyLimiterOptions
        {
            PermitLimit = options.MaxAppendsInFlight,
            QueueLimit = options.MaxAppendsWaiting,
        });
    }

    public int MaxPayload { get; private set; }

    /// <param name="addresses"><c>http://host:port,...</c>, as <c>corfu cluster up --grpc</c> prints them.</param>
    /// <exception cref="FormatException">An address is malformed.</exception>
    /// <exception cref="CertificateException">The folder of certificates cannot be used.</exception>
    /// <exception cref="CorfuDeniedException">The front ends refuse the caller.</exception>
    /// <exception cref="LogUnavailableException">No front end answers within
    /// <see cref="GrpcLogOptions.OperationTimeout"/>.</exception>
    public static async Task<GrpcCorfuLog> ConnectAsync(
        string addresses, GrpcLogOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(addresses);
        options ??= GrpcLogOptions.Default;
        options.Validate();
        var log = new GrpcCorfuLog(addresses, options);
        try
        {
            var limits = await log._calls.RunAsync(
                static (client, call) => client.DescribeAsync(new DescribeRequest(), call).ResponseAsync,
                cancellationToken);
            (log.MaxPayload, log._maxPositions) = (limits.MaxPayload, Math.Max(1, limits.MaxPositions));
            log._frontEnds.Headers.Add(FrontEndHeaders.ClusterId, limits.ClusterId);
            log._appends.Start();
            return log;
        }
        catch
        {
            await log.DisposeAsync();
            throw;
        }
    }

    public ValueTask<Corfu.AppendResult> AppendAsync(ReadOnlyMemory<byte> payload,
        ImmutableArray<StreamId> streams, CancellationToken cancellationToken = default)
    {
        StreamRangeException.ThrowIfNotRaw(streams);
        return AppendAsync(payload, streams, toObjects: false, cancellationToken);
    }

    public ValueTask<Corfu.AppendResult> AppendToObjectsAsync(ReadOnlyMemory<byte> payload,
        ImmutableArray<StreamId> streams, CancellationToken cancellationToken = default)
    {
        StreamRangeException.ThrowIfRaw(streams);
        return AppendAsync(payload, streams, toObjects: true, cancellationToken);
    }

    /// <inheritdoc/>
    /// <remarks>An append whose answer never came is looked for by its origin. That moves the log's tail, by up to some
    /// thousand positions where nothing else is appended.</remarks>
    public async ValueTask<AppendOutcome> ResolveAsync(
        Corfu.AppendResult unknown, CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        if (unknown.Outcome != AppendOutcome.Unknown || unknown.Origin == default) return unknown.Outcome;
        if (unknown.Position.Epoch == Epoch.None) return await SettleAsync(unknown.Origin, cancellationToken);
        var request = new ResolveRequest
        {
            Position = Messages.ToMessage(unknown.Position),
            Origin = Messages.ToMessage(unknown.Origin),
        };
        var response = await _calls.RunAsync(
            (client, call) => client.ResolveAsync(request, call).ResponseAsync, cancellationToken);
        return Messages.OutcomeOf(response.Outcome);
    }

    public async ValueTask<ImmutableArray<LogReadResult>> ReadManyAsync(
        ImmutableArray<LogPosition> positions, ReadDetail detail = ReadDetail.Full,
        ReadMode mode = ReadMode.CloseHoles, CancellationToken cancellationToken = default)
    {
        var results = ImmutableArray.CreateBuilder<LogReadResult>(positions.Length);
        for (var from = 0; from < positions.Length; from += _maxPositions)
        {
            var request = new ReadRequest
            {
                Detail = Messages.ToMessage(detail),
                Mode = mode == ReadMode.Observe ? Mode.Observe : Mode.CloseHoles,
            };
            foreach (var position in positions.AsSpan(from, Math.Min(_maxPositions, positions.Length - from)))
                request.Offsets.Add(position.Offset);
            var read = await _calls.RunAsync(
                (client, call) => ReadAsync(client, request, call), cancellationToken);
            results.AddRange(read);
        }

        return results.DrainToImmutable();
    }

    public async ValueTask<LogCheck> CheckAsync(ImmutableArray<StreamId> streams,
        ReadConsistency consistency = ReadConsistency.Linearizable, CancellationToken cancellationToken = default)
    {
        var request = new CheckRequest
        {
            Consistency = consistency == ReadConsistency.Session ? Consistency.Session : Consistency.Linearizable,
        };
        foreach (var stream in streams) request.StreamIds.Add(stream.Value);
        var response = await _calls.RunAsync(
            (client, call) => client.CheckAsync(request, call).ResponseAsync, cancellationToken);
        return new LogCheck(Messages.PositionOf(response.Tail), [.. response.Streams.Select(Messages.TailOf)]);
    }

    public async ValueTask<LogReadResult> FillAsync(
        LogPosition position, CancellationToken cancellationToken = default)
    {
        var request = new Protocol.Log.V1.FillRequest { Position = Messages.ToMessage(position) };
        var response = await _calls.RunAsync(
            (client, call) => client.FillAsync(request, call).ResponseAsync, cancellationToken);
        return Messages.ResultOf(response.Result);
    }

    public async ValueTask TrimAsync(LogPosition position, CancellationToken cancellationToken = default)
    {
        var request = new Protocol.Log.V1.TrimRequest { Position = Messages.ToMessage(position) };
        await _calls.RunAsync((client, call) => client.TrimAsync(request, call).ResponseAsync, cancellationToken);
    }

    public async ValueTask TrimPrefixAsync(LogPosition below, CancellationToken cancellationToken = default)
    {
        var request = new Protocol.Log.V1.TrimPrefixRequest { Below = Messages.ToMessage(below) };
        await _calls.RunAsync(
            (client, call) => client.TrimPrefixAsync(request, call).ResponseAsync, cancellationToken);
    }

    /// <summary>Ends all calls under way: appends that were sent with their outcome unknown, the rest with an
    /// error.</summary>
    public async ValueTask DisposeAsync()
    {
        if (Interlocked.Exchange(ref _disposed, 1) != 0) return;
        await _closed.CancelAsync();
        await _appends.CloseAsync();
        _frontEnds.Dispose();
        await _inFlight.DisposeAsync();
    }

    private async ValueTask<AppendOutcome> SettleAsync(EntryOrigin origin, CancellationToken cancellationToken)
    {
        if (!_lost.TryGet(origin, out var bounds)) return AppendOutcome.Unknown;
        var request = new SettleRequest
        {
            Origins = { Messages.ToMessage(origin) },
            Since = Messages.ToMessage(bounds.From),
            BelowOffset = bounds.Below.Offset,
        };
        var response = await _calls.RunAsync(
            (client, call) => client.SettleAsync(request, call).ResponseAsync, cancellationToken);
        return Messages.OutcomeOf(response.Results[0].Outcome);
    }

    private static async Task<List<LogReadResult>> ReadAsync(
        LogService.LogServiceClient client, ReadRequest request, CallOptions options)
    {
        using var call = client.Read(request, options);
        var results = new List<LogReadResult>(request.Offsets.Count);
        while (await call.ResponseStream.MoveNext(options.CancellationToken))
        {
            foreach (var result in call.ResponseStream.Current.Results) results.Add(Messages.ResultOf(result));
        }

        return results;
    }

    private async ValueTask<Corfu.AppendResult> AppendAsync(ReadOnlyMemory<byte> payload,
        ImmutableArray<StreamId> streams, bool toObjects, CancellationToken cancellationToken)
    {
        if (payload.Length > MaxPayload)
            throw new EntryTooLargeException($"A payload of {payload.Length} bytes, limit {MaxPayload}");
        if (streams.Length > EntryLimits.MaxStreams)
            throw new EntryTooLargeException($"{streams.Length} streams, limit {EntryLimits.MaxStreams}");
        cancellationToken.ThrowIfCancellationRequested();
        ObjectDisposedException.ThrowIf(_closed.IsCancellationRequested, this);
        using var place = await _inFlight.AcquireAsync(1, cancellationToken);
        // Appends that wait for a place when the log is disposed get none.
        ObjectDisposedException.ThrowIf(_closed.IsCancellationRequested, this);
        if (!place.IsAcquired)
            throw new LogOverloadedException("Too many appends wait; this one was refused and is not in the log.");
        var origin = new EntryOrigin(_writer, Interlocked.Increment(ref _sequence));
        var append = new PendingAppend(payload, streams, toObjects, origin, _lost);
        await using var cancelled = cancellationToken.UnsafeRegister(
            static (state, token) => ((PendingAppend)state!).Cancel(token), append);
        _appends.Add(append);
        return await append.Task;
    }
}
