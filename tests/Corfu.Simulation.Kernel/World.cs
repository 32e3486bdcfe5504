namespace Corfu.Simulation.Kernel;

/// <summary>
/// The only clock and the only queue of a run: events ordered by (virtual time, seeded tie-break, sequence), executed
/// one at a time on one thread. The tie-break makes every seed explore another interleaving of events that are due at
/// the same time.
/// </summary>
public sealed class World
{
    private readonly PriorityQueue<SimEvent, EventKey> _queue = new();
    private readonly SimRandom _ties;
    private readonly SimRandom _schedule;
    private readonly ExecutionContext _emptyContext;
    private readonly List<string> _failures = [];
    private long _sequence;
    private int _thread;

    public World(ulong seed)
    {
        Seed = seed;
        Random = new SimRandom(seed);
        _ties = Random.Split("ties");
        _schedule = Random.Split("scheduler");
        _emptyContext = ExecutionContext.Capture()!;
    }

    public ulong Seed { get; }

    /// <summary>The root generator: only split, never drawn from.</summary>
    public SimRandom Random { get; }

    /// <summary>Virtual time in ticks of 100 ns since the run began.</summary>
    public long Now { get; private set; }

    public long Steps { get; private set; }

    public TraceHash Hash { get; } = new();

    /// <summary>Null unless the run is traced; a line per event otherwise.</summary>
    public Action<string>? Trace { get; set; }

    /// <summary>Failures so far: foreign threads, unhandled exceptions, broken invariants.</summary>
    public IReadOnlyList<string> Failures => _failures;

    /// <summary>Share of continuations that the simulated operating system delays (a busy machine).</summary>
    public double SlowScheduling { get; set; }

    public long DelayedContinuations { get; private set; }

    public void Fail(string what)
    {
        _failures.Add($"t={Now / 10_000.0:F4} ms step {Steps}: {what}");
        Trace?.Invoke($"FAILURE {what}");
    }

    /// <summary>Continuations and tasks of a process: due now, in seeded order.</summary>
    internal void PostContinuation(SimProcess process, SendOrPostCallback callback, object? state)
    {
        long delay = 0;
        if (_schedule.Chance(SlowScheduling))
        {
            delay = _schedule.Exponential(2_000);
            DelayedContinuations++;
        }

        Schedule(process, delay, SimEventKind.Continuation, callback, state);
    }

    public void Schedule(SimProcess? process, long delay, SimEventKind kind, SendOrPostCallback callback, object? state)
    {
        GuardThread();
        long due = Now + Math.Max(0, delay);
        if (process is not null && process.PausedUntil > due)
        {
            due = process.PausedUntil;
        }

        _queue.Enqueue(new SimEvent(process, kind, callback, state),
            new EventKey(due, _ties.NextUInt64(), _sequence++));
    }

    public void Schedule(SimProcess? process, long delay, SimEventKind kind, Action action)
        => Schedule(process, delay, kind, static s => ((Action)s!)(), action);

    /// <summary>Notes a fact in the trace hash, and in the trace if there is one.</summary>
    public void Note(string what, string? where = null, long a = 0, long b = 0, ReadOnlySpan<byte> bytes = default)
    {
        Hash.Add(what);
        if (where is not null)
        {
            Hash.Add(where);
        }

        Hash.Add(a);
        Hash.Add(b);
        if (!bytes.IsEmpty)
        {
            Hash.Add(bytes);
        }

        Trace?.Invoke(
            $"{Steps,8} {Now / 10_000.0,12:F4} ms   {what} {where} {a} {b}{(bytes.IsEmpty ? "" : $" [{bytes.Length} "
            + "bytes]")}");
    }

    /// <summary>Text for the trace only; build it only when <see cref="Trace"/> is there.</summary>
    public void Explain(string text) => Trace?.Invoke($"{Steps,8} {Now / 10_000.0,12:F4} ms     {text}");

    /// <summary>Runs one event. False when nothing is left.</summary>
    internal bool Step()
    {
        if (!_queue.TryDequeue(out SimEvent? next, out EventKey key))
        {
            return false;
        }

        SimProcess? process = next.Process;
        if (process is { Alive: false })
        {
            return true;
        }

        if (process is not null && process.PausedUntil > key.Due)
        {
            // A stopped process (SIGSTOP, long collection) runs nothing; all of it comes when it wakes up.
            _queue.Enqueue(next, new EventKey(process.PausedUntil, key.Tie, key.Sequence));
            return true;
        }

        Now = Math.Max(Now, key.Due);
        Steps++;
        Hash.Add(Now);
        Hash.Add(((ulong)(process?.Id ?? 0) << 8) | (ulong)next.Kind);
        Trace?.Invoke($"{Steps,8} {Now / 10_000.0,12:F4} ms {process?.Name ?? "-"} {next.Kind}");
        Run(next);
        return true;
    }

    internal void BindThread() => _thread = Environment.CurrentManagedThreadId;

    internal void ReleaseThread() => _thread = 0;

    private void Run(SimEvent next)
    {
        SynchronizationContext? before = SynchronizationContext.Current;
        try
        {
            SynchronizationContext.SetSynchronizationContext(next.Process?.Context);
            // An own execution context per event: AsyncLocals must not leak from one node to another.
            ExecutionContext.Run(_emptyContext, static s => ((SimEvent)s!).Invoke(), next);
        }
        catch (Exception e)
        {
            Fail($"unhandled on {next.Process?.Name ?? "the world"}: {e}");
        }
        finally
        {
            SynchronizationContext.SetSynchronizationContext(before);
        }
    }

    private void GuardThread()
    {
        if (_thread != 0 && Environment.CurrentManagedThreadId != _thread)
        {
            string what =
                $"foreign thread {Environment.CurrentManagedThreadId} posted to the simulation: "
                + $"{Environment.StackTrace}";
            _failures.Add(what);
            throw new InvalidOperationException(what);
        }
    }

    private readonly record struct EventKey(long Due, ulong Tie, long Sequence) : IComparable<EventKey>
    {
        public int CompareTo(EventKey other)
        {
            int c = Due.CompareTo(other.Due);
            if (c != 0)
            {
                return c;
            }

            c = Tie.CompareTo(other.Tie);
            return c != 0 ? c : Sequence.CompareTo(other.Sequence);
        }
    }

    private sealed record SimEvent(SimProcess? Process, SimEventKind Kind, SendOrPostCallback Callback, object? State)
    {
        public void Invoke() => Callback(State);
    }
}
