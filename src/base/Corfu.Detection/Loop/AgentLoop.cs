namespace Corfu.Detection;

/// <summary>The agent's one loop. All parts of an agent run on it: between two awaits of one part no other part runs,
/// so none of them needs a lock. Long work runs elsewhere, and only its result comes back here.
/// </summary>
public sealed class AgentLoop
{
    private readonly ILogger _logger;
    private readonly LoopContext _loops;

    // The next step; it comes earlier if a part asks for that.
    private TimeSpan _due = TimeSpan.MaxValue;
    private TaskCompletionSource _broughtForward = new();

    /// <param name="loops">Keeps everything on one thread, as a simulator does. Null: the thread pool runs the loop,
    /// one callback at a time.</param>
    public AgentLoop(AgentClock clock, ILogger logger, LoopContext? loops = null)
    {
        Clock = clock;
        _logger = logger;
        _loops = loops ?? new LoopContext(new SerialContext());
    }

    internal AgentClock Clock { get; }

    /// <summary>Runs work on the loop. Any thread.</summary>
    public Task Run(Func<Task> work) => _loops.RunAsync(work);

    /// <summary>Runs work on the loop that nothing waits for; its failure is logged. Any thread.</summary>
    public void Start(Func<Task> work) => _loops.Start(() => ReportAsync(work));

    /// <summary>Repeats the step, which says how long it is until the next one, until it is cancelled. A step that
    /// fails is logged.</summary>
    public Task RunAsync(Func<TimeSpan> step, TimeSpan afterFailure, CancellationToken stopped) => Run(async () =>
    {
        while (!stopped.IsCancellationRequested)
        {
            var wait = afterFailure;
            try
            {
                wait = step();
            }
            catch (Exception e)
            {
                DetectionLog.StepFailed(_logger, e);
            }

            StepWithin(wait);
            await UntilDueAsync(stopped);
        }
    });

    /// <summary>The next step comes no later than this.</summary>
    public void StepWithin(TimeSpan delay)
    {
        var due = Clock.Now + delay;
        if (due >= _due) return;
        _due = due;
        _broughtForward.TrySetResult();
    }

    private async Task UntilDueAsync(CancellationToken stopped)
    {
        while (_due - Clock.Now is var rest && rest > TimeSpan.Zero && !stopped.IsCancellationRequested)
        {
            // The caller of StepWithin goes on before the step begins.
            _broughtForward = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            using var timer = CancellationTokenSource.CreateLinkedTokenSource(stopped);
            await Task.WhenAny(Task.Delay(WholeMilliseconds(rest), Clock.Time, timer.Token), _broughtForward.Task);
            timer.Cancel();
        }

        _due = TimeSpan.MaxValue;
    }

    // Timers round down: the rest of a millisecond would be no wait.
    private static TimeSpan WholeMilliseconds(TimeSpan time) =>
        TimeSpan.FromMilliseconds(Math.Ceiling(time.TotalMilliseconds));

    private async Task ReportAsync(Func<Task> work)
    {
        try
        {
            await work();
        }
        catch (OperationCanceledException)
        {
            // The agent stops.
        }
        catch (Exception e)
        {
            DetectionLog.TaskFailed(_logger, e);
        }
    }
}
