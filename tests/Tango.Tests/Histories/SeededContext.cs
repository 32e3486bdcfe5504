namespace Tango.Tests;

/// <summary>Runs asynchronous code on one thread, choosing the next continuation by a seed: one seed, one interleaving.</summary>
internal sealed class SeededContext(int seed) : SynchronizationContext
{
    private readonly Random _random = new(seed);
    private readonly List<(SendOrPostCallback Callback, object? State)> _ready = [];

    public override void Post(SendOrPostCallback d, object? state) => _ready.Add((d, state));

    public static void Run(int seed, Func<Task> body)
    {
        var previous = Current;
        var context = new SeededContext(seed);
        SetSynchronizationContext(context);
        try
        {
            var task = body();
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
        if (_ready.Count == 0) throw new InvalidOperationException("Nothing can go on: a continuation was lost or left this thread");
        var index = _random.Next(_ready.Count);
        var (callback, state) = _ready[index];
        _ready.RemoveAt(index);
        callback(state);
    }
}
