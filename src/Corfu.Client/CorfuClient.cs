using System.Collections.Immutable;
using Corfu.Protocol;
using Corfu.Transport;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Corfu.Client;

/// <summary>
/// The shared log over a cluster. One instance serves a whole process: all calls may run concurrently, and share tokens, checks and
/// confirmations.
/// </summary>
public sealed partial class CorfuClient : ICorfuLog, IAsyncDisposable
{
    private readonly ClientCore _core;
    private readonly Appender _appender;
    private readonly Resolver _resolver;
    private readonly Reader _reader;
    private readonly ReplicaAuditor _auditor;
    private readonly Trimmer _trimmer;
    private readonly ChainWorker _chains;
    private readonly HoleCloser _closer;
    private readonly Checker _linearizable;
    private readonly Checker _session;
    private IDisposable? _ownedTransport;

    /// <param name="projection">A decided projection of the cluster; newer ones are learnt.</param>
    /// <param name="transport">Stays the caller's.</param>
    public CorfuClient(
        Projection projection,
        ITransport transport,
        TimeProvider time,
        IEntropy entropy,
        CorfuClientOptions? options = null,
        ILogger? logger = null)
    {
        options ??= CorfuClientOptions.Default;
        options.Validate();
        _core = new ClientCore(projection, transport, time, entropy, logger ?? NullLogger.Instance, options);
        _chains = new ChainWorker(_core);
        var confirmer = new EpochConfirmer(_core);
        var committed = new CommittedSet();
        var mender = new Mender(_core, _chains);
        _resolver = new Resolver(_core, _chains);
        _appender = new Appender(_core, _resolver, committed);
        _closer = new HoleCloser(_core, _chains);
        _reader = new Reader(_core, _chains, _closer, confirmer, committed, mender);
        _auditor = new ReplicaAuditor(_core, mender);
        _trimmer = new Trimmer(_core, _chains, confirmer);
        var slow = new SlowChecker(_core, _reader, _core.Frozen);
        _linearizable = new Checker(_core, slow, confirmer);
        _session = new Checker(_core, slow, null);
    }

    /// <summary>The newest projection this client knows.</summary>
    public Projection Projection => _core.View.Projection;

    /// <inheritdoc />
    public int MaxPayload => _core.Options.MaxPayload;

    /// <inheritdoc />
    public ValueTask<AppendResult> AppendAsync(
        ReadOnlyMemory<byte> payload, ImmutableArray<StreamId> streams, CancellationToken cancellationToken = default) =>
        _appender.AppendAsync(payload, streams, cancellationToken);

    /// <inheritdoc />
    public ValueTask<AppendOutcome> ResolveAsync(AppendResult unknown, CancellationToken cancellationToken = default) =>
        unknown.Outcome == AppendOutcome.Unknown
            ? _resolver.ResolveAsync(unknown.Position, unknown.Origin, cancellationToken)
            : ValueTask.FromResult(unknown.Outcome);

    /// <inheritdoc />
    public ValueTask<ImmutableArray<LogReadResult>> ReadManyAsync(
        ImmutableArray<LogPosition> positions,
        ReadDetail detail = ReadDetail.Full,
        ReadMode mode = ReadMode.CloseHoles,
        CancellationToken cancellationToken = default) =>
        _reader.ReadManyAsync(positions, detail, mode, cancellationToken);

    /// <inheritdoc />
    public ValueTask<LogCheck> CheckAsync(
        ImmutableArray<StreamId> streams,
        ReadConsistency consistency = ReadConsistency.Linearizable,
        CancellationToken cancellationToken = default) =>
        (consistency == ReadConsistency.Linearizable ? _linearizable : _session).CheckAsync(streams, cancellationToken);

    /// <inheritdoc />
    public async ValueTask<LogReadResult> FillAsync(LogPosition position, CancellationToken cancellationToken = default)
    {
        var read = await _reader.ReadManyAsync([position], ReadDetail.Full, ReadMode.Observe, cancellationToken);
        if (read[0].State != PageState.Unwritten) return read[0];
        var closed = await _core.RetryAsync(
            $"Filling {position}", view => _closer.CloseAsync(view, [position], false, cancellationToken), cancellationToken);
        return closed.TryGetValue(position, out var result)
            ? result
            : throw new ArgumentOutOfRangeException(nameof(position), position, "Only granted positions are filled, and this one is not.");
    }

    /// <inheritdoc />
    public ValueTask TrimAsync(LogPosition position, CancellationToken cancellationToken = default) =>
        _trimmer.TrimAsync(position, cancellationToken);

    /// <inheritdoc />
    public ValueTask TrimPrefixAsync(LogPosition below, CancellationToken cancellationToken = default) =>
        _trimmer.TrimPrefixAsync(below, cancellationToken);

    /// <summary>
    /// How far the log is trimmed by prefix, as any unit knows it: everything below is released, or is being released. A client that has been away
    /// learns here, or from any read below, that it must start from a checkpoint.
    /// </summary>
    public ValueTask<LogPosition> ReadTrimMarkAsync(CancellationToken cancellationToken = default) => _trimmer.ReadMarkAsync(cancellationToken);

    /// <summary>
    /// Compares all full replicas of the positions [from, from + count), payloads included, and gives lost or damaged pages back from good copies. For
    /// scrubs; positions below the log's beginning count as trimmed.
    /// </summary>
    /// <param name="count">At most <see cref="MessageLimits.MaxItems"/>.</param>
    public ValueTask<ReplicaAudit> AuditReplicasAsync(LogPosition from, int count, CancellationToken cancellationToken = default) =>
        _auditor.AuditAsync(from, count, cancellationToken);

    /// <summary>Ends everything that is under way: appends with their outcome unknown, the rest with an error.</summary>
    public ValueTask DisposeAsync()
    {
        _core.Close();
        _ownedTransport?.Dispose();
        return ValueTask.CompletedTask;
    }
}
