namespace Corfu.Simulation.Kernel;

/// <summary>Posts everything to the world's queue and never runs anything inline.</summary>
public sealed class SimSynchronizationContext(SimProcess process) : SynchronizationContext
{
    public SimProcess Process => process;

    public override void Post(SendOrPostCallback d, object? state) => process.World.PostContinuation(process, d, state);

    public override void Send(SendOrPostCallback d, object? state)
        => throw new NotSupportedException("Send would run code of one process inside another");

    public override SynchronizationContext CreateCopy() => this;
}
