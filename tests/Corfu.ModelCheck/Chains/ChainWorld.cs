using System.Collections.Immutable;
using System.Text;
using Corfu.Protocol;
using Corfu.Transport;
using Craq;
using Craq.Chains;
using Craq.Coordination;
using Craq.Protocol;
using Craq.Storage;

namespace Corfu.ModelCheck.Chains;

/// <summary>Three shipped <see cref="ChainCore"/>s, the directory's shipped rules, and what is under way between them.
/// A state is made by repeating the moves that led to it.</summary>
internal sealed class ChainWorld
{
    private const int Nodes = 3;

    private static readonly ChainId s_chain = ChainId.FromName("chain");
    private static readonly ObjectKey s_key = "x";
    private static readonly CraqNodeOptions s_options = new()
    {
        Retry = TimeSpan.FromTicks(1),
        ReadLimit = TimeSpan.MaxValue,
        LoggedAfter = TimeSpan.MaxValue,
        RoundSpacing = TimeSpan.Zero,
        MarkDelay = TimeSpan.MaxValue,
    };

    private static readonly ImmutableSortedDictionary<NodeId, DirectoryNode> s_nodes = Enumerable.Range(0, Nodes)
        .ToImmutableSortedDictionary(ChainScenario.Node, index => new DirectoryNode(ChainScenario.Node(index), "east",
            new NodeEndpoint("n", 1 + index), DirectoryNodeState.Active));

    private readonly ChainScenario _scenario;
    private readonly ChainCore[] _cores = new ChainCore[Nodes];
    private readonly ChainDisk[] _disks = new ChainDisk[Nodes];
    private readonly List<Flight> _flights = [];
    private readonly bool[] _mustRecord = new bool[Nodes];
    private ChainState _directory;

    // The newest epoch that has been open at a member, wherever the members are by now.
    private ChainConfig? _open;

    private int _changes;
    private int _losses;
    private int _restarts;

    // The clients'. A write is under way or waits for its next attempt; _least is what a read must show.
    private int _writes;
    private Sink? _write;
    private int _reads;
    private int _tries;
    private Sink? _read;
    private ObjectVersion _readLeast;
    private ObjectVersion _least;

    public ChainWorld(ChainScenario scenario, ImmutableArray<ImmutableArray<StoreRecord>> disks, ChainState directory)
    {
        _scenario = scenario;
        _directory = directory;
        for (var node = 0; node < Nodes; node++) Start(node, disks[node]);
        // The search begins when the members have found each other.
        while (_flights.Count > 0) Apply(Moves().First(move => move.Kind is ChainMoveKind.Deliver
            or ChainMoveKind.Answer));
    }

    /// <summary>The invariant that was broken; null: none.</summary>
    public string? Violation { get; private set; }

    private sealed class Sink : IReplySink
    {
        public Response? Answer { get; set; }

        public void Send(uint correlation, Opcode opcode, Response response) => Answer = response;
    }

    private sealed class Flight(int from, ChainCall call)
    {
        public int From => from;

        public ChainCall Call => call;

        public int To => Index(call.To.Id);

        /// <summary>Null: the request has not arrived.</summary>
        public Sink? Sink { get; set; }

        public override string ToString() => $"{from}>{To} {Say(call.Request)} "
            + $"{(Sink is null ? "" : Sink.Answer is null ? "waits" : Say(Sink.Answer))}";
    }

    /// <summary>The chain in epoch 1, open, with one version of the object, at three nodes.</summary>
    public static (ImmutableArray<ImmutableArray<StoreRecord>> Disks, ChainState Directory) Prologue()
    {
        var members = s_nodes.Values.Select(node => new ChainMember(node.Id, node.Datacenter)).ToImmutableArray();
        var state = ChainRules.Create(s_chain, "chain", Placement.Default, ChainOptions.Default, members).State!;
        var world = new ChainWorld(new ChainScenario("", "", 1, 0, []), [[], [], []], state);
        while (world.Moves() is { Count: > 0 } moves) world.Apply(moves[0]);
        if (world.Violation is { } violation) throw new InvalidOperationException(violation);
        return ([.. world._disks.Select(disk => disk.Log.ToImmutableArray())], world._directory);
    }

    public List<ChainMove> Moves()
    {
        var moves = new List<ChainMove>();
        for (var i = 0; i < _flights.Count; i++)
        {
            var flight = _flights[i];
            if (flight.Sink is { Answer: null }) continue;
            // A connection from node to node keeps the order of requests.
            if (flight.Sink is null && _flights.FindIndex(other => other.Sink is null && other.From == flight.From
                && other.To == flight.To) != i) continue;
            moves.Add(new ChainMove(flight.Sink is null ? ChainMoveKind.Deliver : ChainMoveKind.Answer, i));
            if (_losses < _scenario.Losses) moves.Add(new ChainMove(ChainMoveKind.Lose, i));
        }

        for (var node = 0; node < Nodes; node++)
        {
            if (_directory.Config.Epoch > _cores[node].Epoch) moves.Add(new ChainMove(ChainMoveKind.Follow, node));
            if (_mustRecord[node]) moves.Add(new ChainMove(ChainMoveKind.Record, node));
            if (_restarts < _scenario.Restarts) moves.Add(new ChainMove(ChainMoveKind.Restart, node));
            if (_write is null && _writes < _scenario.Writes && _cores[node] is { IsHead: true, IsOpen: true })
                moves.Add(new ChainMove(ChainMoveKind.Write, node));
            if (_read is null && _reads < _scenario.Reads && _tries < 3 && _cores[node].IsOpen)
                moves.Add(new ChainMove(ChainMoveKind.Read, node));
        }

        if (_changes < _scenario.Changes.Length && ChainRules.Change(_directory, _directory.Config.Epoch,
            _scenario.Changes[_changes], s_nodes).Refusal is null) moves.Add(new ChainMove(ChainMoveKind.Change, 0));
        return moves;
    }

    public void Apply(ChainMove move)
    {
        switch (move.Kind)
        {
            case ChainMoveKind.Deliver:
                Deliver(_flights[move.Index]);
                break;
            case ChainMoveKind.Answer:
                Take(_flights[move.Index], _flights[move.Index].Sink!.Answer);
                break;
            case ChainMoveKind.Lose:
                _losses++;
                Take(_flights[move.Index], null);
                break;
            case ChainMoveKind.Follow:
                Step(move.Index, (core, effects) => core.Install(View(), effects));
                break;
            case ChainMoveKind.Record:
                _mustRecord[move.Index] = false;
                if (_cores[move.Index].Epoch == _directory.Config.Epoch && _cores[move.Index].IsOpen)
                    _directory = ChainRules.Opened(_directory);
                break;
            case ChainMoveKind.Restart:
                _restarts++;
                Restart(move.Index);
                break;
            case ChainMoveKind.Write:
                Write(move.Index);
                break;
            case ChainMoveKind.Read:
                Read(move.Index);
                break;
            default:
                _directory = ChainRules.Change(_directory, _directory.Config.Epoch, _scenario.Changes[_changes++],
                    s_nodes).State;
                break;
        }

        HearClients();
        for (var node = 0; node < Nodes; node++)
        {
            if (_cores[node].Fault is { } fault) Violation ??= $"chain-log: node {node} has stopped: {fault}";
        }
    }

    public string Describe(ChainMove move) => move.Kind switch
    {
        ChainMoveKind.Deliver or ChainMoveKind.Answer or ChainMoveKind.Lose => $"{move.Kind} {_flights[move.Index]}",
        ChainMoveKind.Change => $"Change {_scenario.Changes[_changes]}",
        _ => $"{move.Kind} at node {move.Index}",
    };

    public IEnumerable<string> Describe() => _cores.Select((core, node) => $"node {node}: {core}");

    /// <summary>Equal for states from which the same can happen.</summary>
    public string Key()
    {
        var key = new StringBuilder();
        foreach (var core in _cores) key.Append(core).Append('|');
        foreach (var flight in _flights.Select(Canonical).Order(StringComparer.Ordinal)) key.Append(flight).Append('|');
        key.Append(_directory.Config.Epoch).Append(_directory.Config.IsRecordedOpen).Append(_changes).Append(_losses)
            .Append(_restarts).Append(string.Join(',', _mustRecord)).Append(_writes).Append(_write is null)
            .Append(_reads).Append(_tries).Append(_read is null).Append(_readLeast).Append(_least).Append(_open?.Epoch);
        return key.ToString();
    }

    private string Canonical(Flight flight) => $"{flight} {_cores[flight.From].PlaceOf(flight.Call)}";

    private void Start(int node, IEnumerable<StoreRecord> log)
    {
        _disks[node] = new ChainDisk(log);
        var core = new ChainCore(s_chain, ChainScenario.Node(node), _disks[node], new NoLease(), s_options,
            new NodeBudget(s_options));
        _cores[node] = core;
        foreach (var record in _disks[node].Log.ToArray()) core.Replay(record);
        Step(node, (started, effects) =>
        {
            started.EndReplay(effects);
            started.Tick(effects);
        });
    }

    // Requests of the node under way, and answers that it owed, are gone with it.
    private void Restart(int node)
    {
        var owed = _flights.Where(flight => flight.To == node && flight.Sink is { Answer: null }).ToList();
        _flights.RemoveAll(flight => flight.From == node);
        _mustRecord[node] = false;
        Start(node, _disks[node].Log);
        foreach (var flight in owed.Where(_flights.Contains)) Take(flight, null);
        if (_cores[node] is { IsHead: true, IsOpen: true } && !_directory.Config.IsRecordedOpen)
            _mustRecord[node] = true;
        // The clients' requests there have no answer: their next attempts follow.
        if (_write is { Answer: null }) _write = null;
        if (_read is { Answer: null }) _read = null;
    }

    private void Deliver(Flight flight)
    {
        var sink = flight.Sink = new Sink();
        var reply = new ReplyTo(sink, 1, flight.Call.Request.Opcode);
        Step(flight.To, (core, effects) =>
        {
            switch (flight.Call.Request)
            {
                case ReplicateRequest request:
                    core.Replicate(request, reply, effects);
                    break;
                case InstallChainRequest request:
                    core.Install(request, reply, effects);
                    break;
                case FetchRequest request:
                    core.Fetch(request, reply, effects);
                    break;
                default:
                    effects.Answer(reply, new ConfirmResponse(Status.Ok, flight.Call.Request.Epoch)
                    {
                        Chains = [core.Confirm(flight.Call.Request.Epoch)],
                    });
                    break;
            }
        });
        // An answer that is given at once comes at once: what its delay could show, its loss shows too. A confirmation
        // may be long under way, and say what was true.
        if (sink.Answer is { } answer && flight.Call.Request is not ConfirmRequest) Take(flight, answer);
    }

    private void Take(Flight flight, Response? response)
    {
        _flights.Remove(flight);
        Step(flight.From, (core, effects) =>
        {
            switch (flight.Call.Request)
            {
                case ReplicateRequest:
                    core.OnReplicated(flight.Call, (ReplicateResponse?)response, effects);
                    break;
                case InstallChainRequest:
                    core.OnInstalled(flight.Call, (InstallChainResponse?)response, effects);
                    break;
                case FetchRequest:
                    core.OnFetched(flight.Call, (FetchResponse?)response, effects);
                    break;
                default:
                    core.OnConfirmed(
                        flight.Call, ((ConfirmResponse?)response)?.Chains[0] ?? default, effects);
                    break;
            }
        });
    }

    private void Write(int node)
    {
        var sink = _write = new Sink();
        var put = new ObjectOperation(ObjectOperationKind.Put, s_key, 0, 0, new byte[] { (byte)_writes });
        // Another writer than the prologue's, whose ids the windows know.
        var writer = new Guid(1, 2, (short)_scenario.Name.Length, new byte[8]);
        var request = new MutateRequest(_cores[node].Epoch, s_chain, new WriteId(writer, _writes + 1),
            ObjectVersion.None, false, [], [], [put]);
        Step(node, (core, effects) => core.Mutate(request, new ReplyTo(sink, 1, request.Opcode), null, effects));
    }

    private void Read(int node)
    {
        var sink = _read = new Sink();
        _readLeast = _least;
        _tries++;
        var request = new ReadObjectsRequest(
            _cores[node].Epoch, s_chain, ObjectReadMode.Strong, [s_key], WithValues: false);
        Step(node, (core, effects) => core.Read(request, new ReplyTo(sink, 1, request.Opcode), effects));
    }

    private void HearClients()
    {
        if (_write?.Answer is MutateResponse written)
        {
            _write = null;
            if (written.IsOk)
            {
                _writes++;
                _least = ObjectVersion.Max(_least, written.Version);
                CheckCommitted(written.Version);
            }
        }

        if (_read?.Answer is not ReadObjectsResponse read) return;
        _read = null;
        if (!read.IsOk) return;
        _reads++;
        _tries = 0;
        var shown = read.Objects[0].Version;
        if (shown < _readLeast)
            Violation ??= $"object-linear: a read shows {shown}, and {_readLeast} was there before it began";
        _least = ObjectVersion.Max(_least, shown);
        CheckCommitted(shown);
    }

    // A version that a client has heard of is durable at all full members of the newest epoch that was ever open.
    private void CheckCommitted(ObjectVersion version)
    {
        if (version.IsNone) return;
        foreach (var member in _open!.Members)
        {
            var disk = _disks[Index(member.Node)];
            if (!disk.Log.Exists(record => record.Kind == StoreRecordKind.Chain && record.Version == version))
                Violation ??= $"committed-only: a client knows {version}, and node {Index(member.Node)} lacks it";
        }
    }

    private ChainView View() => new(_directory.Config,
        [.. _directory.Config.Members.Select(member => s_nodes[member.Node].Endpoint)]);

    private void Step(int node, Action<ChainCore, ChainEffects> step)
    {
        var effects = new ChainEffects(default);
        var before = _cores[node].Mark;
        step(_cores[node], effects);
        _cores[node].StartRound(effects);
        // Everything is durable at once; what that leads to is part of the step.
        for (var until = -1; until != _disks[node].Log.Count;)
        {
            until = _disks[node].Log.Count;
            _cores[node].OnDurable(until, effects);
        }

        if (_cores[node].IsOpen && !(_open?.Epoch >= _cores[node].Epoch)) _open = _cores[node].View!.Config;
        if (_cores[node].Mark < before) Violation ??= $"chain-log: the mark of node {node} fell";
        foreach (var (to, response) in effects.Answers) to.Send(response);
        foreach (var call in effects.Calls) _flights.Add(new Flight(node, call));
        foreach (var view in effects.Views) Step(node, (core, more) => core.Install(view, more));
        if (effects.Opened.Count > 0)
        {
            _mustRecord[node] = true;
            CheckFence(_cores[node].View!.Config);
        }
    }

    // C5: an epoch opens when all its full members have installed it.
    private void CheckFence(ChainConfig config)
    {
        foreach (var member in config.Members)
        {
            if (_cores[Index(member.Node)].Epoch < config.Epoch)
                Violation ??= $"fence: {config.Epoch} opens, and node {Index(member.Node)} has not installed it";
        }
    }

    private static int Index(NodeId node) => BitConverter.ToInt32(node.Value.ToByteArray()) - 1;

    private static string Say(Message message) => message switch
    {
        ReplicateRequest r => $"replicate {r.Epoch} behind {r.Previous} mark {r.Mark} "
            + string.Join(',', r.Records.Select(record => RecordCodec.VersionOf(record.Span))),
        ReplicateResponse r => $"{r.Status} {r.Epoch} last {r.Last} mark {r.Mark} {r.View?.Config.Epoch}",
        InstallChainRequest r => $"install {r.Epoch}",
        InstallChainResponse r => $"{r.Status} {r.Epoch} last {r.Last} mark {r.Mark}",
        ConfirmRequest r => $"confirm {r.Epoch}",
        ConfirmResponse r => $"{r.Status} {r.Chains[0]}",
        FetchRequest r => $"fetch {r.Epoch} behind {r.After}",
        FetchResponse r => $"{r.Status} {r.Epoch} records {r.Records.Length} mark {r.Mark}",
        _ => message.ToString(),
    };
}

/// <summary>The modelled nodes have no leases: members confirm their reads.</summary>
internal sealed class NoLease : IEpochLease
{
    public bool Proves(ChainConfig config) => false;
}

internal enum ChainMoveKind
{
    Deliver,
    Answer,
    Lose,
    Follow,
    Record,
    Restart,
    Write,
    Read,
    Change,
}

/// <param name="Index">The index of the message under way, or of the node.</param>
internal readonly record struct ChainMove(ChainMoveKind Kind, int Index);
