using System.Collections.Immutable;
using Corfu.ModelCheck.Nodes;
using Corfu.Protocol;

namespace Corfu.ModelCheck.Processes;

/// <summary>
/// A client that carries out tasks one after another, step by step as docs/protocol.md tells it. It never waits: how
/// long a filler waits before it fills is no matter of safety, so in the model any moment will do.
/// </summary>
public sealed partial record Client(char Id, ImmutableArray<ClientTask> Tasks, Projection View,
    ImmutableArray<NodeAddress> Acceptors, Flaw Flaw) : Process
{
    private const int MaxTokens = 2;

    public int At { get; init; }

    public ClientStage Stage { get; init; } = ClientStage.Done;

    /// <summary>The stage after a refresh, an install or a bootstrap.</summary>
    public ClientStage Return { get; init; }

    /// <summary>The stage after a refresh that brought nothing new; null: ask again.</summary>
    public ClientStage? ReturnUnchanged { get; init; }

    /// <summary>The place in the chain that is written, or the chain that is asked for its streams.</summary>
    public int Replica { get; init; }

    public NodeId Behind { get; init; }

    public LogPosition Position { get; init; }

    public EntryOrigin Origin { get; init; }

    public ReadOnlyMemory<byte> Entry { get; init; }

    public ImmutableArray<long> StreamPositions { get; init; } = [];

    /// <summary>The parallel requests of a check that were answered.</summary>
    public int Answered { get; init; }

    public long Tail { get; init; } = -1;

    public int Tokens { get; init; }

    public long Sequence { get; init; }

    public int TimeOuts { get; init; }

    public bool Streams { get; init; }

    public override string Name => $"client {Id}";

    public override string Key =>
        $"{Id} {At} {Stage} {Names.Of(View)} ret {Return} {ReturnUnchanged} rep {Replica} "
        + $"{(Behind.IsNone ? "" : Names.Of(Behind))} " +
        $"pos {Position} {Names.Of(Origin)} {Convert.ToBase64String(Entry.Span)} st "
        + $"{string.Join(',', StreamPositions)} " +
        $"an {Answered} {Tail} tok {Tokens} seq {Sequence} to {TimeOuts}";

    private ClientTask Task => Tasks[At];

    private string Operation => $"{Id}{At}";

    /// <summary>The first task begins with a step of its own, so that any other process may be first.</summary>
    public Client Ready() => this with { Stage = ClientStage.Done, At = -1 };

    public override ImmutableArray<Call> Calls => Stage switch
    {
        ClientStage.Done => [],
        ClientStage.Check => CheckCalls(),
        _ => [Call],
    };

    private Call Call => Stage switch
    {
        ClientStage.Token => new(View.Sequencer.Id, new TokenRequest(View.Epoch, 1, Streams ? [Names.Stream] : [])),
        ClientStage.AskStreams => new(Sources[Replica], new StreamTailsRequest(View.Epoch, [Names.Stream])),
        ClientStage.LoadStreams => new(View.Sequencer.Id, new LoadStreamsRequest(View.Epoch, [Newest()])),
        ClientStage.Write => new(Chain.Replicas[Replica].Unit, new WriteRequest(View.Epoch, Entry)),
        ClientStage.ResolveFill or ClientStage.FillHole =>
            new(Chain.Replicas[Place].Unit, new FillRequest(View.Epoch, Entry)),
        ClientStage.ResolveComplete or ClientStage.CompleteHole =>
            new(Chain.Replicas[Replica].Unit, new CompleteRequest(View.Epoch, Entry)),
        ClientStage.ResolveLook or ClientStage.LookAtHead => new(Chain.Head, Read()),
        ClientStage.ReadTail => new(Flaw == Flaw.ReadAtHead ? Chain.Head : Chain.Tail, Read()),
        ClientStage.AskTail => new(View.Sequencer.Id, new TailRequest(View.Epoch, [])),
        ClientStage.Refresh => new(Acceptors[0].Id, new LatestRequest(Epoch.None)),
        ClientStage.Bootstrap => new(View.Sequencer.Id, new BootstrapRequest(View)),
        ClientStage.Install => new(Behind, new InstallRequest(View)),
        _ => throw new InvalidOperationException($"{Stage} has no request."),
    };

    private Chain Chain => View.ChainOf(Position);

    // The flaw turns a fill's way round; the right way is head first (R10).
    private int Place => Flaw == Flaw.FillFromTail ? Chain.Replicas.Length - 1 - Replica : Replica;

    private ReadRequest Read() => new(View.Epoch, [new LogPosition(Position.Offset)], ReadDetail.Full);

    public override ImmutableArray<Step> Choices
    {
        get
        {
            if (Stage == ClientStage.Done) return At + 1 < Tasks.Length ? [Begin()] : [];
            if (TimeOuts == 0 || Stage == ClientStage.Check || !Call.Changes) return [];

            // The request stays under way; the client looks for a newer epoch, and goes on in this one if there is
            // none.
            var again = Stage == ClientStage.Write ? Stage : RestartOf(Stage);
            var next = this with
            {
                Stage = ClientStage.Refresh,
                Return = RestartOf(Stage),
                ReturnUnchanged = again,
                TimeOuts = TimeOuts - 1
            };
            var left = new Step(next, [], [Call], $"waits no longer for {Names.Of(Call.Request)}");
            if (Stage != ClientStage.Write) return [left];

            // A caller gives up, and asks within the same epoch what became of its append.
            var resolving = this with
            {
                Stage = ClientStage.ResolveLook,
                Entry = default,
                Replica = 0,
                TimeOuts = TimeOuts - 1
            };
            return [left, new Step(resolving, [], [Call], $"gives {Names.Of(Call.Request)} up and resolves it")];
        }
    }

    private Step Begin()
    {
        var next = this with
        {
            At = At + 1,
            Tokens = 0,
            Replica = 0,
            Origin = default,
            Entry = default,
            Position = default,
            Answered = 0,
            Tail = -1,
            StreamPositions = [],
        };
        var task = next.Task;
        next = task.Kind switch
        {
            ClientTaskKind.Append => next with { Stage = ClientStage.Token },
            ClientTaskKind.Read =>
                next with { Stage = ClientStage.ReadTail, Position = new LogPosition(task.Position) },
            ClientTaskKind.Check => next with { Stage = ClientStage.Check },
            _ => next with
            {
                Stage = ClientStage.ResolveLook,
                Position = new LogPosition(task.Position, Epoch.First),
                Origin = new EntryOrigin(Names.Writer(Id), 1),
                Sequence = 1,
            },
        };
        return new Step(next, [new Began(next.Operation)], [], $"begins to {task.Kind.ToString().ToLowerInvariant()}");
    }

    private Step Finish(params Fact[] facts) =>
        new(this with { Stage = ClientStage.Done, Entry = default, Replica = 0 }, facts);

    public override Step Answer(int call, Response response) => Stage switch
    {
        ClientStage.Refresh => Refreshed((LayoutResponse)response),
        ClientStage.Install or ClientStage.Bootstrap =>
            response.IsOk ? new Step(this with { Stage = Return, Behind = default }) : Renew(Return),
        _ when response.Status == Status.Sealed => Renew(Stage),
        _ when response.Status == Status.NotInstalled =>
            new Step(this with { Stage = ClientStage.Install, Return = Stage, Behind = Calls[call].To, Answered = 0 }),
        _ when response.Status == Status.NotBootstrapped =>
            new Step(this with { Stage = ClientStage.Bootstrap, Return = Stage, Answered = 0 }),
        ClientStage.Token => Granted((TokenResponse)response),
        ClientStage.AskStreams => StreamsOf((StreamTailsResponse)response),
        ClientStage.LoadStreams => new Step(this with { Stage = ClientStage.Token, StreamPositions = [] }),
        ClientStage.Write => Written((WriteResponse)response),
        ClientStage.ResolveLook => Resolved(((ReadResponse)response).Pages[0]),
        ClientStage.ResolveFill or ClientStage.FillHole => Filled((WriteResponse)response),
        ClientStage.ResolveComplete or ClientStage.CompleteHole => Completed((WriteResponse)response),
        ClientStage.ReadTail => Shown(((ReadResponse)response).Pages[0]),
        ClientStage.AskTail =>
            Position.Offset < ((TailResponse)response).Tail.Offset ? new Step(Junk(ClientStage.FillHole)) : Finish(),
        ClientStage.LookAtHead => LookedAtHead(((ReadResponse)response).Pages[0]),
        ClientStage.Check => CheckAnswer(call, response),
        _ => throw new InvalidOperationException(),
    };

    // Sealed: nothing can be done in this epoch any more.
    private Step Renew(ClientStage from) =>
        new(this with
        {
            Stage = ClientStage.Refresh,
            Return = RestartOf(from),
            ReturnUnchanged = null,
            Behind = default,
            Answered = 0,
            Tail = -1
        });

    private Step Refreshed(LayoutResponse response)
    {
        if (response.Latest is { } latest && latest.Epoch > View.Epoch)
        {
            // A request of the old epoch is not sent in this one (R9); the flaw keeps it.
            return new Step(this with
            {
                View = latest,
                Stage = Return,
                ReturnUnchanged = null,
                Replica = 0,
                Entry = Return == ClientStage.ResolveComplete ? Entry : default,
            });
        }

        return ReturnUnchanged is { } same
            ? new Step(this with
            {
                Stage = same,
                ReturnUnchanged = null,
                Replica = same == ClientStage.Write ? Replica : 0
            })
            : new Step(this);
    }

    private ClientStage RestartOf(ClientStage stage) => stage switch
    {
        ClientStage.Token or ClientStage.AskStreams or ClientStage.LoadStreams => ClientStage.Token,
        ClientStage.Write when Flaw == Flaw.WriteAfterEpoch => ClientStage.ResolveComplete,
        ClientStage.Write or ClientStage.ResolveLook or ClientStage.ResolveFill or ClientStage.ResolveComplete =>
            ClientStage.ResolveLook,
        ClientStage.Check => ClientStage.Check,
        _ => ClientStage.ReadTail,
    };
}
