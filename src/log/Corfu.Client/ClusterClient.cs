using Corfu.Client.Layout;
using Microsoft.Extensions.Logging;

namespace Corfu.Client;

/// <summary>A cluster as operators, agents and copiers work with it: its projections and their changes, the extent of
/// its log, comparisons and copies of its replicas. Applications use <see cref="CorfuClient"/>, whose
/// <see cref="CorfuClient.Cluster"/> shares its projection and connections.</summary>
public sealed class ClusterClient : IAsyncDisposable
{
    private readonly ClientClock _clock;
    private readonly ProjectionHolder _projections;
    private readonly ProjectionRefresher _refresher;
    private readonly LayoutClient _layout;
    private readonly Reconfigurer _reconfigurer;
    private readonly Retry _retry;
    private readonly UnitCalls _units;
    private readonly LogEnds _ends;
    private readonly FrozenTails _frozen;
    private readonly SequencerClient _sequencer;
    private readonly ChainReplication _chains;
    private readonly TrimMarks _marks;
    private readonly Reader _reader;
    private readonly ReplicaAuditor _auditor;

    /// <param name="projection">A decided projection of the cluster; newer ones are learnt.</param>
    /// <param name="transport">Stays the caller's.</param>
    /// <param name="loops">Runs the work that callers share. Null: the thread pool.</param>
    public ClusterClient(Projection projection, ITransport transport, TimeProvider time, IEntropy entropy,
        CorfuClientOptions? options = null, ILogger? logger = null, LoopContext? loops = null)
        : this(new ClientParts(projection, transport, time, entropy, options, logger, loops))
    {
    }

    internal ClusterClient(ClientParts parts)
    {
        _clock = parts.Clock;
        _projections = parts.Projections;
        _refresher = parts.Refresher;
        _layout = parts.Layout;
        _reconfigurer = parts.Reconfigurer;
        _retry = parts.Retry;
        _units = parts.Units;
        _ends = parts.Ends;
        _frozen = parts.Frozen;
        _sequencer = parts.Sequencer;
        _chains = parts.Chains;
        _marks = parts.Marks;
        _reader = parts.Reader;
        _auditor = new ReplicaAuditor(parts.Units, parts.Repair, parts.Retry);
    }

    /// <summary>The newest projection this client knows.</summary>
    public Projection Projection => _projections.Current.Projection;

    /// <summary>Changes the cluster's membership, as <see cref="Reconfigurer.ReconfigureAsync"/>, starting from the
    /// newest projection decided, and adopts the result.</summary>
    public async Task<Projection> ReconfigureAsync(
        Func<Projection, Membership?> change, string reason, CancellationToken cancellationToken = default)
    {
        var latest = await RefreshAsync(cancellationToken);
        var decided = await _reconfigurer.ReconfigureAsync(latest, change, reason, cancellationToken);
        _refresher.Adopt(decided);
        return decided;
    }

    /// <summary>Asks the layout for the newest projection decided, and adopts it.</summary>
    /// <exception cref="LayoutUnavailableException">No majority of the acceptors answered.</exception>
    public async Task<Projection> RefreshAsync(CancellationToken cancellationToken = default)
    {
        if (await _layout.ReadLatestAsync(Projection.Acceptors, cancellationToken) is { } latest)
            _refresher.Adopt(latest);
        return Projection;
    }

    /// <summary>Waits for a projection above <paramref name="epoch"/>, which a node has refused as sealed. If its
    /// proposer has died, the same membership is proposed.</summary>
    /// <exception cref="LogUnavailableException">There is none after
    /// <see cref="CorfuClientOptions.OperationTimeout"/>.</exception>
    public async Task<Projection> NewerThanAsync(Epoch epoch, CancellationToken cancellationToken = default)
    {
        await _retry.NewerThanAsync($"Learning what follows {epoch}", epoch, cancellationToken);
        return Projection;
    }

    /// <summary>The present and past projections, newest first, at most <paramref name="count"/>, as far back as the
    /// acceptors keep them (their option KeptSlots).</summary>
    public async Task<ImmutableArray<Projection>> ReadHistoryAsync(
        int count, CancellationToken cancellationToken = default) =>
        await ReadHistoryAsync((await RefreshAsync(cancellationToken)).Epoch, count, cancellationToken);

    /// <summary>As above, from an epoch of the past on.</summary>
    public async Task<ImmutableArray<Projection>> ReadHistoryAsync(
        Epoch from, int count, CancellationToken cancellationToken = default)
    {
        const int together = 32;
        var latest = Projection;
        var history = ImmutableArray.CreateBuilder<Projection>();
        for (var newest = from.Value; newest >= Epoch.First.Value && history.Count < count; newest -= together)
        {
            var wanted = Math.Min(together, Math.Min(newest, count - history.Count));
            var reads = Enumerable.Range(0, (int)wanted).Select(
                i => _layout.ReadHistoryAsync(latest, new Epoch(newest - i), cancellationToken));
            foreach (var past in await Task.WhenAll(reads))
            {
                if (past is null) return history.DrainToImmutable();
                history.Add(past);
            }
        }

        return history.DrainToImmutable();
    }

    /// <summary>Asks all units for the trim mark and the end of the log; silent ones are passed over, as long as one
    /// answers.</summary>
    /// <exception cref="LogUnavailableException">None did.</exception>
    public ValueTask<LogExtent> FindExtentAsync(CancellationToken cancellationToken = default) =>
        _retry.RunAsync(
            "Asking the units", view => _ends.AskAllAsync(view, cancellationToken), cancellationToken);

    /// <summary>The streams that have had entries below a position that is trimmed, with the newest of those positions.
    /// All in memory: some hundred bytes for each.</summary>
    public ValueTask<ImmutableArray<StreamTail>> ListTrimmedStreamsAsync(
        LogPosition below, CancellationToken cancellationToken = default) =>
        _retry.RunAsync(
            "Listing trimmed streams", view => _frozen.ListAsync(view, below, cancellationToken),
            cancellationToken);

    /// <summary>Compares all full replicas of the positions [from, from + count), payloads included, and gives lost or
    /// damaged pages back from good copies. For scrubs; positions below the log's beginning count as trimmed.</summary>
    /// <param name="count">At most <see cref="MessageLimits.MaxItems"/>.</param>
    public ValueTask<ReplicaAudit> AuditReplicasAsync(
        LogPosition from, int count, CancellationToken cancellationToken = default) =>
        _auditor.AuditAsync(from, count, cancellationToken);

    /// <summary>Reads entries as <see cref="ICorfuLog.ReadManyAsync"/>, and closes the holes among them. For
    /// copies.</summary>
    public ValueTask<ImmutableArray<LogReadResult>> CloseHolesAsync(
        ImmutableArray<LogPosition> positions, CancellationToken cancellationToken = default) =>
        _reader.ReadManyAsync(positions, ReadDetail.Full, ReadMode.CloseHoles, cancellationToken);

    /// <summary>For the copier of a mirror, or of a backup that is being restored.</summary>
    /// <param name="source">The cluster that the projection must name as <see cref="Projection.MirrorOf"/> at every
    /// write.</param>
    public CopyWriter CopyWriter(ClusterId source) =>
        new(_units, _sequencer, _chains, _marks, _retry, source);

    /// <summary>Ends all calls under way with an error.</summary>
    public ValueTask DisposeAsync()
    {
        _clock.Close();
        return ValueTask.CompletedTask;
    }
}
