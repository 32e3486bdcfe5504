using Microsoft.Extensions.Logging;

namespace Corfu.Client;

/// <summary>The shared log over a cluster. One instance serves a whole process: all calls may run concurrently, and
/// share tokens, checks and confirmations.</summary>
public sealed partial class CorfuClient : IDelegatedLog, IAsyncDisposable
{
    private readonly ClientClock _clock;
    private readonly ProjectionHolder _projections;
    private readonly LogEnds _ends;
    private readonly Retry _retry;
    private readonly Appender _appender;
    private readonly Resolver _resolver;
    private readonly Reader _reader;
    private readonly Trimmer _trimmer;
    private readonly HoleCloser _closer;
    private readonly Checker _linearizable;
    private readonly Checker _session;
    private readonly Settler _settler;
    private IDisposable? _ownedTransport;
    private IDisposable? _ownedTls;

    /// <param name="projection">A decided projection of the cluster; newer ones are learnt.</param>
    /// <param name="transport">Stays the caller's.</param>
    /// <param name="loops">Runs the work that callers share. Null: the thread pool.</param>
    public CorfuClient(Projection projection, ITransport transport, TimeProvider time, IEntropy entropy,
        CorfuClientOptions? options = null, ILogger? logger = null, LoopContext? loops = null)
    {
        var parts = new ClientParts(projection, transport, time, entropy, options, logger, loops);
        options = parts.Options;
        _clock = parts.Clock;
        _projections = parts.Projections;
        _ends = parts.Ends;
        _retry = parts.Retry;
        _closer = parts.Closer;
        _reader = parts.Reader;
        Cluster = new ClusterClient(parts);
        MaxPayload = options.MaxPayload;

        // A part for each operation.
        var granted = new GrantedTail(parts.Sequencer, parts.Confirmer, new TailCap(parts.Layout));
        var tokens = new TokenSource(_retry, parts.Sequencer, _clock);
        _resolver = new Resolver(_retry, parts.Chains, granted, _closer, parts.Origins, _projections, _clock);
        var writer = new ChainWriter(parts.Units, _resolver, _retry, _projections, parts.Logger);
        _appender = new Appender(
            tokens, writer, parts.Committed, parts.Origins, _projections, parts.Refresher, _clock, options);
        _trimmer = new Trimmer(granted, parts.Chains, parts.Marks, _retry);
        var slow = new SlowChecker(_ends, _reader, parts.Frozen, _projections, _clock);
        _linearizable = new Checker(_retry, parts.Sequencer, slow, parts.Confirmer, _clock, options);
        _session = new Checker(_retry, parts.Sequencer, slow, null, _clock, options);
        _settler = new Settler(_linearizable, tokens, _reader, granted, _retry, _projections, _clock, options);
        ClientGauges.Clients.Add(this);
    }

    /// <summary>The cluster under the log, for operators and tools. It shares this client's projection, and ends with
    /// this client.</summary>
    public ClusterClient Cluster { get; }

    /// <summary>The newest projection this client knows.</summary>
    public Projection Projection => _projections.Current.Projection;

    public int MaxPayload { get; }

    internal long AppendsInFlight => _appender.InFlight;

    internal long AppendsWaiting => _appender.Waiting;

    public ValueTask<AppendResult> AppendAsync(ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams,
        CancellationToken cancellationToken = default)
    {
        StreamRangeException.ThrowIfNotRaw(streams);
        return _appender.AppendAsync(payload, streams, default, cancellationToken);
    }

    public ValueTask<AppendResult> AppendAsync(ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams,
        AppendTerms terms, CancellationToken cancellationToken)
    {
        StreamRangeException.ThrowIfNotRaw(streams);
        return _appender.AppendAsync(payload, streams, terms, cancellationToken);
    }

    public ValueTask<AppendResult> AppendToObjectsAsync(ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams,
        CancellationToken cancellationToken = default)
    {
        StreamRangeException.ThrowIfRaw(streams);
        return _appender.AppendAsync(payload, streams, default, cancellationToken);
    }

    public ValueTask<FollowedAppend> AppendFollowedAsync(ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams,
        ImmutableArray<StreamId> followed, CancellationToken cancellationToken = default)
    {
        StreamRangeException.ThrowIfRaw(streams);
        return _appender.AppendAsync(payload, streams, default, followed, cancellationToken);
    }

    public ValueTask<DecidedAppend> AppendDecidedAsync(ImmutableArray<StreamId> streams, Declaration declaration,
        int largest, Func<Ruling?, ReadOnlyMemory<byte>?> payload, ImmutableArray<StreamId> followed,
        CancellationToken cancellationToken = default)
    {
        StreamRangeException.ThrowIfRaw(streams);
        return _appender.AppendDecidedAsync(streams, declaration, largest, payload, followed, cancellationToken);
    }

    public ValueTask<AppendResult> AppendToObjectsAsync(ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams,
        AppendTerms terms, CancellationToken cancellationToken)
    {
        StreamRangeException.ThrowIfRaw(streams);
        return _appender.AppendAsync(payload, streams, terms, cancellationToken);
    }

    public ValueTask<ImmutableArray<AppendResult>> SettleAsync(ImmutableArray<EntryOrigin> origins, LogPosition from,
        LogPosition below, CancellationToken cancellationToken) =>
        _settler.SettleAsync(origins, from, below, cancellationToken);

    public ValueTask<AppendOutcome> ResolveAsync(AppendResult unknown, CancellationToken cancellationToken = default) =>
        unknown.Outcome == AppendOutcome.Unknown
            ? _resolver.ResolveAsync(unknown.Position, unknown.Origin, cancellationToken)
            : ValueTask.FromResult(unknown.Outcome);

    public ValueTask<ImmutableArray<LogReadResult>> ReadManyAsync(
        ImmutableArray<LogPosition> positions, ReadDetail detail = ReadDetail.Full,
        ReadMode mode = ReadMode.CloseHoles, CancellationToken cancellationToken = default) =>
        _reader.ReadManyAsync(positions, detail, mode, cancellationToken);

    public ValueTask<LogCheck> CheckAsync(ImmutableArray<StreamId> streams,
        ReadConsistency consistency = ReadConsistency.Linearizable, CancellationToken cancellationToken = default) =>
        (consistency == ReadConsistency.Linearizable ? _linearizable : _session).CheckAsync(streams, cancellationToken);

    public async ValueTask<LogReadResult> FillAsync(LogPosition position, CancellationToken cancellationToken = default)
    {
        var read = await _reader.ReadManyAsync([position], ReadDetail.Full, ReadMode.Observe, cancellationToken);
        if (read[0].State != PageState.Unwritten) return read[0];
        var closed = await _retry.RunAsync($"Filling {position}",
            view => _closer.CloseAsync(view, [position], patient: false, cancellationToken), cancellationToken);
        return closed.TryGetValue(position, out var result)
            ? result
            : throw new PositionNotGrantedException("Only granted positions are filled, and this one is not.");
    }

    public ValueTask TrimAsync(LogPosition position, CancellationToken cancellationToken = default) =>
        _trimmer.TrimAsync(position, cancellationToken);

    public ValueTask TrimPrefixAsync(LogPosition below, CancellationToken cancellationToken = default) =>
        _trimmer.TrimPrefixAsync(below, cancellationToken);

    /// <summary>The prefix trim mark: everything below is released, or is being released. A client that has been away
    /// learns here, or from any read below, that it must start from a checkpoint.</summary>
    public ValueTask<LogPosition> ReadTrimMarkAsync(CancellationToken cancellationToken = default) =>
        _retry.RunAsync<LogPosition>("Reading the trim mark",
            async view => (await _ends.AskActiveAsync(view, cancellationToken)).Extent.TrimMark, cancellationToken);

    /// <summary>Ends all calls under way: appends with their outcome unknown, the rest with an error.</summary>
    public ValueTask DisposeAsync()
    {
        ClientGauges.Clients.Remove(this);
        _clock.Close();
        _ownedTransport?.Dispose();
        _ownedTls?.Dispose();
        return ValueTask.CompletedTask;
    }
}
