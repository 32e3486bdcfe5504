namespace Corfu.Agent;

/// <summary>Judges the projections that clients bring to the units and the sequencer of this process.</summary>
/// <remarks>
/// Invariant (R7, R14): such a projection counts only if this process's agent has read it itself as decided, from a
/// majority of acceptors. No client votes (<see cref="AccessTable"/>), so nothing that clients send makes one.
/// Liveness: a client that comes before the agent has read the epoch makes it read at once, and tries again after its
/// pause. An agent that reaches no majority of acceptors confirms nothing; the agents of other processes, which need
/// no gate, install the epoch as soon as they reach the node.
/// </remarks>
/// <param name="known">The newest projection that the agent knows to be decided. Any thread.</param>
/// <param name="read">Makes the agent read the layout: a client speaks of that epoch. Any thread.</param>
internal sealed class ProjectionGate(Func<Projection?> known, Action<Epoch> read) : IRequestGate
{
    public Status Judge(Request request) => request switch
    {
        InstallRequest install => Judge(install.Projection, Status.NotInstalled),
        BootstrapRequest bootstrap => Judge(bootstrap.Projection, Status.NotBootstrapped),
        _ => Status.Denied,
    };

    // Only what contradicts a decision is denied: an honest client never brings it.
    private Status Judge(Projection brought, Status notYet)
    {
        if (Planted.Is("install-unconfirmed")) return Status.Ok;
        var decided = known();
        if (brought.Epoch == decided?.Epoch) return brought.Equals(decided) ? Status.Ok : Status.Denied;
        if (brought.Epoch < decided?.Epoch) return Status.Sealed;
        read(brought.Epoch);
        return notYet;
    }
}
