namespace Corfu.Fuzz;

/// <summary>All decoders in turn, with progress, until so many inputs were fed.</summary>
/// <param name="state">A file that remembers how far it is, for a run in pieces; null forgets.</param>
public sealed class Campaign(IReadOnlyList<Target> targets, int seed, TextWriter output, string? state = null)
{
    // Limits of processor time: the run is made for idle machines, and may get none for long.
    private static readonly TimeSpan Hang = TimeSpan.FromSeconds(20);
    private static readonly TimeSpan Deadlock = TimeSpan.FromMinutes(15);
    private static readonly TimeSpan ProgressEvery = TimeSpan.FromSeconds(10);

    // The input that the watchdog saw running last, and the processor time used by then.
    private (Feeder?, long) _watched;
    private TimeSpan _usedBefore;
    private readonly HashSet<Finding> _told = [];

    public List<Feeder> Feeders { get; } = [.. targets.Select(t => new Feeder(t, seed))];

    public IEnumerable<Finding> Findings => Feeders.SelectMany(f => f.Findings);

    /// <summary>True when nothing was found. A state that is known counts: <paramref name="inputs"/> are all of
    /// them.</summary>
    public bool Run(long inputs, CancellationToken stop = default)
    {
        if (state is not null) CampaignState.Load(state, seed, Feeders);
        using var watchdog = new Timer(_ => Watch(), null, TimeSpan.FromSeconds(1), TimeSpan.FromSeconds(1));
        var told = System.Diagnostics.Stopwatch.GetTimestamp();
        var known = Known();
        var fed = Feeders.Sum(f => f.Inputs);
        while (fed < inputs && !stop.IsCancellationRequested)
        {
            foreach (var feeder in Feeders)
            {
                for (var i = 0; i < feeder.Target.Share && fed < inputs; i++, fed++) feeder.FeedNext();
            }

            if (System.Diagnostics.Stopwatch.GetElapsedTime(told) < ProgressEvery) continue;
            told = System.Diagnostics.Stopwatch.GetTimestamp();
            Remember();
            output.WriteLine($"{fed} of {inputs} inputs, {known + Findings.Count()} findings");
            output.Flush();
        }

        Remember();

        foreach (var feeder in Feeders) output.WriteLine(Summary(feeder));
        output.WriteLine(
            $"{"all decoders",-18} inputs {fed,9} accepted {Feeders.Sum(f => f.Accepted),9} findings "
            + $"{known + Findings.Count()}");
        return known == 0 && !Findings.Any();
    }

    private string FindingsFile => state + ".findings";

    // Findings of earlier pieces of this run.
    private int Known() =>
        state is not null && File.Exists(FindingsFile)
            ? File.ReadLines(FindingsFile).Count(l => l.StartsWith("FINDING", StringComparison.Ordinal))
            : 0;

    // At once: a run in pieces may end at any time.
    private void Remember()
    {
        foreach (var finding in Findings)
        {
            if (!_told.Add(finding)) continue;
            output.WriteLine(finding);
            if (state is not null) File.AppendAllText(FindingsFile, finding + Environment.NewLine);
        }

        if (state is not null) CampaignState.Save(state, seed, Feeders);
    }

    private static string Summary(Feeder f) =>
        $"{f.Target.Name,-18} inputs {f.Inputs,9} accepted {f.Accepted,9} findings {f.Findings.Count} most allocated "
        + $"{f.MostAllocated >> 10} KiB slowest {f.Slowest.TotalMilliseconds:F1} ms";

    // There is no way to stop a decoder that does not return, but to say which input it was.
    private void Watch()
    {
        var used = Environment.CpuUsage.TotalTime;
        foreach (var feeder in Feeders)
        {
            if (feeder.Running == TimeSpan.Zero) continue;
            var input = feeder.Inputs - 1;
            if (_watched != (feeder, input)) (_watched, _usedBefore) = ((feeder, input), used);
            if (used - _usedBefore < Hang && feeder.Running < Deadlock) continue;
            output.WriteLine(new Finding(feeder.Target.Name, input, $"does not return within {Hang.TotalSeconds} s",
                feeder.InputAt(input)));
            output.Flush();
            Environment.FailFast($"{feeder.Target.Name} hangs at input {input}");
        }
    }
}
