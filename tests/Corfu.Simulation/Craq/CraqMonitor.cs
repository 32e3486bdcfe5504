using Corfu.Protocol;
using Corfu.Simulation.Kernel;
using Corfu.Simulation.Kernel.Network;
using Craq;
using Craq.Protocol;
using Craq.Storage;

namespace Corfu.Simulation.Craq;

/// <summary>Checks the invariants that clients cannot see: the monitor knows what every disk holds and sees every
/// message.</summary>
internal sealed partial class CraqMonitor(World world, RequestTable requests) : IMessageObserver
{
    private const int MostFindings = 50;

    private readonly SortedDictionary<NodeId, NodeLog> _logs = [];
    private readonly SortedDictionary<ChainId, ChainTruth> _chains = [];
    private readonly Dictionary<(NodeId Node, ChainId Chain), ObjectVersion> _marks = [];

    // When a machine's newest question about an epoch was answered.
    private readonly Dictionary<(string Machine, ChainId Chain, Epoch Epoch), long> _heard = [];

    public List<Violation> Violations { get; } = [];

    /// <summary>Situations that occurred, and how often.</summary>
    public SortedDictionary<string, long> Marks { get; } = new(StringComparer.Ordinal);

    /// <summary>A machine has begun to learn a chain, or says that it has learned it.</summary>
    public Action<string> Learning { get; set; } = static _ => { };

    /// <summary>A value has come beside its chain from the head, which is this machine.</summary>
    public Action<string> Relayed { get; set; } = static _ => { };

    /// <summary>The moment that the age of a node's answers counts from, if others have confirmed it.</summary>
    public Func<NodeId, ChainId, long?> ProvenAt { get; set; } = static (_, _) => null;

    public IEnumerable<ChainTruth> Chains => _chains.Values;

    public ChainTruth Truth(ChainId chain)
    {
        if (!_chains.TryGetValue(chain, out var truth)) _chains.Add(chain, truth = new ChainTruth(world, chain));
        return truth;
    }

    public NodeLog AddNode(NodeId id, string name)
    {
        var log = new NodeLog(this, id, name);
        _logs.Add(id, log);
        return log;
    }

    public NodeLog LogOf(NodeId node) => _logs[node];

    /// <summary>A new process: its marks may begin below those of the one before.</summary>
    public void Started(NodeId node)
    {
        foreach (var key in _marks.Keys.Where(key => key.Node == node).ToArray()) _marks.Remove(key);
    }

    public void Mark(string situation) => Marks[situation] = Marks.GetValueOrDefault(situation) + 1;

    public void Found(string checker, string what)
    {
        if (Violations.Count >= MostFindings) return;
        Violations.Add(new Violation(checker, $"{what} (t={world.Now / 10_000.0:F3} ms, step {world.Steps})"));
        if (world.Trace is not null) world.Explain($"VIOLATION [{checker}] {what}");
    }

    /// <summary>A record is durable in a node's log. Before that no answer may show it, and a power cut may
    /// take it.</summary>
    public void Learn(NodeId node, in StoreRecord record)
    {
        var truth = Truth(record.Chain);
        var isNew = truth.Find(record.Version) is null;
        if (truth.Learn(record.Body) is { } wrong) Found(CheckerNames.ChainLog, $"{_logs[node].Name}: {wrong}");
        if (!isNew) return;
        var content = truth.Find(record.Version)!.Content;
        if (content.Kind == ChainRecordKind.Begin) Begins(truth, content);
        if (content is { Kind: ChainRecordKind.Write, Origins.IsEmpty: true } && content.Writes.Any(w => w.IsDelete))
            Mark("expired object deleted");
    }

    // C9: an epoch begins behind all that its full members had durable when they installed it.
    private void Begins(ChainTruth truth, ChainRecord begin)
    {
        var epoch = begin.Version.Epoch;
        if (epoch == Epoch.First) return;
        foreach (var member in truth.ConfigOf(epoch)?.Members ?? [])
        {
            var log = _logs[member.Node];
            if (log.IsErased || log.Find(truth.Id) is not { IsLearning: false } held) continue;
            if (held.Installed < epoch) continue;
            var last = held.LastOf(new Epoch(epoch.Value - 1));
            if (last > begin.Previous)
                Found(CheckerNames.ChainLog,
                    $"{epoch} of {truth.Id} begins behind {begin.Previous}, and {log.Name} has {last}");
        }
    }

    /// <summary>For traces: a starting node reads a record of its log.</summary>
    public void ReadBack(NodeLog log, in StoreRecord record)
    {
        if (world.Trace is not null) world.Explain($"{log.Name} reads {CraqText.Of(record)}");
    }

    /// <summary>C4: a node appends a mark to its log, and will clean by it in its next life.</summary>
    public void Marked(NodeLog log, ChainId chain, ObjectVersion mark)
    {
        if (mark <= Truth(chain).Committed) return;
        Found(CheckerNames.CommittedOnly,
            $"{log.Name} logs the mark {mark}, and {Truth(chain).Committed} is committed");
    }

    /// <summary>The directory has recorded a config.</summary>
    public void Learn(ChainConfig config)
    {
        if (Truth(config.Id).Learn(config) is { } wrong) Found(CheckerNames.Fence, wrong);
    }

    public void Advanced(ChainId chain)
    {
        if (Truth(chain).Advance(node => _logs[node].All(chain)) is { } wrong)
            Found(CheckerNames.ChainLog, wrong);
    }

    /// <summary>C2: every full member before holds what a member holds.</summary>
    public void IsPrefix(NodeLog log, ChainId chain, ObjectVersion version)
    {
        if (Truth(chain).ConfigOf(version.Epoch) is not { } config) return;
        if (log.Find(chain)!.Installed != version.Epoch) return;
        var index = config.IndexOf(log.Id);
        if (index <= 0) return;
        var before = _logs[config.Members[index - 1].Node];
        if (before.Find(chain) is { } held && held.HasHeld(version) || before.IsErased) return;
        Found(CheckerNames.ChainLog,
            $"{log.Name} has {version} of {chain} durable, and {before.Name} before it has not");
    }

    public void Refused(Opcode opcode, Status status) => Mark("request denied");

    public string Describe(Request request) => CraqText.Of(request);

    public string Describe(Response response) => CraqText.Of(response);

    public void Received(MessageInfo message)
    {
        switch (Decode(message))
        {
            case ReplicateRequest replicate:
                PassedOn(message, replicate);
                break;
            case MarkedRequest marked:
                Told(message, marked);
                break;
            case ValuesRequest values:
                if (Truth(values.Chain).Newest?.Head is { } head && _logs[head.Node].Machine == message.Client)
                    Relayed(message.Client);
                break;
        }
    }

    public void Answered(MessageInfo message, Response response)
    {
        var request = Decode(message);
        switch (request, response)
        {
            case (ReadObjectsRequest read, ReadObjectsResponse { IsOk: true } answer):
                Read(message, read, answer);
                Ages(message, read.Chain, answer.Epoch);
                break;
            case (MutateRequest mutate, MutateResponse { Status: Status.Ok or CraqStatus.Mismatch } answer):
                Mutated(message.Node, mutate, answer);
                break;
            case (ReplicateRequest replicate, ReplicateResponse { Status: Status.Ok or CraqStatus.Gap } answer):
                Told(message.Node, replicate.Chain, answer.Mark);
                break;
            case (ConfirmRequest confirm, ConfirmResponse { IsOk: true } answer):
                for (var i = 0; i < answer.Chains.Length; i++)
                    Confirmed(message, confirm.Chains[i], answer.Chains[i]);
                break;
            case (InstallChainRequest install, InstallChainResponse { IsOk: true } answer):
                Installed(message.Node, install, answer);
                break;
        }
    }

    private Request Decode(MessageInfo message)
    {
        var header = FrameHeader.Parse(message.Bytes);
        return MessageCodec.ReadRequest(header, message.Bytes.AsMemory(MessageCodec.HeaderSize), requests,
            WireProtocol.Version2)!;
    }

    private string NameOf(NodeId node) => _logs[node].Name;
}
