using System.Collections.Concurrent;

namespace Corfu.FaultRuns.Contexts;

/// <summary>A caller with a context of its own, which ends or blocks while its call is under way.</summary>
internal abstract class Guest
{
    public abstract string Name { get; }

    /// <summary>Starts the call in the context. Returns when the context has blocked or ended.</summary>
    /// <param name="release">Until then a context that blocks does so.</param>
    /// <returns>Completes with the call. Null: the context has ended, and the call with it.</returns>
    public abstract Task<Task?> EnterAsync(Func<Task> call, Task release);

    /// <summary>A thread with a message loop. Its window is closed right after the call was made.</summary>
    public sealed class EndingLoop : Guest
    {
        public override string Name => "message loop that ends";

        public override async Task<Task?> EnterAsync(Func<Task> call, Task release)
        {
            var ended = new TaskCompletionSource<Task?>(TaskCreationOptions.RunContinuationsAsynchronously);
            new Thread(() =>
            {
                SynchronizationContext.SetSynchronizationContext(new Loop());
                _ = call();
                ended.SetResult(null);
            })
            { IsBackground = true }.Start();
            return await ended.Task;
        }
    }

    /// <summary>A thread with a message loop, one of whose handlers blocks.</summary>
    public sealed class BlockingLoop : Guest
    {
        public override string Name => "message loop that blocks";

        public override async Task<Task?> EnterAsync(Func<Task> call, Task release)
        {
            var blocked = new TaskCompletionSource<Task?>(TaskCreationOptions.RunContinuationsAsynchronously);
            new Thread(() =>
            {
                var loop = new Loop();
                SynchronizationContext.SetSynchronizationContext(loop);
                var own = call();
                blocked.SetResult(own);
                release.Wait();
                loop.RunUntil(own);
            })
            { IsBackground = true }.Start();
            return await blocked.Task;
        }
    }

    /// <summary>Runs one task at a time, and the first of them takes long.</summary>
    public sealed class ExclusiveScheduler : Guest
    {
        public override string Name => "exclusive scheduler";

        public override async Task<Task?> EnterAsync(Func<Task> call, Task release)
        {
            var blocked = new TaskCompletionSource<Task?>(TaskCreationOptions.RunContinuationsAsynchronously);
            _ = Task.Factory.StartNew(
                () =>
                {
                    blocked.SetResult(call());
                    release.Wait();
                },
                CancellationToken.None, TaskCreationOptions.LongRunning,
                new ConcurrentExclusiveSchedulerPair().ExclusiveScheduler);
            return await blocked.Task;
        }
    }

    /// <summary>As an activation of an actor: turns one at a time. It is taken down after the turn that made the
    /// call.</summary>
    public sealed class EndingActivation : Guest
    {
        public override string Name => "activation that ends";

        public override async Task<Task?> EnterAsync(Func<Task> call, Task release)
        {
            var turns = new Turns();
            var called = Task.Factory.StartNew(
                () =>
                {
                    _ = call();
                    turns.End();
                },
                CancellationToken.None, TaskCreationOptions.None, turns);
            await called;
            return null;
        }

        private sealed class Turns : TaskScheduler
        {
            private volatile bool _hasEnded;

            public override int MaximumConcurrencyLevel => 1;

            public void End() => _hasEnded = true;

            protected override void QueueTask(Task task)
            {
                if (!_hasEnded) ThreadPool.UnsafeQueueUserWorkItem(turn => TryExecuteTask(turn), task, false);
            }

            protected override bool TryExecuteTaskInline(Task task, bool taskWasPreviouslyQueued) => false;

            protected override IEnumerable<Task>? GetScheduledTasks() => null;
        }
    }

    private sealed class Loop : SynchronizationContext
    {
        private readonly BlockingCollection<(SendOrPostCallback Callback, object? State)> _posted = [];

        public override void Post(SendOrPostCallback d, object? state) => _posted.Add((d, state));

        public void RunUntil(Task call)
        {
            while (!call.IsCompleted)
            {
                if (_posted.TryTake(out var next, TimeSpan.FromMilliseconds(10))) next.Callback(next.State);
            }
        }
    }
}
