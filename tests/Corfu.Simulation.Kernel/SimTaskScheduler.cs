namespace Corfu.Simulation.Kernel;

/// <summary>Runs tasks of one process through the world's queue, never inline.</summary>
public sealed class SimTaskScheduler(SimProcess process) : TaskScheduler
{
    public override int MaximumConcurrencyLevel => 1;

    protected override void QueueTask(Task task) => process.World.PostContinuation(process, Execute, task);

    protected override bool TryExecuteTaskInline(Task task, bool taskWasPreviouslyQueued) => false;

    protected override IEnumerable<Task>? GetScheduledTasks() => null;

    private void Execute(object? task) => TryExecuteTask((Task)task!);
}
