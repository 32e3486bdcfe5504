using System.Collections.Immutable;
using Corfu.Protocol;
using Corfu.Simulation.Kernel;
using Corfu.Simulation.Kernel.Network;

namespace Corfu.Simulation.Cluster;

/// <summary>
/// White-box invariants, checked with every message: what units admit to hold, what the sequencer grants, what is
/// sealed. It reads frames as they reach and leave the roles and shares only the message format with the product.
/// </summary>
public sealed partial class ClusterMonitor(World world) : IMessageObserver
{
    private readonly Dictionary<NodeId, UnitView> _units = [];
    private readonly SortedDictionary<long, Projection> _projections = [];
    private readonly List<Violation> _violations = [];
    private readonly Dictionary<long, Projection> _proposed = [];
    private readonly Dictionary<(long Epoch, Ballot Ballot), HashSet<NodeId>> _votes = [];
    private readonly Dictionary<NodeId, long> _decidedAt = [];

    // The newest epoch whose projection an acceptor was told.
    private readonly Dictionary<NodeId, long> _introduced = [];

    public IReadOnlyList<Violation> Violations => _violations;

    public Projection Newest { get; private set; } = null!;

    /// <summary>The highest epoch for which a seal was asked.</summary>
    public long HighestSealAsked { get; private set; }

    public long HighestEpoch { get; private set; }

    /// <summary>The highest position that any unit holds or the sequencer granted.</summary>
    // No run gets so far by itself.
    private const long FarthestGrant = 1L << 32;

    // Later ones are a forger's, and no node takes them.
    private const long FarthestEpoch = MessageLimits.EpochReach;

    public long HighestGrant { get; private set; } = -1;

    /// <summary>Named situations that occurred, for coverage.</summary>
    public SortedDictionary<string, long> Marks { get; } = new(StringComparer.Ordinal);

    public void AddUnit(NodeId id, string name) => _units.Add(id, new UnitView(name));

    public void Found(Projection first) => Learn(first);

    /// <summary>Reports what another observer has found.</summary>
    public void Found(string checker, string what) => Report(checker, what);

    /// <summary>Units whose disks misread: they may take pages for damaged.</summary>
    public Func<NodeId, bool> MayBeCorrupt { get; set; } = _ => false;

    /// <summary>Called with the newest projection when one more is learnt.</summary>
    public Action<Projection> Decided { get; set; } = _ => { };

    /// <summary>Called when a client was told that its append is in the log.</summary>
    public Action<LogPosition, EntryOrigin> AppendTold { get; set; } = static (_, _) => { };

    /// <summary>Called when a reader was shown a value.</summary>
    public Action<LogPosition> ReadTold { get; set; } = static _ => { };

    public void Mark(string situation) => Marks[situation] = Marks.GetValueOrDefault(situation) + 1;

    public void Received(MessageInfo message)
    {
        FrameHeader header = FrameHeader.Parse(message.Bytes);
        MarkRequest(message, header);
        switch (header.Opcode)
        {
            case Opcode.Install:
                Learn(((InstallRequest)Decode(message)).Projection);
                break;
            case Opcode.Bootstrap:
                Learn(((BootstrapRequest)Decode(message)).Projection);
                break;
            case Opcode.Seal:
                HighestSealAsked = Math.Max(HighestSealAsked, header.Epoch.Value);
                break;
            case Opcode.Fill:
                FillReceived(message, (FillRequest)Decode(message));
                break;
            case Opcode.Accept:
                AcceptReceived((AcceptRequest)Decode(message));
                break;
            case Opcode.Decided when header.Epoch.Value <= FarthestEpoch:
                _introduced[message.Node] = header.Epoch.Value;
                break;
            case Opcode.LoadStreams:
                HandOver((LoadStreamsRequest)Decode(message));
                break;
        }
    }

    public void Refused(Opcode opcode, Status status)
    {
        if (status == Status.Denied) Mark("request denied");
        else Mark("projection of a client not known yet");
    }

    public string Describe(Request request) => MessageText.Of(request);

    public string Describe(Response response) => MessageText.Of(response);

    public void Answered(MessageInfo message, Response response)
    {
        FrameHeader header = FrameHeader.Parse(message.Bytes);
        if (_units.TryGetValue(message.Node, out UnitView? unit))
        {
            MarkAnswer(message, header, response);
            UnitAnswered(unit, message, header, response);
        }

        if (response is TokenResponse { IsOk: true } token) TokenGranted(message, (TokenRequest)Decode(message), token);
        if (response is TailResponse { IsOk: true } tail) TailAnswered(message, tail);
        if (response is LayoutResponse layout) LearnFrom(message.Node, layout);
    }

    /// <summary>Whether the acceptor has answered with the newest projection, so that others need not.</summary>
    public bool HoldsNewest(NodeId acceptor) => _decidedAt.GetValueOrDefault(acceptor) >= Newest.Epoch.Value;

    /// <summary>R12: it was told the newest projection because the next one may name it.</summary>
    public bool MayBeNamed(NodeId acceptor) =>
        _introduced.GetValueOrDefault(acceptor) >= Newest.Epoch.Value
        && !_projections.Values.Any(p => p.Acceptors.Any(a => a.Id == acceptor));

    /// <summary>R12: from its votes, too, as an observer does before an acceptor has said that it is decided (seed
    /// 511).</summary>
    private void LearnFrom(NodeId acceptor, LayoutResponse response)
    {
        if (response.Latest is { } latest)
        {
            Learn(latest);
            _decidedAt[acceptor] = Math.Max(_decidedAt.GetValueOrDefault(acceptor), latest.Epoch.Value);
        }

        if (response.Slot is not { IsDecided: false, Value: { } value, Accepted: var ballot }
            || !_projections.TryGetValue(value.Epoch.Value - 1, out Projection? before)) return;
        if (!_votes.TryGetValue((value.Epoch.Value, ballot), out HashSet<NodeId>? votes))
            _votes[(value.Epoch.Value, ballot)] = votes = [];
        if (before.Acceptors.Any(a => a.Id == acceptor) && votes.Add(acceptor)
            && votes.Count > before.Acceptors.Length / 2) Learn(value);
    }

    /// <summary>A client was told that its append is in the log: it must be, durably, at every full replica of its
    /// chain.</summary>
    public void Acknowledged(LogPosition position, Guid writer, long sequence)
    {
        AppendTold(position, new EntryOrigin(new WriterId(writer), sequence));
        if (!TryChain(position.Offset, position.Epoch.Value, out Chain chain))
        {
            Report(CheckerNames.AckComplete, $"{position} was acknowledged in an epoch that no node installed");
            return;
        }

        // Resolved in a later epoch, it is at the full replicas of that epoch's chain.
        foreach (Projection later in _projections.Values.Where(p => p.Epoch > position.Epoch))
        {
            if (!IsAtAll(chain, position)) chain = later.ChainOf(position);
        }

        foreach (Replica replica in chain.Replicas.Where(r => !r.Joining))
        {
            UnitView unit = _units[replica.Unit];
            if (position.Offset < unit.TrimMark) continue;
            if (!unit.Pages.TryGetValue(position.Offset, out StoredPage? page))
            {
                Report(CheckerNames.AckComplete,
                    $"{position} was acknowledged, but {unit.Name} of its chain has not stored it");
            }
            else if (!page.Trimmed && (page.Junk || page.Writer != writer || page.Sequence != sequence))
            {
                Report(CheckerNames.AckComplete,
                    $"{position} was acknowledged to {writer.ToString("N")[..8]}#{sequence}, but {unit.Name} holds "
                    + $"{page}");
            }
        }
    }

    /// <summary>R11: what a reader was shown is committed: every full replica of its chain has it.</summary>
    public void Shown(LogPosition position)
    {
        ReadTold(position);
        if (!TryChain(position.Offset, HighestEpoch, out Chain chain)) return;
        foreach (Replica replica in chain.Replicas.Where(r => !r.Joining))
        {
            UnitView unit = _units[replica.Unit];
            if (position.Offset >= unit.TrimMark && !unit.Pages.ContainsKey(position.Offset))
            {
                Report(CheckerNames.ReadCommitted,
                    $"{position} was read, but {unit.Name} of its chain has not stored it");
            }
        }
    }

    /// <summary>Whether every full replica of its chain has said that it holds the position.</summary>
    public bool IsHeldByAll(LogPosition position) =>
        TryChain(position.Offset, HighestEpoch, out Chain chain) && IsAtAll(chain, position);

    private bool IsAtAll(Chain chain, LogPosition position) => chain.Replicas.All(
        r => r.Joining || position.Offset < _units[r.Unit].TrimMark
            || _units[r.Unit].Pages.ContainsKey(position.Offset));

    private static Request Decode(MessageInfo message)
    {
        FrameHeader header = FrameHeader.Parse(message.Bytes);
        return MessageCodec.ReadRequest(header, message.Bytes.AsMemory(MessageCodec.HeaderSize), SimCluster.Requests)!;
    }

    private void Report(string checker, string what)
    {
        _violations.Add(new Violation(checker, $"t={world.Now / 10_000.0:F4} ms step {world.Steps}: {what}"));
        world.Explain($"VIOLATION [{checker}] {what}");
    }

    /// <summary>Installs and bootstraps come from decided projections only: two different ones of an epoch mean that
    /// the layout decided twice.</summary>
    private void Learn(Projection projection)
    {
        if (projection.Epoch.Value > FarthestEpoch) return;
        if (projection.Reason == SimCluster.Forged)
            Report(CheckerNames.Membership, $"a client without the right to changed the cluster to {projection}");
        if (!_projections.TryGetValue(projection.Epoch.Value, out Projection? known))
        {
            _projections.Add(projection.Epoch.Value, projection);
            if (projection.Epoch.Value > HighestEpoch) (Newest, HighestEpoch) = (projection, projection.Epoch.Value);
            if (projection.Epoch.Value > 1) Mark("projection installed");
            CheckStart(projection);
            CheckChanges(projection);
            Decided(Newest);
        }
        else if (!known.Equals(projection))
        {
            Report(CheckerNames.OneProjection, $"two projections of {projection.Epoch}: {known} and {projection}");
        }
    }

    /// <summary>R13: an epoch starts above everything that any unit had stored before it.</summary>
    private void CheckStart(Projection projection)
    {
        long previous = _projections.Where(p => p.Key < projection.Epoch.Value).Select(p => p.Value.Start.Offset)
            .DefaultIfEmpty(0).Max();
        if (projection.Start.Offset < previous)
        {
            Report(CheckerNames.SealComplete,
                $"{projection.Epoch} starts at {projection.Start.Offset}, below an older epoch's {previous}");
        }

        if (projection.Start.Offset > FarthestGrant)
        {
            Report(CheckerNames.SealComplete,
                $"{projection.Epoch} starts at {projection.Start.Offset}, far above everything that was granted");
        }

        // All that a full replica holds of an older epoch, acknowledged or not, lies below the start: else its position
        // is granted again. A unit that is not a first survivor may hold only what its predecessors hold as well.
        foreach (NodeAddress member in projection.Units)
        {
            UnitView unit = _units[member.Id];
            foreach ((long position, StoredPage page) in unit.Pages)
            {
                if (position >= projection.Start.Offset && page.Epoch > 0 && page.Epoch < projection.Epoch.Value)
                {
                    Report(CheckerNames.SealComplete,
                        $"{projection.Epoch} starts at {projection.Start.Offset}, but {unit.Name} holds {page} of "
                        + $"e{page.Epoch} at {position}");
                }
            }
        }
    }

    private bool TryChain(long position, long epoch, out Chain chain)
    {
        chain = _projections.TryGetValue(epoch, out Projection? projection)
            ? projection.ChainOf(new LogPosition(position))
            : null!;
        return projection is not null;
    }

    private static ulong Digest(ReadOnlySpan<byte> bytes)
    {
        var hash = new TraceHash();
        hash.Add(bytes);
        return hash.Value | 1;
    }
}
