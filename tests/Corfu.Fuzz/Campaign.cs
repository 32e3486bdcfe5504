namespace Corfu.Fuzz;

/// <summary>All decoders in turn, with progress, until so many inputs were fed.</summary>
public sealed class Campaign(IReadOnlyList<Target> targets, int seed, TextWriter output)
{
    private static readonly TimeSpan Hang = TimeSpan.FromSeconds(20);
    private static readonly TimeSpan ProgressEvery = TimeSpan.FromSeconds(10);

    public List<Feeder> Feeders { get; } = [.. targets.Select(t => new Feeder(t, seed))];

    public IEnumerable<Finding> Findings => Feeders.SelectMany(f => f.Findings);

    /// <summary>True when nothing was found.</summary>
    public bool Run(long inputs)
    {
        using var watchdog = new Timer(_ => Watch(), null, TimeSpan.FromSeconds(1), TimeSpan.FromSeconds(1));
        var told = System.Diagnostics.Stopwatch.GetTimestamp();
        long fed = 0;
        while (fed < inputs)
        {
            foreach (var feeder in Feeders)
            {
                for (var i = 0; i < feeder.Target.Share && fed < inputs; i++, fed++) feeder.FeedNext();
            }

            if (System.Diagnostics.Stopwatch.GetElapsedTime(told) < ProgressEvery) continue;
            told = System.Diagnostics.Stopwatch.GetTimestamp();
            output.WriteLine($"{fed} of {inputs} inputs, {Findings.Count()} findings");
        }

        foreach (var feeder in Feeders) output.WriteLine(Summary(feeder));
        foreach (var finding in Findings) output.WriteLine(finding);
        return !Findings.Any();
    }

    private static string Summary(Feeder f) =>
        $"{f.Target.Name,-18} inputs {f.Inputs,9} accepted {f.Accepted,9} findings {f.Findings.Count} most allocated {f.MostAllocated >> 10} KiB slowest {f.Slowest.TotalMilliseconds:F1} ms";

    // There is no way to stop a decoder that does not return, but to say which input it was.
    private void Watch()
    {
        foreach (var feeder in Feeders)
        {
            if (feeder.Running < Hang) continue;
            output.WriteLine(new Finding(feeder.Target.Name, feeder.Inputs - 1, $"does not return within {Hang.TotalSeconds} s", feeder.InputAt(feeder.Inputs - 1)));
            output.Flush();
            Environment.FailFast($"{feeder.Target.Name} hangs at input {feeder.Inputs - 1}");
        }
    }
}
