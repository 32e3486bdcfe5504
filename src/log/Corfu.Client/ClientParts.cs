using Corfu.Client.Layout;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Corfu.Client;

/// <summary>The parts that a <see cref="CorfuClient"/> and its <see cref="ClusterClient"/> share: the clock, the
/// projection that both know, the calls to nodes, and reads. Only the constructors of the two take it; each of their
/// parts is given what it uses.</summary>
internal sealed class ClientParts
{
    /// <param name="loops">Runs the work that callers share. Null: the thread pool.</param>
    public ClientParts(Projection projection, ITransport transport, TimeProvider time, IEntropy entropy,
        CorfuClientOptions? options, ILogger? logger, LoopContext? loops)
    {
        Options = options ?? CorfuClientOptions.Default;
        Options.Validate();
        Logger = logger ?? NullLogger.Instance;
        Clock = new ClientClock(time, loops ?? LoopContext.Pool);
        Layout = new LayoutClient(transport, entropy, time, Options.Layout);
        Reconfigurer = new Reconfigurer(transport, Layout, time, Logger, Options.Reconfiguration);
        Projections = new ProjectionHolder(projection, time.TimestampFrequency / 4000);
        Refresher = new ProjectionRefresher(
            Projections, Layout, Reconfigurer, transport, Clock, Options, Logger);
        Retry = new Retry(Projections, Refresher, Clock, entropy, Options);
        Units = new UnitCalls(transport, Projections, Clock);
        Ends = new LogEnds(Units);
        Frozen = new FrozenTails(Units);
        Sequencer = new SequencerClient(transport, Projections, Frozen, Clock);
        Chains = new ChainReplication(Units, Logger);
        Marks = new TrimMarks(Units, Chains);
        Repair = new ReadRepair(Units, Chains, Projections, Clock, Logger);
        Origins = new EntryOrigins(entropy, time);
        Confirmer = new EpochConfirmer(Units, Layout, Clock, Options);
        Closer = new HoleCloser(Units, Sequencer, Chains, Origins, Projections, Clock, Options);
        Reader = new Reader(Units, Chains, Closer, Confirmer, Committed, Repair, Retry, Clock, Options, Logger);
    }

    public CorfuClientOptions Options { get; }

    public ILogger Logger { get; }

    public ClientClock Clock { get; }

    public LayoutClient Layout { get; }

    public Reconfigurer Reconfigurer { get; }

    public ProjectionHolder Projections { get; }

    public ProjectionRefresher Refresher { get; }

    public Retry Retry { get; }

    public UnitCalls Units { get; }

    public SequencerClient Sequencer { get; }

    public LogEnds Ends { get; }

    public FrozenTails Frozen { get; }

    public ChainReplication Chains { get; }

    public TrimMarks Marks { get; }

    public ReadRepair Repair { get; }

    public EntryOrigins Origins { get; }

    public EpochConfirmer Confirmer { get; }

    public CommittedSet Committed { get; } = new();

    public HoleCloser Closer { get; }

    public Reader Reader { get; }
}
