namespace Corfu.Agent;

/// <summary>Input of a decision.</summary>
/// <param name="Spares">Freshly formatted units that answer, best first.</param>
/// <param name="Standbys">Sequencers that answer, best first.</param>
/// <param name="Acceptors">Acceptors that answer and that the projection does not name, best first.</param>
internal sealed record PolicyView(Projection Projection, Func<NodeId, NodeVerdict> VerdictOf,
    ImmutableArray<NodeAddress> Spares, ImmutableArray<NodeAddress> Standbys, ImmutableArray<NodeAddress> Acceptors);

/// <param name="Change">Null: nothing to do, or nothing that may be done.</param>
/// <param name="Note">The change that would be made and may not, and the reason; empty if nothing is held back.</param>
internal sealed record PolicyDecision(PlannedChange? Change, string Note);

/// <summary>Verdicts in, at most one change out. Pure: times are since any fixed moment. Not thread-safe.</summary>
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

    /// <summary>Changes that agents made, this one or another, count against the rate limit.</summary>
    public void Saw(Projection before, Projection after, TimeSpan now)
    {
        if (!ReconfigurationReason.TryParse(after.Reason, out var reason) || !reason.IsAutomatic) return;
        if (before.Sequencer != after.Sequencer) _sequencers.Spend(now);
        for (var lost = before.Units.Count(unit => !after.HasUnit(unit.Id)); lost > 0; lost--) _units.Spend(now);
    }

    public PolicyDecision Decide(PolicyView view, TimeSpan now) =>
        new Decision(_options, _units, _sequencers, view, now).Make();

    /// <summary>A decision under way.</summary>
    private sealed class Decision(PolicyOptions options, ChangeBudget units, ChangeBudget sequencers, PolicyView view,
        TimeSpan now)
    {
        private readonly Projection _projection = view.Projection;
        private readonly int _replicas =
            options.Replicas ?? view.Projection.Active.Chains.Max(chain => chain.FullCount);
        private readonly List<string> _notes = [];
        private readonly List<string> _whys = [];

        public PolicyDecision Make()
        {
            var sequencer = DecideSequencer();
            var exits = DecideUnits();
            var acceptor = DecideAcceptor();
            PlannedChange? change = null;
            if (sequencer is not null || !exits.IsEmpty || acceptor is not null)
            {
                var old = sequencer is null ? NodeId.None : _projection.Sequencer.Id;
                change = new PlannedChange(exits, old, sequencer, _replicas, string.Join("; ", _whys))
                {
                    Acceptor = acceptor,
                };
            }
            else if (DecideJoin() is { } joins)
            {
                change = new PlannedChange([], NodeId.None, null, _replicas, "entries have too few replicas")
                {
                    Joins = joins,
                };
            }

            return new PolicyDecision(change, string.Join("; ", _notes));
        }

        private NodeAddress? DecideSequencer()
        {
            var current = _projection.Sequencer;
            var verdict = view.VerdictOf(current.Id);
            if (!verdict.IsGone) return null;
            var obstacle = view.Standbys.IsEmpty ? "there is no standby"
                : !sequencers.HasOne(now) ? "too many were replaced lately" : null;
            if (obstacle is not null)
            {
                _notes.Add($"the sequencer at {current.Endpoint}: {verdict.Why}; {obstacle}");
                return null;
            }

            _whys.Add($"sequencer {current.Endpoint} {Word(verdict.Health)} ({verdict.Why})");
            return view.Standbys[0];
        }

        private ImmutableArray<UnitExit> DecideUnits()
        {
            var exits = ImmutableArray<UnitExit>.Empty;
            var spares = new Queue<NodeAddress>(view.Spares);
            // Units that are gone come first: they need the spares more than units that only get no new entries.
            foreach (var unit in _projection.Units.OrderByDescending(unit => view.VerdictOf(unit.Id).IsGone))
            {
                var verdict = view.VerdictOf(unit.Id);
                var keeps = verdict.Health == NodeHealth.Full
                    || (verdict.Health == NodeHealth.Slow && verdict.Since >= options.LeaveSlowAfter);
                if (!verdict.IsGone && !(keeps && IsActive(unit.Id))) continue;
                var exit = new UnitExit(unit, spares.TryPeek(out var spare) ? spare : null, keeps);
                if (Obstacle(exits.Add(exit)) is { } obstacle)
                {
                    _notes.Add($"unit {unit.Endpoint}: {verdict.Why}; {obstacle}");
                    continue;
                }

                if (exit.Spare is not null) spares.Dequeue();
                exits = exits.Add(exit);
                _whys.Add($"unit {unit.Endpoint} {Word(verdict.Health)} ({verdict.Why})");
            }

            return exits;
        }

        // A unit that left without a spare has left chains too short. While a unit is away that may have to leave, the
        // spare is kept for its place.
        private NodeAddress? DecideJoin() =>
            !view.Spares.IsEmpty && ActivePlacement.IsShort(_projection, _replicas) && units.HasOne(now)
            && _projection.Units.All(unit => view.VerdictOf(unit.Id).Health is NodeHealth.Alive)
                ? view.Spares[0]
                : null;

        private AcceptorChange? DecideAcceptor()
        {
            foreach (var acceptor in _projection.Acceptors)
            {
                var verdict = view.VerdictOf(acceptor.Id);
                var isEarly = verdict.Health == NodeHealth.Silent && verdict.Since < options.AcceptorSilentAfter;
                if (!verdict.IsGone || isEarly) continue;
                if (!view.Acceptors.IsEmpty)
                {
                    _whys.Add($"acceptor {acceptor.Endpoint} {Word(verdict.Health)}");
                    return new AcceptorChange(acceptor, view.Acceptors[0]);
                }

                _notes.Add($"acceptor {acceptor.Endpoint}: {verdict.Why}; there is none to take its place");
            }

            return null;
        }

        private string? Obstacle(ImmutableArray<UnitExit> exits)
        {
            if (!units.HasOne(now)) return "too many were taken out lately";
            try
            {
                var membership = Membership.Of(_projection);
                var without = ActivePlacement.Without(membership, _projection, exits, _replicas);
                if (ReferenceEquals(membership, without)) return "there is nothing else that new entries could go to";

                // A partition must not shrink chains to one: new entries wait for the unit that is away.
                var least = Math.Min(options.MinReplicas, ActivePlacement.Shortest(_projection.Active.Chains));
                return ActivePlacement.Shortest(ActivePlacement.Active(without)) < least
                    ? $"without it new entries would have fewer than {least} replicas, and there is no spare"
                    : null;
            }
            catch (ReconfigurationException e)
            {
                return e.Message;
            }
        }

        private bool IsActive(NodeId unit) =>
            _projection.Active.Chains.Any(chain => chain.Replicas.Any(replica => replica.Unit == unit));

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
}
