namespace Corfu.Agent;

/// <summary>Keeps projections small (TOCS 2.6): neighbours that cannot be merged are brought onto the same chains,
/// smallest first. Every process plans the same from the same segments, so a run may be stopped and started at any
/// point.</summary>
public sealed class Migrator(ClusterClient client, ITransport transport, TimeProvider time,
    RebuildOptions? options = null)
{
    private readonly RebuildOptions _options = RebuildOptions.Checked(options);
    private readonly RateLimit _rate = new(time, options?.BytesPerSecond);
    private RebuildMeter _meter = new(time);
    private volatile Segment? _moving;

    /// <summary>Progress of the migration under way, or of the last one. Any thread.</summary>
    public RebuildProgress Progress => _meter.ToProgress([]);

    /// <summary>The range that is being migrated. Any thread.</summary>
    internal (LogPosition From, LogPosition Until)? Moving =>
        _moving is { Until: { } until } segment ? (segment.From, until) : null;

    /// <summary>Migrates until nothing is trimmed as a whole and there are at most so many segments, or nothing is left
    /// that can be. Segments that are being rebuilt wait.</summary>
    /// <param name="answers">Segments of a unit that does not answer stay where they are; null: all answer.</param>
    /// <exception cref="RebuildException">A segment cannot be copied.</exception>
    public async Task<Projection> CompactAsync(int maxSegments, string reason, Func<NodeId, bool>? answers = null,
        CancellationToken cancellationToken = default)
    {
        var projection = await client.RefreshAsync(cancellationToken);
        try
        {
            while (MigrationPlan.Next(projection, maxSegments, answers) is { } plan)
            {
                _moving = plan.Segment;
                projection = await MigrateAsync(plan.Segment, plan.Chains, reason, cancellationToken);
            }
        }
        finally
        {
            _moving = null;
        }

        return projection;
    }

    private async Task<Projection> MigrateAsync(Segment segment, ImmutableArray<Chain> chains, string reason,
        CancellationToken cancellationToken)
    {
        var (from, until) = (segment.From, segment.Until!.Value);
        _meter = new RebuildMeter(time);
        var begun = await client.ReconfigureAsync(
            p => Find(p, from, until) is { } now && CanTake(p, chains) && !HasAll(now, chains)
                ? Membership.Of(p).WithMigrating(from, chains)
                : null,
            $"{reason}: {from} to {until} joined",
            cancellationToken);
        var copier = new RangeCopier(client, transport, _rate, time, _options, _meter);
        while (Find(begun, from, until) is { } joined && HasAll(joined, chains))
        {
            _meter.Expect(until.Offset - from.Offset);
            await copier.CopyAsync(from, until, cancellationToken);

            // R15: a copy is valid only for the epoch it started in; a replica that rejoined may have missed part of
            // it.
            var copied = begun.Epoch;
            var moved = false;
            begun = await client.ReconfigureAsync(
                p =>
                {
                    moved = p.Epoch == copied && CanTake(p, chains);
                    return moved ? Membership.Of(p).WithMigrated(from, chains) : null;
                },
                $"{reason}: {from} to {until} moved",
                cancellationToken);
            if (moved || begun.Epoch == copied) break;
        }

        return begun;
    }

    private static Segment? Find(Projection projection, LogPosition from, LogPosition until) =>
        projection.Segments.FirstOrDefault(s => s.From == from && s.Until == until);

    private static bool CanTake(Projection projection, ImmutableArray<Chain> chains) =>
        chains.All(c => c.Replicas.All(r => projection.HasUnit(r.Unit)));

    private static bool HasAll(Segment segment, ImmutableArray<Chain> chains) =>
        MigrationPlan.Pairs(segment.Chains, chains)
            .All(pair => pair.New.Replicas.All(r => pair.Old.Replicas.Any(o => o.Unit == r.Unit)));
}
