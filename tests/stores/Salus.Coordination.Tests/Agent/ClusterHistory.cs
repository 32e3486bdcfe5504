using Salus.Coordination.Rules;
using Salus.Coordination.Tests.Support;
using static Salus.Coordination.Tests.Support.TestVolume;

namespace Salus.Coordination.Tests.Agent;

/// <summary>A cluster under the rules alone: processes that die, come back, fall mute and are accused, recoveries that
/// end sooner or later, and an agent's core that acts upon what it sees. Knows which store has which region.</summary>
internal sealed class ClusterHistory
{
    private static readonly TimeSpan s_lease = TimeSpan.FromSeconds(5);

    private readonly Random _random;
    private readonly TestVolume _volume;
    private readonly Node[] _nodes;
    private readonly AgentCore _core = new(new SalusAgentOptions());

    // Stores with everything of the region that was ever committed.
    private readonly HashSet<StoreId>[] _copies;
    private readonly TimeSpan[] _replacedAt;

    // Probes that had no answer, by process.
    private readonly Dictionary<Incarnation, int> _silent = [];
    private TimeSpan _now;
    private long _index = 1;
    private long _batch;
    private int _names = 1000;
    private long _revision;
    private NodeBookView _book = NodeBookView.Empty;

    public ClusterHistory(int seed, int nodes, int regions, int domains)
    {
        _random = new Random(seed);
        _nodes = [.. Enumerable.Range(0, nodes).Select(number => new Node(number, $"d{number % domains}"))];
        foreach (var node in _nodes) node.Name = Name(_names++);
        _volume = new TestVolume { State = VolumeState.Empty };
        _volume.Must(RegionRules.Create(_volume.State, Id, VolumeGeometry.Create(regions * 16L * 4096, 4096, 16, 3)));
        _copies = new HashSet<StoreId>[regions];
        _replacedAt = [.. Enumerable.Repeat(TimeSpan.MinValue, regions)];
        for (var i = 0; i < 20 && !_volume.State.IsPlaced; i++) Look();
        Assert.True(_volume.State.IsPlaced);
        for (var region = 0; region < regions; region++)
            _copies[region] = [.. _volume[region].Current.Members.Select(static member => member.Store)];
        _volume.Open();
    }

    public int Replacements { get; private set; }

    public int Expulsions { get; private set; }

    public int Recoveries { get; private set; }

    private int Regions => _copies.Length;

    /// <summary>At most two processes are away or mute at once.</summary>
    public void Live(int steps)
    {
        for (var i = 0; i < steps; i++)
        {
            Pass();
            Disturb();
            Recover();
            Write();
            Check();
            Look();
            Check();
        }
    }

    /// <summary>All processes come back, and time passes.</summary>
    public void Heal()
    {
        foreach (var node in _nodes)
        {
            node.IsMute = false;
            if (!node.IsUp) Start(node);
        }

        for (var i = 0; i < 400; i++)
        {
            Pass();
            foreach (var node in _nodes.Where(static node => node.IsUp && node.State == BookedState.Gone)) Start(node);
            Recover();
            Look();
            Check();
        }
    }

    public void RequireWhole()
    {
        var book = Book();
        for (var region = 0; region < Regions; region++)
        {
            var current = _volume[region].Current;
            Assert.True(current is { IsAdmitted: true, Opening: not null });
            Assert.All(current.Members, member => Assert.True(book.IsLive(member)));
            Assert.DoesNotContain(_volume.State.Head.Suspicions, suspicion => suspicion.Region == region
                && suspicion.Generation == current.Number && suspicion.Kind == SuspicionKind.WrongAnswer);
        }
    }

    private void Pass()
    {
        _now += TimeSpan.FromMilliseconds(_random.Next(100, 900));
        foreach (var node in _nodes.Where(node => node.EndsAt <= _now)) End(node);
    }

    private void Disturb()
    {
        var node = _nodes[_random.Next(_nodes.Length)];
        var troubled = _nodes.Count(static other => !other.IsUp || other.IsMute || other.State != BookedState.Live);
        switch (_random.Next(12))
        {
            case 0 when node.IsUp && troubled < 2:
                (node.IsUp, node.EndsAt) = (false, _now + s_lease);
                break;
            case 1 when node.IsUp && troubled < 2:
                node.IsMute = true;
                break;
            case 2 or 3 when !node.IsUp:
                Start(node);
                break;
            case 4 when node.IsMute:
                node.IsMute = false;
                break;
            case 5:
                Accuse(SuspicionKind.WrongAnswer);
                break;
            case 6:
                Accuse(SuspicionKind.Stall);
                break;
            case 7 when node.IsUp && node.State == BookedState.Gone:
                Start(node);
                break;
        }
    }

    private void Accuse(SuspicionKind kind)
    {
        var region = _random.Next(Regions);
        var current = _volume[region].Current;
        var member = current.Members[_random.Next(current.Members.Length)];
        var ruling = VolumeRules.Suspect(_volume.State, new Suspicion(
            region, current.Number, member.Incarnation, kind, (long)_now.TotalMilliseconds));
        if (ruling.Refusal is not null) return;
        _volume.Must(ruling);
    }

    // The next process of the folder, or the same one under another name: both take the entry at once.
    private void Start(Node node)
    {
        (node.IsUp, node.IsMute, node.State, node.EndsAt) = (true, false, BookedState.Live, TimeSpan.MaxValue);
        node.Name = Name(_names++);
        _revision++;
    }

    private void End(Node node)
    {
        (node.State, node.EndsAt) = (BookedState.Gone, TimeSpan.MaxValue);
        _revision++;
    }

    private NodeBookView Book() => _book.Revision == _revision && !_book.Stores.IsEmpty
        ? _book
        : _book = new NodeBookView(_revision, _nodes.ToImmutableSortedDictionary(
            static node => node.Store.Value, static node => node.Booked));

    // As a recovery does: it ends the old generation, needs a copy, and brings it to all new members.
    private void Recover()
    {
        var book = Book();
        for (var region = 0; region < Regions; region++)
        {
            var known = _volume[region];
            if (known.Current.Opening is null && _random.Next(3) == 0 && MayRecover(region, known, book))
            {
                _volume.Must(_volume.Recover(region, ++_index + _volume[region].Newest.Index,
                    _batch == 0 ? default : Batch(_volume.State.Head.Run, _batch)));
                foreach (var member in known.Current.Members) _copies[region].Add(member.Store);
                Recoveries++;
            }
            else if (known.Current is { Opening: not null, IsAdmitted: false } && _random.Next(2) == 0)
            {
                _volume.Must(RegionRules.Admit(
                    _volume.State, region, known.Current.Number, _volume.State.Head.Run));
            }
            else if (known.Current.IsAdmitted && _random.Next(2) == 0)
            {
                foreach (var member in known.Current.Members)
                    _volume.Must(RegionRules.Fill(_volume.State, region, known.Current.Number, member.Incarnation));
            }
        }
    }

    private bool MayRecover(int region, RegionState known, NodeBookView book)
    {
        var old = known.Past.Where(past => past.Number >= known.Anchor.Number).SelectMany(static past => past.Members);
        return known.Current.Members.All(member => Answers(member.Store) && book.IsLive(member))
            && old.All(member => Answers(member.Store) || !book.MayLive(member.Store, member.Incarnation))
            && known.Generations.SelectMany(static generation => generation.Members)
                .Any(member => Answers(member.Store) && _copies[region].Contains(member.Store));
    }

    // Members of admitted generations take what is written; the stores that were members before fall behind.
    private void Write()
    {
        var book = Book();
        if (_random.Next(4) > 0 || _volume.State.Regions.Values.Any(region => !region.Current.IsAdmitted
            || region.Current.Members.Any(member => !Answers(member.Store) || !book.IsLive(member)))) return;
        _batch++;
        for (var region = 0; region < Regions; region++)
        {
            _copies[region].Clear();
            _copies[region].UnionWith(_volume[region].Current.Members.Select(static member => member.Store));
        }

        if (_random.Next(3) == 0) _volume.Must(_volume.Note(_batch, Math.Max(_volume.State.Head.Stable, _batch - 3)));
    }

    private void Look()
    {
        var book = Book();
        var stage = _volume.State.IsPlaced ? VolumeStage.Ready : VolumeStage.Creating;
        var view = (MapView.Empty with { Nodes = book, Volumes = MapView.Empty.Volumes.Add(Id, _volume.State) }).With(
            new Dictionary<string, VolumeEntry> { ["v"] = new(Id, _volume.State.Head.Geometry!, stage) });
        _core.Observe(view, _now);
        foreach (var action in _core.Decide(_now, (long)_now.TotalMilliseconds)) Act(action);
    }

    private void Act(AgentAction action)
    {
        switch (action)
        {
            case AgentAction.Place place:
                _volume.Must(RegionRules.Place(_volume.State, place.First, place.Regions.Members));
                break;
            case AgentAction.Replace replace:
                Replace(replace);
                break;
            case AgentAction.Expel expel:
                var node = _nodes.Single(node => node.Store == expel.Node.Store);
                // A process that seals is expelled by no agent.
                Assert.True(_silent[expel.Node.Incarnation] >= 2);
                (node.State, node.EndsAt) = (BookedState.Expelled, _now + s_lease);
                _revision++;
                Expulsions++;
                break;
            case AgentAction.ProbeMember probe:
                _core.Record(probe, Ask(probe.Node), _now);
                break;
            case AgentAction.ProbeSeal probe:
                _core.Record(probe, Ask(probe.Node), _now);
                break;
            case AgentAction.MarkReady:
                break;
            default:
                Assert.Fail($"{action}");
                break;
        }
    }

    private void Replace(AgentAction.Replace replace)
    {
        var region = replace.Region.Region;
        var before = _volume[region].Current;
        // A region changes once in 2 s.
        Assert.True(_replacedAt[region] == TimeSpan.MinValue
            || _now - _replacedAt[region] >= TimeSpan.FromSeconds(2));
        _replacedAt[region] = _now;
        _volume.Must(RegionRules.Replace(_volume.State, region, replace.Generation, replace.Members));
        // A member that lives and that nothing speaks against stays.
        var book = Book();
        foreach (var member in before.Members.Where(member => book.IsLive(member)
            && _volume.State.Head.Suspicions.All(suspicion => suspicion.Member != member.Incarnation)
            && !_silent.ContainsKey(member.Incarnation)))
            Assert.Contains(replace.Members, other => other.Incarnation == member.Incarnation);
        Replacements++;
    }

    // A region forgets a store that has a whole copy only while all members of an admitted generation have one too.
    private void Check()
    {
        for (var region = 0; region < Regions; region++)
        {
            var (anchor, copies) = (_volume[region].Anchor, _copies[region]);
            var named = _volume[region].Generations.SelectMany(static generation => generation.Members)
                .Select(static member => member.Store).ToHashSet();
            StoreId[] forgotten = [.. copies.Except(named)];
            if (forgotten.Length == 0) continue;
            Assert.True(anchor.IsAdmitted && anchor.Members.All(member => copies.Contains(member.Store)),
                $"region {region} has forgotten {string.Join(", ", forgotten)}");
            copies.ExceptWith(forgotten);
        }
    }

    private bool Ask(BookedNode node)
    {
        var answers = Answers(node.Store);
        if (!answers) _silent[node.Incarnation] = _silent.GetValueOrDefault(node.Incarnation) + 1;
        return answers;
    }

    private bool Answers(StoreId store) => _nodes.Single(node => node.Store == store) is { IsUp: true, IsMute: false };

    private sealed class Node(int number, string domain)
    {
        public StoreId Store { get; } = TestVolume.Store(number);

        public Incarnation Name { get; set; }

        public bool IsUp { get; set; } = true;

        public bool IsMute { get; set; }

        public BookedState State { get; set; } = BookedState.Live;

        public TimeSpan EndsAt { get; set; } = TimeSpan.MaxValue;

        public BookedNode Booked =>
            new(Store, Name, new NodeEndpoint("127.0.0.1", 4000 + number), domain, 1 << 20, State, 1);
    }
}
