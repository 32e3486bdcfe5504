using Corfu;
using Tango.Calls;
using Tango.Playback;
using Tango.Transactions;
using Tango.Upkeep;

namespace Tango.Runtime;

/// <summary>The parts that the handles and the transactions of one runtime share.</summary>
internal sealed class ObjectServices(
    RuntimeEnvironment given, PlaybackParts playback, TransactionFlow flow, ChangeWaits changes, CallReader callReader,
    CancellationToken lifetime)
{
    public ICorfuLog Log => given.Log;

    public TangoOptions Options => given.Options;

    public TimeProvider Time => given.Time;

    public IEntropy Entropy => given.Entropy;

    public LoopContext Loops => given.Loops;

    public Player Player { get; } = playback.Player;

    public CallBatcher Calls { get; } = playback.Calls;

    /// <summary>Hosts objects while they are used, and rebuilds those that have stopped.</summary>
    public CohortOpenings Cohorts { get; } = playback.Cohorts;

    public HostedCohorts Hosted { get; } = playback.Hosted;

    /// <summary>Says which objects are deleted.</summary>
    public PlayedDirectory Directory { get; } = playback.Directory;

    /// <summary>The transaction that flows with the calling code.</summary>
    public TransactionFlow Flow => flow;

    public ChangeWaits Changes => changes;

    public CallReader CallReader => callReader;

    public CancellationToken Lifetime => lifetime;
}
