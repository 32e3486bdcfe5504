namespace Corfu.Simulation.Kernel;

/// <summary>
/// Runs a world as a work item of a thread pool that has exactly one worker (runtimeconfig: MaxThreads 1). What the
/// framework itself sends to the pool (Task.WhenAll or WaitAsync over sources with asynchronous continuations,
/// SemaphoreSlim with a token) then runs on the same thread, in the pool's order, between two events: the pump steps
/// aside whenever something is pending there.
/// </summary>
public sealed class Pump : IThreadPoolWorkItem
{
    private readonly World _world;
    private readonly Func<bool> _done;
    private readonly long _until;
    private readonly long _maxSteps;
    private readonly ManualResetEventSlim _finished = new();
    private Exception? _error;

    private Pump(World world, Func<bool> done, long until, long maxSteps)
    {
        _world = world;
        _done = done;
        _until = until;
        _maxSteps = maxSteps;
    }

    /// <summary>Why a run ended.</summary>
    public enum Ending { Done, TimeUp, NothingLeft, TooManySteps }

    private Ending Result { get; set; }

    /// <summary>Runs until <paramref name="done"/>, checked after each event, or until the virtual time has
    /// passed.</summary>
    public static Ending Run(World world, Func<bool> done, long untilTicks, long maxSteps)
    {
        ThreadPool.GetMaxThreads(out int workers, out _);
        if (workers != 1)
        {
            throw new InvalidOperationException(
                $"the simulator needs a thread pool of one worker, this process has {workers}");
        }

        var pump = new Pump(world, done, untilTicks, maxSteps);
        ThreadPool.UnsafeQueueUserWorkItem(pump, preferLocal: false);
        pump._finished.Wait();
        world.ReleaseThread();
        if (pump._error is { } error)
        {
            throw new InvalidOperationException("the simulation kernel failed", error);
        }

        return pump.Result;
    }

    public void Execute()
    {
        try
        {
            _world.BindThread();
            while (ThreadPool.PendingWorkItemCount == 0)
            {
                if (Ended() is { } ending)
                {
                    Result = ending;
                    _finished.Set();
                    return;
                }
            }

            ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
        }
        catch (Exception e)
        {
            _error = e;
            _finished.Set();
        }
    }

    private Ending? Ended()
    {
        if (_done())
        {
            return Ending.Done;
        }

        if (_world.Now >= _until)
        {
            return Ending.TimeUp;
        }

        if (_world.Steps >= _maxSteps)
        {
            return Ending.TooManySteps;
        }

        return _world.Step() ? null : Ending.NothingLeft;
    }
}
