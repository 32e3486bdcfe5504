using System.Collections.Immutable;
using Corfu.Client;
using Corfu.Protocol;

namespace Corfu.Agent;

/// <summary>Verdicts in, at most one change out. Pure, no clock: times are since any fixed moment. Not
/// thread-safe.</summary>
internal sealed class PolicyCore
{
    private readonly PolicyOptions _options;
    private readonly ChangeBudget _units;
    private readonly ChangeBudget _sequencers;

    public PolicyCore(PolicyOptions? options = null)
    {
        _options = options ?? new PolicyOptions();
        _options.Validate();
        _units = new ChangeBudget(_options.UnitBurst, _options.UnitRefill);
        _sequencers = new ChangeBudget(_options.SequencerBurst, _options.SequencerRefill);
    }

    /// <summary>A new epoch was learnt: changes that agents made, this one or another, count against the rate
    /// limit.</summary>
    public void Saw(Projection before, Projection after, TimeSpan now)
    {
        if (!ReconfigurationReason.TryParse(after.Reason, out var reason) || !reason.IsAutomatic) return;
        if (before.Sequencer != after.Sequencer) _sequencers.Spend(now);
        for (var lost = before.Units.Count(unit => !after.HasUnit(unit.Id)); lost > 0; lost--) _units.Spend(now);
    }

    public PolicyDecision Decide(PolicyView view, TimeSpan now)
    {
        List<string> notes = [];
        List<string> whys = [];
        var replicas = _options.Replicas ?? view.Projection.Active.Chains.Max(chain => chain.FullCount);
        var sequencer = DecideSequencer(view, now, notes, whys);
        var exits = DecideUnits(view, replicas, now, notes, whys);
        var acceptors = DecideAcceptors(view, notes, whys);
        if (sequencer is null && exits.IsEmpty && acceptors.IsEmpty)
        {
            var joins = DecideJoin(view, replicas, now);
            var joined = joins is null
                ? null
                : new PlannedChange([], NodeId.None, null, replicas, "entries have too few replicas") { Joins = joins };
            return new PolicyDecision(joined, string.Join("; ", notes));
        }

        var change = new PlannedChange(exits, sequencer is null ? NodeId.None : view.Projection.Sequencer.Id, sequencer,
            replicas, string.Join("; ", whys))
        {
            Acceptors = acceptors,
        };
        return new PolicyDecision(change, string.Join("; ", notes));
    }

    private NodeAddress? DecideSequencer(PolicyView view, TimeSpan now, List<string> notes, List<string> whys)
    {
        var current = view.Projection.Sequencer;
        var verdict = view.VerdictOf(current.Id);
        if (!verdict.IsGone) return null;
        if (view.Standbys.IsEmpty)
        {
            notes.Add($"the sequencer at {current.Endpoint}: {verdict.Why}; there is no standby");
            return null;
        }

        if (!_sequencers.HasOne(now))
        {
            notes.Add($"the sequencer at {current.Endpoint}: {verdict.Why}; too many were replaced lately");
            return null;
        }

        whys.Add($"sequencer {current.Endpoint} {Word(verdict.Health)} ({verdict.Why})");
        return view.Standbys[0];
    }

    private ImmutableArray<UnitExit> DecideUnits(PolicyView view, int replicas, TimeSpan now, List<string> notes,
        List<string> whys)
    {
        var exits = ImmutableArray<UnitExit>.Empty;
        var spares = new Queue<NodeAddress>(view.Spares);
        foreach (var unit in view.Projection.Units)
        {
            var verdict = view.VerdictOf(unit.Id);
            var keeps = verdict.Health == NodeHealth.Full
                || (verdict.Health == NodeHealth.Slow && verdict.Since >= _options.LeaveSlowAfter);
            if (!verdict.IsGone && !(keeps && IsActive(view.Projection, unit.Id))) continue;
            spares.TryPeek(out var spare);
            var exit = new UnitExit(unit, spares.Count > 0 ? spare : null, keeps);
            if (Obstacle(view.Projection, exits.Add(exit), replicas, now) is { } obstacle)
            {
                notes.Add($"unit {unit.Endpoint}: {verdict.Why}; {obstacle}");
                continue;
            }

            if (exit.Spare is not null) spares.Dequeue();
            exits = exits.Add(exit);
            whys.Add($"unit {unit.Endpoint} {Word(verdict.Health)} ({verdict.Why})");
        }

        return exits;
    }

    // Whoever left without a spare has left chains too short. While a unit is away that may have to leave, the spare is
    // kept for its place.
    private NodeAddress? DecideJoin(PolicyView view, int replicas, TimeSpan now)
    {
        if (view.Spares.IsEmpty || !ActivePlacement.IsShort(view.Projection, replicas) || !_units.HasOne(now))
            return null;
        return view.Projection.Units.All(unit => view.VerdictOf(unit.Id).Health is NodeHealth.Alive)
            ? view.Spares[0]
            : null;
    }

    // One at a time, so that the acceptors that remain are a majority of both sets.
    private ImmutableArray<AcceptorChange> DecideAcceptors(PolicyView view, List<string> notes, List<string> whys)
    {
        foreach (var acceptor in view.Projection.Acceptors)
        {
            var verdict = view.VerdictOf(acceptor.Id);
            if (!verdict.IsGone
                || (verdict.Health == NodeHealth.Silent && verdict.Since < _options.AcceptorSilentAfter)) continue;
            if (view.Acceptors.IsEmpty)
            {
                notes.Add($"acceptor {acceptor.Endpoint}: {verdict.Why}; there is none to take its place");
                continue;
            }

            whys.Add($"acceptor {acceptor.Endpoint} {Word(verdict.Health)}");
            return [new AcceptorChange(acceptor, view.Acceptors[0])];
        }

        return [];
    }

    private string? Obstacle(Projection projection, ImmutableArray<UnitExit> exits, int replicas, TimeSpan now)
    {
        if (!_units.HasOne(now)) return "too many were taken out lately";
        try
        {
            var membership = Membership.Of(projection);
            var without = ActivePlacement.Without(membership, projection, exits, replicas);
            if (ReferenceEquals(membership, without)) return "there is nothing else that new entries could go to";

            // A partition must not shrink chains to one: then new entries wait for the one that is away.
            var least = Math.Min(_options.MinReplicas, ActivePlacement.Shortest(projection.Active.Chains));
            return ActivePlacement.Shortest(ActivePlacement.Active(without)) < least
                ? $"without it new entries would have fewer than {least} replicas, and there is no spare"
                : null;
        }
        catch (ReconfigurationException e)
        {
            return e.Message;
        }
    }

    private static bool IsActive(Projection projection, NodeId unit) =>
        projection.Active.Chains.Any(chain => chain.Replicas.Any(replica => replica.Unit == unit));

    private static string Word(NodeHealth health) => health switch
    {
        NodeHealth.Dead => "dead",
        NodeHealth.Replaced => "gone",
        NodeHealth.Silent => "silent",
        NodeHealth.Failed => "broken",
        NodeHealth.Full => "full",
        _ => "slow",
    };
}

/// <summary>The rate limit: a bucket that fills with time. Pure.</summary>
internal sealed class ChangeBudget(int burst, TimeSpan refill)
{
    private double _left = burst;
    private TimeSpan _at;

    internal bool HasOne(TimeSpan now)
    {
        Fill(now);
        return _left >= 1;
    }

    /// <summary>Another agent's change counts too, so the bucket may go below empty.</summary>
    internal void Spend(TimeSpan now)
    {
        Fill(now);
        _left = Math.Max(_left - 1, -burst);
    }

    private void Fill(TimeSpan now)
    {
        _left = Math.Min(burst, _left + ((now - _at) / refill));
        _at = now;
    }
}
