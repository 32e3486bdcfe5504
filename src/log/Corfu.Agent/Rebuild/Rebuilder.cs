using Microsoft.Extensions.Logging.Abstractions;

namespace Corfu.Agent;

/// <summary>Brings joining replicas up to date and makes them full (TOCS 2.5, Fig. 5 C). Works on what the newest
/// projection calls joining, so it may be stopped and started at any point, and in several processes at once. An
/// instance carries out one run at a time. A copy is valid only for the epoch it started in.</summary>
public sealed class Rebuilder(ClusterClient client, ITransport transport, TimeProvider time, ILogger? logger = null,
    RebuildOptions? options = null)
{
    // After more epochs than this, the copy is checked again instead of reading the history.
    private const int MaxEpochsMissed = 256;

    private readonly ILogger _logger = logger ?? NullLogger.Instance;
    private readonly RebuildOptions _options = RebuildOptions.Checked(options);
    private readonly RateLimit _rate = new(time, options?.BytesPerSecond);

    // Per unit, the ranges that this instance has seen decided there. The unit has been joining the same chains in
    // every epoch since, up to that of _known. A unit that left a chain and joined it again has missed the copies made
    // meanwhile (R15).
    private readonly SortedDictionary<NodeId, RangeSet> _rebuilt = [];
    private Projection? _known;
    private RebuildMeter _meter = new(time);
    private volatile NodeId[] _targets = [];

    /// <summary>Progress of the run under way, or of the last one. Any thread.</summary>
    public RebuildProgress Progress => _meter.ToProgress([.. _targets]);

    /// <summary>Whether the projection has anything to rebuild.</summary>
    /// <param name="except">A segment that is being migrated: the migrator copies to the replicas that join it.</param>
    public static bool IsNeeded(Projection projection, (LogPosition From, LogPosition Until)? except = null) =>
        projection.Segments.Any(
            s => Joining(s).Any() && (except is not { } moving || s.From != moving.From || s.Until != moving.Until));

    /// <summary>Returns when nothing is joining any more. Waits for silent units that the projection names.</summary>
    /// <returns>The projection in force then.</returns>
    /// <exception cref="RebuildException">A unit cannot be rebuilt. It stays joining; replace it. All other segments
    /// are rebuilt.</exception>
    /// <exception cref="OperationCanceledException">Interrupted: another run goes on from there.</exception>
    public async Task<Projection> RunAsync(CancellationToken cancellationToken = default)
    {
        _meter = new RebuildMeter(time);
        var joined = time.GetTimestamp();
        var projection = await client.RefreshAsync(cancellationToken);
        var expected = 0L;
        // A position without an intact copy keeps no other segment short of replicas.
        RebuildException? failure = null;
        var failed = new HashSet<LogPosition>();
        while (true)
        {
            await LearnAsync(projection, cancellationToken);
            var waiting = Waiting(projection).FindAll(w => !failed.Contains(w.Segment.From));
            _targets = [.. waiting.SelectMany(w => w.Targets).Distinct()];
            var left = waiting.Sum(w => Length(w.Segment)) + _meter.Done;
            _meter.Expect(left - expected);
            expected = left;
            if (waiting.Count == 0 || time.GetElapsedTime(joined) >= _options.JoinInterval)
            {
                var next = await JoinAsync(projection, cancellationToken);
                joined = time.GetTimestamp();
                if (waiting.Count == 0 && !IsNeeded(next)) return next;
                var changed = next.Epoch != projection.Epoch;
                projection = next;
                if (waiting.Count == 0 && !changed && failure is not null) throw failure;
                if (changed || waiting.Count == 0) continue;
            }

            var (segment, targets) = waiting[0];
            var copier = new RangeCopier(client, transport, _rate, time, _options, _meter);
            try
            {
                await copier.CopyAsync(segment.From, segment.Until!.Value, cancellationToken);
            }
            catch (RebuildException e)
            {
                failure ??= e;
                failed.Add(segment.From);
                continue;
            }

            var began = projection;
            projection = client.Projection;
            await LearnAsync(projection, cancellationToken);
            // The others may have been away for a while: the next copy finds most of it done.
            foreach (var target in await StayedAsync(targets, began, projection, cancellationToken))
                Note(target, segment);
        }
    }

    private async Task LearnAsync(Projection projection, CancellationToken cancellationToken)
    {
        if (_known is { } known && known.Epoch != projection.Epoch)
        {
            var units = _rebuilt.Keys.ToImmutableArray();
            foreach (var unit in units.Except(await StayedAsync(units, known, projection, cancellationToken)))
                _rebuilt.Remove(unit);
        }

        _known = projection;
    }

    /// <summary>The units that have been joining the same chains in every epoch between two projections.</summary>
    private async Task<ImmutableArray<NodeId>> StayedAsync(
        ImmutableArray<NodeId> units, Projection since, Projection now, CancellationToken cancellationToken)
    {
        var epochs = now.Epoch.Value - since.Epoch.Value;
        if (epochs == 0 || units.IsEmpty) return units;
        if (epochs > MaxEpochsMissed) return [];
        var between = epochs == 1 ? [now] : await client.ReadHistoryAsync(now.Epoch, (int)epochs, cancellationToken);
        return between.Length < epochs
            ? []
            : [.. units.Where(u => between.All(p => Places(p, u).SequenceEqual(Places(since, u))))];
    }

    // The chains that the unit is joining.
    private static IEnumerable<(LogPosition From, LogPosition? Until, int Chains, int Chain)> Places(
        Projection projection, NodeId unit) =>
        from segment in projection.Segments
        from chain in Enumerable.Range(0, segment.Chains.Length)
        where segment.Chains[chain].Replicas.Any(r => r.Joining && r.Unit == unit)
        select (segment.From, segment.Until, segment.Chains.Length, chain);

    private void Note(NodeId target, Segment segment)
    {
        if (!_rebuilt.TryGetValue(target, out var ranges)) _rebuilt.Add(target, ranges = new RangeSet());
        ranges.Add(segment.From, segment.Until!.Value);
        AgentLog.Rebuilt(_logger, target.ToString(), segment.From.ToString(), segment.Until.Value.ToString());
    }

    private async Task<Projection> JoinAsync(Projection projection, CancellationToken cancellationToken)
    {
        if (!IsAnythingRebuilt(projection)) return projection;
        var units = projection.Segments.SelectMany(Joining).Distinct().Select(u => u.ToString()[..8]);
        return await client.ReconfigureAsync(
            p => p.Epoch == projection.Epoch && IsAnythingRebuilt(p) ? Membership.Of(p).WithRebuilt(IsRebuilt) : null,
            $"rebuilt {string.Join(", ", units)}", cancellationToken);
    }

    private bool IsAnythingRebuilt(Projection projection) =>
        projection.Segments.Any(s => Joining(s).Any(u => IsRebuilt(s, u)));

    private bool IsRebuilt(Segment segment, NodeId unit) =>
        segment.Until is { } until
        && (Planted.Is("full-before-it-is-rebuilt")
            || (_rebuilt.TryGetValue(unit, out var ranges) && ranges.Covers(segment.From, until)));

    /// <summary>The segments still to be copied, smallest first: the projection gets smaller sooner.</summary>
    private List<(Segment Segment, ImmutableArray<NodeId> Targets)> Waiting(Projection projection) =>
    [
        .. from segment in projection.Segments
           let targets = Joining(segment).Where(u => !IsRebuilt(segment, u)).ToImmutableArray()
           where !targets.IsEmpty
           orderby Length(segment)
           select (segment, targets),
    ];

    private static long Length(Segment segment) => segment.Until!.Value.Offset - segment.From.Offset;

    private static IEnumerable<NodeId> Joining(Segment segment) =>
        segment.Chains.SelectMany(c => c.Replicas).Where(r => r.Joining).Select(r => r.Unit).Distinct();
}

/// <summary>A rebuild cannot go on: replicas differ, a page has no intact copy, or the unit that is rebuilt is damaged
/// itself.</summary>
public sealed class RebuildException(LogPosition position, NodeId unit, string message) : CorfuException(message)
{
    public LogPosition Position { get; } = position;

    /// <summary>The unit that is rebuilt: replacing it by another is the way on.</summary>
    public NodeId Unit { get; } = unit;
}
