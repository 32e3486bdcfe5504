using Corfu.Client.Layout;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Corfu.Client;

/// <summary>The shared log over a cluster. One instance serves a whole process: all calls may run concurrently, and
/// share tokens, checks and confirmations.</summary>
public sealed partial class CorfuClient : IDelegatedLog, IAsyncDisposable
{
    private readonly ITransport _transport;
    private readonly ClientClock _clock;
    private readonly CorfuClientOptions _options;
    private readonly ProjectionHolder _projections;
    private readonly ProjectionRefresher _refresher;
    private readonly LayoutClient _layout;
    private readonly Reconfigurer _reconfigurer;
    private readonly UnitCalls _units;
    private readonly LogEnds _ends;
    private readonly FrozenTails _frozen;
    private readonly StreamHandOver _handOver;
    private readonly Retry _retry;
    private readonly Appender _appender;
    private readonly Resolver _resolver;
    private readonly Reader _reader;
    private readonly ReplicaAuditor _auditor;
    private readonly Trimmer _trimmer;
    private readonly ChainReplication _chains;
    private readonly HoleCloser _closer;
    private readonly Checker _linearizable;
    private readonly Checker _session;
    private readonly Settler _settler;
    private IDisposable? _ownedTransport;

    /// <param name="projection">A decided projection of the cluster; newer ones are learnt.</param>
    /// <param name="transport">Stays the caller's.</param>
    /// <param name="loops">Runs the work that callers share. Null: the thread pool.</param>
    public CorfuClient(Projection projection, ITransport transport, TimeProvider time, IEntropy entropy,
        CorfuClientOptions? options = null, ILogger? logger = null, LoopContext? loops = null)
    {
        options ??= CorfuClientOptions.Default;
        options.Validate();
        logger ??= NullLogger.Instance;
        _transport = transport;
        _options = options;

        // Used by all parts: the clock, the projection, the calls to nodes.
        _clock = new ClientClock(time, loops ?? LoopContext.Pool);
        _layout = new LayoutClient(transport, entropy, time, options.Layout);
        _reconfigurer = new Reconfigurer(transport, _layout, time, logger, options.Reconfiguration);
        _projections = new ProjectionHolder(projection, time.TimestampFrequency / 4000);
        _refresher = new ProjectionRefresher(_projections, _layout, _reconfigurer, transport, _clock, options, logger);
        _retry = new Retry(_projections, _refresher, _clock, entropy, options);
        _units = new UnitCalls(transport, _projections, _clock);
        var sequencer = new SequencerCalls(transport, _projections);
        _ends = new LogEnds(_units);
        _frozen = new FrozenTails(_units);
        _handOver = new StreamHandOver(sequencer, _frozen, _clock);

        // Chains and holes.
        var origins = new EntryOrigins(entropy, time);
        var confirmer = new EpochConfirmer(_units, _layout, _clock, options);
        var committed = new CommittedSet();
        _chains = new ChainReplication(_units, logger);
        var granted = new GrantedTail(sequencer, confirmer, new TailCap(_layout), _clock);
        _closer = new HoleCloser(_units, sequencer, _chains, origins, _projections, _clock, options);
        var repair = new ReadRepair(_units, _chains, _projections, _clock, logger);

        // A part for each operation.
        var tokens = new TokenSource(_retry, _handOver, _clock);
        _resolver = new Resolver(_retry, _chains, granted, _closer, origins, _projections, _clock);
        _appender = new Appender(tokens, transport, _units, _resolver, committed, origins, _retry, _projections,
            _refresher, _clock, options, logger);
        _reader = new Reader(_units, _chains, _closer, confirmer, committed, repair, _retry, _clock, options, logger);
        _auditor = new ReplicaAuditor(_units, repair, _retry);
        _trimmer = new Trimmer(_units, granted, _chains, _retry);
        var slow = new SlowChecker(_ends, _reader, _frozen, _projections, _clock);
        _linearizable = new Checker(_retry, _handOver, slow, confirmer, _clock, options);
        _session = new Checker(_retry, _handOver, slow, null, _clock, options);
        _settler = new Settler(
            _linearizable, tokens, _reader, granted, _retry, _projections, _clock, options);
    }

    /// <summary>The newest projection this client knows.</summary>
    public Projection Projection => _projections.Current.Projection;

    public int MaxPayload => _options.MaxPayload;

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
            : throw new ArgumentOutOfRangeException(
                nameof(position), position, "Only granted positions are filled, and this one is not.");
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

    /// <summary>Compares all full replicas of the positions [from, from + count), payloads included, and gives lost or
    /// damaged pages back from good copies. For scrubs; positions below the log's beginning count as trimmed.</summary>
    /// <param name="count">At most <see cref="MessageLimits.MaxItems"/>.</param>
    public ValueTask<ReplicaAudit> AuditReplicasAsync(
        LogPosition from, int count, CancellationToken cancellationToken = default) =>
        _auditor.AuditAsync(from, count, cancellationToken);

    /// <summary>Ends all calls under way: appends with their outcome unknown, the rest with an error.</summary>
    public ValueTask DisposeAsync()
    {
        _clock.Close();
        _ownedTransport?.Dispose();
        return ValueTask.CompletedTask;
    }
}
