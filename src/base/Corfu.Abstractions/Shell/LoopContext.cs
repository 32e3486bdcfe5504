namespace Corfu;

/// <summary>
/// Runs work that serves several callers or outlives the call that starts it. The work inherits nothing from that call:
/// no synchronization context and no task scheduler, which may block or end while other callers wait, and no ambient
/// values, which it would keep alive.
/// </summary>
public sealed class LoopContext
{
    // The context of a thread to which no ambient value has flowed.
    private static readonly ExecutionContext s_nothing = CaptureNothing();

    private readonly SynchronizationContext? _context;

    /// <param name="context">Keeps all such work, for a simulator that runs everything on one thread. Null: the thread
    /// pool.</param>
    public LoopContext(SynchronizationContext? context) => _context = context;

    /// <summary>The thread pool.</summary>
    public static LoopContext Pool { get; } = new(null);

    /// <summary>Whether what the calling code awaits resumes here anyway.</summary>
    private bool IsHere => _context is null
        ? SynchronizationContext.Current is null && TaskScheduler.Current == TaskScheduler.Default
        : SynchronizationContext.Current == _context;

    /// <summary>Starts work that nothing waits for: it sees to its own failures. Up to the first wait it runs within
    /// this call, if the caller has no context of its own.</summary>
    public void Start(Func<Task> work)
    {
        if (IsHere) ExecutionContext.Run(s_nothing, static work => _ = ((Func<Task>)work!)(), work);
        else _ = RunAsync(work);
    }

    /// <summary>As <see cref="Start"/>, for work whose end is waited for.</summary>
    public Task RunAsync(Func<Task> work) => RunAsync(async () =>
    {
        await work();
        return true;
    });

    /// <summary>As <see cref="Start"/>, for work whose result is shared.</summary>
    public Task<T> RunAsync<T>(Func<Task<T>> work)
    {
        Task<T>? running = null;
        ExecutionContext.Run(s_nothing, _ => running = IsHere ? work() : MoveAsync(work), null);
        return running!;
    }

    private async Task<T> MoveAsync<T>(Func<Task<T>> work)
    {
        // The caller has its own again when this method returns to it at the first await.
        SynchronizationContext.SetSynchronizationContext(_context);
        var options = ConfigureAwaitOptions.ForceYielding;
        if (_context is not null) options |= ConfigureAwaitOptions.ContinueOnCapturedContext;
        await Task.CompletedTask.ConfigureAwait(options);
        return await work();
    }

    private static ExecutionContext CaptureNothing()
    {
        ExecutionContext? captured = null;
        var thread = new Thread(() => captured = ExecutionContext.Capture());
        thread.UnsafeStart();
        thread.Join();
        return captured!;
    }
}
