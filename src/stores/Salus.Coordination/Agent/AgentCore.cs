namespace Salus.Coordination;

/// <summary>An agent's decisions about volumes and nodes, from what its process has played. Pure: times are since any
/// fixed moment, but for those that accusers have written down.</summary>
/// <remarks>A wrong decision costs availability only: any generation ends the one before it, and reads what that had
/// (S8 to S11). No decision makes a region forget a store that may have a copy.</remarks>
internal sealed class AgentCore
{
    /// <summary>Doublings of the pause between generations of the same processes.</summary>
    private const int MostDoublings = 5;

    private readonly SalusAgentOptions _options;
    private readonly Accusations _accusations;
    private readonly Endings _endings;
    private readonly Dictionary<VolumeId, KnownVolume> _volumes = [];
    private MapView _view = MapView.Empty;
    private TimeSpan _leadsSince;

    public AgentCore(SalusAgentOptions options) =>
        (_options, _accusations, _endings) = (options, new Accusations(options), new Endings(options));

    /// <summary>Every agent observes, and one of them decides: another one that takes over knows the times.</summary>
    public void Observe(MapView view, TimeSpan now)
    {
        if (ReferenceEquals(view, _view)) return;
        _view = view;
        foreach (var gone in _volumes.Keys.Where(id => !view.Volumes.ContainsKey(id)).ToArray()) _volumes.Remove(gone);
        foreach (var (id, state) in view.Volumes)
        {
            if (!_volumes.TryGetValue(id, out var known)) _volumes[id] = known = new KnownVolume(now);
            known.Observe(state, view.Nodes, now);
        }

        _accusations.Forget(view);
        _endings.Forget(view);
    }

    /// <summary>The agent has been elected. Behind a log that was away, processes come back one after the other: no
    /// region moves to those that are the first.</summary>
    public void BeginToLead(TimeSpan now) => _leadsSince = now;

    /// <summary>A member has answered a probe, or has not.</summary>
    public void Record(AgentAction.ProbeMember probe, bool answers, TimeSpan now)
    {
        _endings.Heard(probe.Node.Incarnation, answers, now);
        if (probe.Accusation is { } stall)
            _accusations.Record(probe.Region.Volume, stall, probe.Node.Incarnation, answers);
        else _endings.Record(probe.Region, probe.Generation, probe.Node, isSeal: false, answers, now);
    }

    /// <summary>A store has sealed, or has not.</summary>
    public void Record(AgentAction.ProbeSeal probe, bool isSealed, TimeSpan now) =>
        _endings.Record(probe.Region, probe.Generation, probe.Node, isSeal: true, isSealed, now);

    /// <summary>The steps that are due.</summary>
    /// <param name="unixMilliseconds">The clock of people, which accusers have too.</param>
    public List<AgentAction> Decide(TimeSpan now, long unixMilliseconds)
    {
        var actions = new List<AgentAction>();
        // Found when the first placement asks for it.
        var accused = new Lazy<HashSet<StoreId>>(() => _accusations.Lately(_view, unixMilliseconds));
        foreach (var (name, entry) in _view.Entries)
        {
            var state = _view.Volumes.GetValueOrDefault(entry.Id);
            var step = entry.Stage switch
            {
                VolumeStage.Creating => Creation(name, entry, state, accused),
                // All of them: one that is away may hold something, and may answer without a lease.
                VolumeStage.Deleting => new AgentAction.Clear(name, entry, [.. _view.Nodes.Stores.Values]),
                _ => null,
            };
            if (step is not null) actions.Add(step);
            if (entry.Stage != VolumeStage.Deleting && state is not null)
                Look(_volumes[entry.Id], accused, now, actions);
        }

        return actions;
    }

    private AgentAction? Creation(
        string name, VolumeEntry entry, VolumeState? state, Lazy<HashSet<StoreId>> accused)
    {
        if (state is null) return new AgentAction.Make(entry);
        if (state.IsPlaced) return new AgentAction.MarkReady(name, entry);
        var first = state.Regions.Count;
        var placed = ImmutableArray.CreateBuilder<ImmutableArray<RegionMember>>();
        var most = Math.Min(CoordinationLimits.MaxPlaced, entry.Geometry.Regions - first);
        for (var region = first; region < first + most; region++)
        {
            var members = Choose(
                state.Key(region), entry.Geometry.Copies, [], store => accused.Value.Contains(store));
            if (members.Length < entry.Geometry.Copies) return null;
            placed.Add(members);
        }

        return new AgentAction.Place(entry.Id, first, new PlacedRegions(placed.ToImmutable()));
    }

    private void Look(
        KnownVolume volume, Lazy<HashSet<StoreId>> accused, TimeSpan now, List<AgentAction> actions)
    {
        foreach (var region in volume.Troubled)
        {
            var current = volume.State.Regions[region].Current;
            if (Replacement(volume, region, accused, now) is { } replacement) actions.Add(replacement);
            foreach (var (stall, member) in _accusations.Unproven(volume.State, region))
            {
                if (NodeOf(member) is { } node)
                    actions.Add(new AgentAction.ProbeMember(volume.State.Key(region), current.Number, node, stall));
            }

            if (current.Opening is null) LookAtOpening(volume, region, now, actions);
        }
    }

    // The new members seal the old stores themselves. One that neither seals nor dies would hold them up for ever (S8).
    private void LookAtOpening(KnownVolume volume, int region, TimeSpan now, List<AgentAction> actions)
    {
        var (key, known) = (volume.State.Key(region), volume.State.Regions[region]);
        var (generation, age) = (known.Current.Number, now - volume.SinceOf(region));
        if (age < _options.SealLimit) return;
        foreach (var old in known.Past.Where(past => past.Number >= known.Anchor.Number)
            .SelectMany(static past => past.Members).DistinctBy(static member => member.Incarnation))
        {
            if (NodeOf(old) is not { } node) continue;
            if (_endings.IsMute(key, generation, old.Incarnation, isSeal: true))
            {
                actions.Add(new AgentAction.Expel(node,
                    $"region {key} waits for its end, and it neither seals the region nor gives up its lease"));
            }
            else if (_endings.IsDue(key, generation, node, isSeal: true, now))
            {
                actions.Add(new AgentAction.ProbeSeal(key, generation, node));
            }
        }

        if (age < _options.OpenLimit) return;
        foreach (var member in known.Current.Members)
        {
            if (NodeOf(member) is { } node && _endings.IsDue(key, generation, node, isSeal: false, now))
                actions.Add(new AgentAction.ProbeMember(key, generation, node, null));
        }
    }

    private AgentAction.Replace? Replacement(
        KnownVolume volume, int region, Lazy<HashSet<StoreId>> accused, TimeSpan now)
    {
        var (key, known, copies) =
            (volume.State.Key(region), volume.State.Regions[region], volume.State.Head.Geometry!.Copies);
        var current = known.Current;
        var proven = _accusations.Proven(volume.State, region);
        var (stays, faults) = (new List<BookedNode>(), new Dictionary<StoreId, string>());
        foreach (var member in current.Members)
        {
            if (FaultOf(key, current, member, proven) is { } fault) faults.Add(member.Store, fault);
            else stays.Add(_view.Nodes.Find(member.Store)!);
        }

        var age = now - (volume.SinceOf(region) > _leadsSince ? volume.SinceOf(region) : _leadsSince);
        if (faults.Count == 0 || age < _options.ChangePause) return null;
        // Behind those that go on: a store that a new process serves has most of the region's files.
        var returned = current.Members.Select(member => _view.Nodes.Find(member.Store)).OfType<BookedNode>()
            .Where(node => node.State == BookedState.Live && current.Find(node.Incarnation) is null);
        var stay = stays.Concat(returned).Select(static node => node.Incarnation).ToImmutableArray();
        // A process that was silent lately, and then a member that has just failed, is taken when no other is left, be
        // it that all others were accused: two silent ones would take each other's place for ever.
        var members = Choose(key, copies, stay, accused.Value.Contains,
            store => !faults.ContainsKey(store) && !WasSilent(store, now));
        if (members.Length < copies)
            members = Choose(key, copies, stay, accused.Value.Contains, store => !faults.ContainsKey(store));
        if (members.Length < copies)
        {
            members = Choose(key, copies, stay, store => faults.ContainsKey(store) || accused.Value.Contains(store));
        }

        if (members.Length < copies || !MayRepeat(known, members, proven.Count > 0, age)) return null;
        return new AgentAction.Replace(key, current.Number, members,
            string.Join(", ", faults.Select(static fault => $"store {fault.Key} {fault.Value}")));
    }

    // Null: the member goes on.
    private string? FaultOf(RegionKey key, RegionGeneration current, RegionMember member, HashSet<Incarnation> proven)
    {
        if (!_view.Nodes.IsLive(member)) return "is gone";
        if (proven.Contains(member.Incarnation)) return "is accused";
        return current.Opening is null && _endings.IsMute(key, current.Number, member.Incarnation, isSeal: false)
            ? "does not answer, or has no room"
            : null;
    }

    // The same processes again: their recovery reads everything anew, which mends what is damaged in a memory. A member
    // that goes on answering wrongly must not cost the region its service, so the pause doubles.
    private bool MayRepeat(RegionState known, ImmutableArray<RegionMember> members, bool isAccused, TimeSpan age)
    {
        var same = members.Select(static member => member.Incarnation).ToHashSet();
        var repeats = known.Generations.Reverse().TakeWhile(generation =>
            same.SetEquals(generation.Members.Select(static member => member.Incarnation))).Count();
        if (repeats == 0) return true;
        return isAccused && age >= _options.ChangePause * (1 << Math.Min(repeats, MostDoublings));
    }

    private ImmutableArray<RegionMember> Choose(
        RegionKey region, int copies, ImmutableArray<Incarnation> stay, Predicate<StoreId> isLast,
        Predicate<StoreId>? may = null)
    {
        var nodes = _view.Nodes.Stores.Values.Where(node => may is null || may(node.Store)
            || stay.Contains(node.Incarnation));
        var chosen = RegionPlacement.Choose(region, copies, nodes, stay,
            node => node.Free <= 0 || isLast(node.Store));
        return [.. chosen.Select(static node => new RegionMember(node.Store, node.Incarnation, false))];
    }

    private bool WasSilent(StoreId store, TimeSpan now) =>
        _view.Nodes.Find(store) is { } node && _endings.WasSilent(node.Incarnation, now);

    private BookedNode? NodeOf(RegionMember member) =>
        _view.Nodes.IsLive(member) ? _view.Nodes.Find(member.Store) : null;
}
