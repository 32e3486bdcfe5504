namespace Corfu.Simulation.Kernel;

/// <summary>Incarnation of a simulated process: its context, scheduler and clock. Killing it drops everything it had
/// queued.</summary>
public sealed class SimProcess
{
    private readonly List<Action> _onKill = [];

    public SimProcess(World world, int id, string name, TimeSpan clockSkew = default)
    {
        World = world;
        Id = id;
        Name = name;
        Context = new SimSynchronizationContext(this);
        Scheduler = new SimTaskScheduler(this);
        Loops = new LoopContext(Context);
        Time = new SimTimeProvider(this, clockSkew);
    }

    public World World { get; }

    /// <summary>Unique in a run; a restarted node is another process.</summary>
    public int Id { get; }

    public string Name { get; }

    public SimSynchronizationContext Context { get; }

    public SimTaskScheduler Scheduler { get; }

    /// <summary>Context of the product's own loops: the simulation's only thread.</summary>
    public LoopContext Loops { get; }

    public SimTimeProvider Time { get; }

    public bool Alive { get; private set; } = true;

    /// <summary>Virtual time until which nothing of this process runs (SIGSTOP, a long collection).</summary>
    public long PausedUntil { get; private set; }

    public void Pause(long ticks) => PausedUntil = Math.Max(PausedUntil, World.Now + ticks);

    /// <summary>Wakes it up: nothing new is held back. What was queued meanwhile stays where it is in time.</summary>
    public void Resume() => PausedUntil = Math.Min(PausedUntil, World.Now);

    /// <summary>Called when the process dies: connections, devices.</summary>
    public void OnKill(Action action) => _onKill.Add(action);

    public void Kill()
    {
        if (!Alive)
        {
            return;
        }

        Alive = false;
        World.Note("kill", Name, Id);
        foreach (Action action in _onKill)
        {
            action();
        }
    }

    /// <summary>Starts an async body on this process. A body that throws fails the run; one whose process dies never
    /// ends.</summary>
    public void Start(string what, Func<Task> body)
    {
        World.Schedule(this, 0, SimEventKind.Control, () => Observe(what, body));
    }

    private async void Observe(string what, Func<Task> body)
    {
        try
        {
            await body();
        }
        catch (Exception e)
        {
            World.Fail($"{Name}: {what} threw {e}");
        }
    }
}
