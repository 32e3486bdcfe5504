namespace Corfu.TestKit;

/// <summary>Runs asynchronous code on one thread, choosing the next continuation by a seed: one seed, one
/// interleaving.</summary>
public sealed class SeededContext(int seed) : SynchronizationContext
{
    private readonly Random _random = new(seed);
    private string? _foreign;
    private readonly List<(SendOrPostCallback Callback, object? State)> _ready = [];

    private readonly Thread _thread = Thread.CurrentThread;

    public override void Post(SendOrPostCallback d, object? state)
    {
        // The product must stay on the simulator's only thread; a helper that hops to the pool shows here.
        if (Thread.CurrentThread != _thread) Volatile.Write(ref _foreign, Environment.StackTrace);
        lock (_ready) _ready.Add((d, state));
    }

    /// <summary>Loops of runtimes: on this thread within <see cref="Run"/>, else as for any program.</summary>
    public static LoopContext Loops => new(Current as SeededContext);

    /// <summary>Moves when nothing else can go on.</summary>
    public VirtualTime Time { get; } = new();

    public static void Run(int seed, Func<VirtualTime, Task> body)
    {
        var previous = Current;
        var context = new SeededContext(seed);
        SetSynchronizationContext(context);
        try
        {
            var task = body(context.Time);
            while (!task.IsCompleted) context.Step();
            task.GetAwaiter().GetResult();
        }
        finally
        {
            SetSynchronizationContext(previous);
        }
    }

    private void Step()
    {
        if (Volatile.Read(ref _foreign) is { } stack)
            throw new InvalidOperationException("A continuation came from another thread: " + stack);
        if (_ready.Count == 0 && Time.FireNext()) return;
        if (_ready.Count == 0)
            throw new InvalidOperationException("Nothing can go on: a continuation was lost or left this thread");
        var index = _random.Next(_ready.Count);
        var (callback, state) = _ready[index];
        _ready.RemoveAt(index);
        callback(state);
    }
}
