namespace Corfu.FaultRuns.ZooKeeper.Faults;

public enum ZooFaultKind
{
    /// <summary>SIGKILL to one front end, which starts again.</summary>
    KillFrontEnd,

    /// <summary>SIGKILL to two of three front ends.</summary>
    KillTwo,

    /// <summary>SIGSTOP to one front end, for longer than its lease, or shorter.</summary>
    StopFrontEnd,

    /// <summary>SIGKILL to a unit of the log, which starts again with its data.</summary>
    KillUnit,

    /// <summary>SIGSTOP to a unit of the log.</summary>
    StopUnit,

    /// <summary>SIGKILL to the sequencer, which starts again.</summary>
    KillSequencer,

    /// <summary>SIGSTOP to all processes of the log.</summary>
    StopLog,
}

/// <summary>A fault with all that chance decides.</summary>
public sealed record ZooFault(ZooFaultKind Kind, int Place, int Other, TimeSpan Hold)
{
    // A short run has a dead front end, a paused one and a dead unit: they come first.
    private static readonly ZooFaultKind[] s_first =
        [ZooFaultKind.KillFrontEnd, ZooFaultKind.StopFrontEnd, ZooFaultKind.KillUnit];

    /// <summary>Faults without end: each kind once in every round, in another order each time. The same seed gives the
    /// same faults.</summary>
    public static IEnumerable<ZooFault> Plan(int seed, IReadOnlyCollection<ZooFaultKind> kinds)
    {
        const int FrontEnds = 3;
        var random = new Random(seed);
        for (var isFirst = true; ; isFirst = false)
        {
            var order = kinds.OrderBy(_ => random.Next()).ToList();
            if (isFirst) order = [.. order.OrderBy(kind => s_first.Contains(kind) ? 0 : 1)];
            foreach (var kind in order)
            {
                var place = random.Next(FrontEnds);
                var other = (place + 1 + random.Next(FrontEnds - 1)) % FrontEnds;
                // The lease of a front end is 4 s: some faults are over before. A pause may outlast sessions.
                var hold = random.Next(3) == 0 ? random.Next(500, 2500) : random.Next(4500, 7000);
                if (kind == ZooFaultKind.StopFrontEnd) hold = random.Next(2) == 0 ? hold : random.Next(11_000, 14_000);
                yield return new ZooFault(kind, place, other, TimeSpan.FromMilliseconds(hold));
            }
        }
    }
}
