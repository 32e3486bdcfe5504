using System.Collections.Immutable;
using Corfu.ModelCheck.Nodes;
using Corfu.Protocol;

namespace Corfu.ModelCheck.Processes;

/// <summary>Seal, compute, propose, install (TOCS 2.5; R13, R14), and the copy of a rebuild before the change that ends
/// it (R15).</summary>
public sealed partial record Reconfigurer(
    char Id, ImmutableArray<ReconfigurerTask> Tasks, Projection Current, ImmutableArray<NodeAddress> Acceptors,
    Flaw Flaw) : Process
{
    private const int MaxRounds = 3;

    // In place of an end: the unit has not installed the current epoch, and is not sealed for the next.
    private const long Away = -1;

    public ReconfigurerStage Stage { get; init; } = ReconfigurerStage.Idle;

    public int At { get; init; }

    public int Runs { get; init; }

    public int Rounds { get; init; }

    public LayoutOperation? Layout { get; init; }

    /// <summary>The answer of each unit of <see cref="Units"/> to its seal; null: none yet.</summary>
    public ImmutableArray<long?> Ends { get; init; } = [];

    /// <summary>Nodes that have not answered an install.</summary>
    public ImmutableArray<NodeId> Missing { get; init; } = [];

    /// <summary>The next position to copy, and the place in its chain.</summary>
    public long Copy { get; init; }

    public int Replica { get; init; }

    public ReadOnlyMemory<byte> Entry { get; init; }

    public long Sequence { get; init; }

    public override string Name => $"reconfigurer {Id}";

    public override string Key =>
        $"{Id} {At} {Stage} {Names.Of(Current)} run {Runs} {Rounds} [{Layout?.Key}] ends {string.Join(',', Ends)} "
        + $"miss {string.Join(',', Missing.Select(Names.Of))} " +
        $"copy {Copy} {Replica} {Convert.ToBase64String(Entry.Span)} {Sequence}";

    private ReconfigurerTask Task => Tasks[At];

    public override ImmutableArray<Call> Calls => Stage switch
    {
        ReconfigurerStage.Look or ReconfigurerStage.Propose =>
            [.. Layout!.Open.Select(i => new Call(Acceptors[i].Id, Layout.Request))],
        ReconfigurerStage.Seal => [.. Unsealed.Select(i => Ends[i] == Away
            ? new Call(Units[i], new InstallRequest(Current))
            : new Call(Units[i], new SealRequest(Current.Epoch.Next)))],
        ReconfigurerStage.Install => [.. Missing.Select(InstallCall)],
        ReconfigurerStage.CopyLook => [CopyRead(Flaw == Flaw.CopyPastFullReplicas ? CopyChain.Head : CopyChain.Tail)],
        ReconfigurerStage.CopyHead => [CopyRead(CopyChain.Head)],
        ReconfigurerStage.CopyFill =>
            [new Call(CopyChain.Replicas[Replica].Unit, new FillRequest(Current.Epoch, Entry))],
        ReconfigurerStage.CopyComplete =>
            [new Call(CopyChain.Replicas[Replica].Unit, new CompleteRequest(Current.Epoch, Entry))],
        _ => [],
    };

    public override ImmutableArray<Step> Choices
    {
        get
        {
            switch (Stage)
            {
                case ReconfigurerStage.Idle:
                    return [Begin() with { Label = $"begins: {Task.Name}" }];
                case ReconfigurerStage.Seal when IsSealed():
                    var proposal = Compute();
                    return [Propose(proposal) with { Label = $"has its seals and proposes {Names.Of(proposal)}" }];
                default:
                    return [];
            }
        }
    }

    public override Step Answer(int call, Response response) => Stage switch
    {
        ReconfigurerStage.Look or ReconfigurerStage.Propose => FromLayout(call, (LayoutResponse)response),
        ReconfigurerStage.Seal => Sealed(call, response),
        ReconfigurerStage.Install => Installed(call),
        _ => FromCopy(response),
    };

    /// <summary>The task, seen from the projection in force: copy first, then change; or nothing is left to be
    /// done.</summary>
    private Step Begin()
    {
        if (!Task.Rebuild.IsNone && Change.IsJoining(Current, Task.Rebuild)) return NextCopy(0);
        return Seal();
    }

    private Step Seal()
    {
        if (Task.Change(Current) is null) return new Step(Install(Current));
        return Rounds == MaxRounds
            ? new Step(Done())
            : new Step(this with
            {
                Stage = ReconfigurerStage.Seal,
                Rounds = Rounds + 1,
                Ends = [.. new long?[Units.Length]],
                Entry = default,
                Replica = 0,
                Copy = 0
            });
    }

    private Reconfigurer Done() => this with
    {
        Stage = At + 1 < Tasks.Length ? ReconfigurerStage.Idle : ReconfigurerStage.Done,
        At = Math.Min(At + 1, Tasks.Length - 1),
        Rounds = 0,
        Layout = null,
        Ends = [],
        Missing = [],
        Entry = default,
        Replica = 0,
        Copy = 0,
    };

    private Change Wanted => Task.Change(Current)!;

    // R13: every unit of the active segment and of every chain whose membership changes.
    private IEnumerable<(Chain Old, Chain New)> ChainsToSeal
    {
        get
        {
            var wanted = Wanted;
            for (var i = 0; i < Current.Segments.Length; i++)
            {
                for (var j = 0; j < Current.Segments[i].Chains.Length; j++)
                {
                    var (old, next) = (Current.Segments[i].Chains[j], wanted.Segments[i].Chains[j]);
                    if (i == Current.Segments.Length - 1 || !old.Equals(next)) yield return (old, next);
                }
            }
        }
    }

    private ImmutableArray<NodeId> Units =>
        [.. ChainsToSeal.SelectMany(c => c.Old.Replicas).Select(r => r.Unit).Distinct()];

    private IEnumerable<int> Unsealed => Enumerable.Range(0, Ends.Length).Where(i => Ends[i] is null or Away);

    // R13: for every such chain its first survivor, which is the new chain's head. The flaw takes any replica that
    // stays.
    private bool IsSealed()
    {
        var units = Units;
        return ChainsToSeal.All(c => Flaw == Flaw.SealAnyReplica
            ? c.New.Replicas.Any(r => !r.Joining && Ends[units.IndexOf(r.Unit)] >= 0)
            : Ends[units.IndexOf(c.New.Head)] >= 0);
    }

    private Step Sealed(int call, Response response)
    {
        var index = Unsealed.ElementAt(call);
        // R14: it installs the current epoch, and is asked again.
        if (response.Status == Status.NotInstalled) return new Step(this with { Ends = Ends.SetItem(index, Away) });
        if (response is AckResponse) return new Step(this with { Ends = Ends.SetItem(index, null) });
        if (response is SealResponse { IsOk: true } answer)
            return new Step(this with { Ends = Ends.SetItem(index, answer.End.Offset) });

        // A higher epoch is being prepared or decided: look again.
        return new Step(Look());
    }

    private Reconfigurer Look() => this with
    {
        Stage = ReconfigurerStage.Look,
        Ends = [],
        Entry = default,
        Replica = 0,
        Copy = 0,
        Layout = new LayoutOperation(Id, Acceptors, LayoutPhase.Latest, Epoch.None, null, Flaw) { Run = Runs },
    };

    // The start is above every address reported, and never falls.
    private Projection Compute()
    {
        var wanted = Wanted;
        var start = Current.Start.Offset;
        if (Flaw != Flaw.StartNotRaised) start = Math.Max(start, Ends.Max() ?? 0);
        var segments = wanted.Segments;
        if (wanted.NextChains is { } next)
        {
            var active = segments[^1];
            var open = new Segment(new LogPosition(start), null, next);
            segments = start > active.From.Offset
                ? [.. segments[..^1], active with { Until = new LogPosition(start) }, open]
                : [.. segments[..^1], open];
        }

        return Projections.Make(Current.Epoch.Next, wanted.Sequencer, start, Acceptors, segments);
    }

    private Step Propose(Projection proposal) => new(this with
    {
        Stage = ReconfigurerStage.Propose,
        Ends = [],
        Runs = Runs + 1,
        Layout = new LayoutOperation(Id, Acceptors, LayoutPhase.Prepare, proposal.Epoch, proposal, Flaw) { Run = Runs },
    });

    private Step FromLayout(int call, LayoutResponse response)
    {
        var acceptor = Layout!.Open[call];
        var left = Layout.Open.Where(i => i != acceptor).Select(i => new Call(Acceptors[i].Id, Layout.Request))
            .Where(c => c.Changes).ToImmutableArray();
        var progress = Layout.Take(acceptor, response);
        ImmutableArray<Fact> facts = progress.Decision is { } decision ? [new Decided(decision)] : [];
        if (progress.Next is { } next)
        {
            // Two ballots of one process never share a proposer's name.
            var runs = Layout.Phase == LayoutPhase.Latest && next.Phase == LayoutPhase.Prepare ? Runs + 1 : Runs;
            return new Step(this with { Layout = next, Runs = runs }, facts,
                next.Phase == Layout.Phase && next.Round == Layout.Round ? [] : left);
        }

        if (progress.Result is not { } result || result.Epoch < Current.Epoch) return new Step(Done(), facts, left);
        if (Stage == ReconfigurerStage.Look && result.Epoch == Current.Epoch)
            return new Step(this with { Layout = null, Stage = ReconfigurerStage.Idle }, facts, left);

        // Mine, or another's that does what I want: handed to its nodes. Else the change is asked again.
        var now = this with { Current = result, Layout = null };
        return new Step(now.Task.Change(result) is null
            ? now.Install(result)
            : now with { Stage = ReconfigurerStage.Idle }, facts, left);
    }

    private Reconfigurer Install(Projection projection) => this with
    {
        Stage = ReconfigurerStage.Install,
        Layout = null,
        Ends = [],
        Entry = default,
        Replica = 0,
        Copy = 0,
        Missing = [projection.Sequencer.Id, .. projection.Units.Select(u => u.Id)],
    };

    private Call InstallCall(NodeId node) =>
        new(node, node == Current.Sequencer.Id ? new BootstrapRequest(Current) : new InstallRequest(Current));

    private Step Installed(int call)
    {
        var missing = Missing.RemoveAt(call);
        return new Step(missing.IsEmpty ? Done() : this with { Missing = missing });
    }
}
