using System.Diagnostics;

namespace Corfu.Fuzz;

/// <summary>Feeds one target, input by input, and judges what happens.</summary>
public sealed class Feeder(Target target, int seed)
{
    private const int MaxFindings = 20;

    private readonly HashSet<string> _kinds = [];
    private long _began;

    public Target Target => target;

    public long Inputs { get; private set; }

    public long Accepted { get; private set; }

    public long MostAllocated { get; private set; }

    public TimeSpan Slowest { get; private set; }

    /// <summary>The first finding of each kind.</summary>
    public List<Finding> Findings { get; } = [];

    /// <summary>How long the input at hand has been running; read by the watchdog's thread.</summary>
    public TimeSpan Running =>
        Volatile.Read(ref _began) is > 0 and var began ? Stopwatch.GetElapsedTime(began) : TimeSpan.Zero;

    /// <summary>Behind what another process has fed already.</summary>
    public void GoOn(long inputs, long accepted, long mostAllocated, TimeSpan slowest) =>
        (Inputs, Accepted, MostAllocated, Slowest) = (inputs, accepted, mostAllocated, slowest);

    public byte[] InputAt(long number)
    {
        var random = FuzzRandom.For(seed, target.Name, number);
        var bytes = Mutator.Mutate(ref random, target.Samples);
        if (target.Repair is { } repair && !random.OneIn(4))
        {
            try
            {
                repair(bytes);
            }
            catch (Exception e) when (e is ArgumentException or IndexOutOfRangeException)
            {
                // Too short to have what would be repaired.
            }
        }

        return bytes;
    }

    public void FeedNext()
    {
        var number = Inputs++;
        Feed(number, InputAt(number));
    }

    public void Feed(long number, byte[] bytes)
    {
        var copy = bytes.AsSpan().ToArray();
        var before = GC.GetAllocatedBytesForCurrentThread();
        Volatile.Write(ref _began, Stopwatch.GetTimestamp());
        Exception? wrong = null;
        try
        {
            target.Feed(bytes);
            Accepted++;
        }
        catch (Exception e)
        {
            if (!target.IsDocumented(e)) wrong = e;
        }

        var took = Running;
        Volatile.Write(ref _began, 0);
        var allocated = GC.GetAllocatedBytesForCurrentThread() - before;
        MostAllocated = Math.Max(MostAllocated, allocated);
        if (took > Slowest) Slowest = took;
        if (wrong is not null)
            Report(number, $"{wrong.GetType().Name}: {wrong.Message} {Place(wrong)}",
                wrong.GetType().Name + Place(wrong), copy);
        if (allocated > target.Limit(copy.Length))
            Report(number, $"{allocated} bytes allocated for {copy.Length}, limit {target.Limit(copy.Length)}",
                "allocated", copy);
    }

    private void Report(long number, string what, string kind, byte[] bytes)
    {
        if (Findings.Count < MaxFindings && _kinds.Add(kind))
            Findings.Add(new Finding(target.Name, number, what, bytes));
    }

    private static string Place(Exception e)
    {
        var frames = (e.StackTrace ?? "").Split('\n')
            .Where(
                l => l.Contains(" Corfu.", StringComparison.Ordinal) || l.Contains(" Tango.", StringComparison.Ordinal)
                    || l.Contains(" JobScheduler.", StringComparison.Ordinal));
        return string.Join(" <", frames.Take(2).Select(l => l.Trim().Split(" in ")[0]));
    }
}
