using Corfu.Simulation.Kernel.Seeds;
using Corfu.Simulation.Workload;

namespace Corfu.Simulation.Runner;

/// <summary>
/// Plans that once found a bug, written down: a seed's meaning may change with the plan generator, a plan's does not.
/// Each is run with several seeds, since the interleaving that mattered moves with every change of the code.
/// </summary>
public static class Regressions
{
    private const int SeedsEach = 5;

    public static readonly (string Name, string Bug, SeedPlan Plan)[] All =
    [
        (
            "tail-of-an-ended-epoch",
            "Views were published up to the tail: a grant of an epoch that ended counted as played, and when the "
            + "next epoch granted the "
                + "position again, that replica never saw the entry (R10).",
            new SeedPlan
            {
                Seed = 20,
                Kind = WorkloadKind.Tango,
                Clients = 3,
                Workers = 3,
                Operations = 408,
                Faults = [FaultKind.Reordering, FaultKind.Reconfigure],
                Network = new() { MinLatency = 200, Jitter = 2_000 },
                Disk = new() { FlushLatency = 300, KeepAtCrash = 1 },
                RequestTimeout = 2_000_000,
                OperationTimeout = TimeSpan.FromMilliseconds(500),
                FaultInterval = 100_000,
                FaultsUntil = 30_000_000,
            }),
        (
            "sequencer-left-behind",
            "A replaced sequencer that is not told goes on asking for stream tails: a client that still believed it "
            + "asked the sealed units without end.",
            new SeedPlan
            {
                Seed = 53,
                Kind = WorkloadKind.Tango,
                Replicas = 1,
                Clients = 3,
                Workers = 5,
                Operations = 411,
                Faults =
                [
                    FaultKind.Loss, FaultKind.Duplication, FaultKind.LongDelay, FaultKind.Reordering, FaultKind.Clog,
                    FaultKind.BrokenConnection,
                    FaultKind.KillUnit, FaultKind.PowerCut, FaultKind.TornWrite, FaultKind.LostWrite,
                    FaultKind.SlowFlush,
                    FaultKind.KillSequencer, FaultKind.Pause, FaultKind.SlowScheduling, FaultKind.Reconfigure,
                ],
                Network = new() { MinLatency = 1_000, Jitter = 2_000, Loss = 0.1, Duplication = 0.1,
                    LongDelay = 0.005 },
                Disk = new() { FlushLatency = 300, SlowFlush = 0.01, SlowFlushLatency = 50_000, KeepAtCrash = 0.3,
                    TearAtCrash = 1 },
                RequestTimeout = 100_000,
                FaultInterval = 100_000,
                FaultsUntil = 10_000_000,
                SlowScheduling = 0.2,
            }),
        (
            "probe-past-its-commit",
            "A runtime that probed for an orphan's decision played on to the next record of the same entry, an "
            + "orphan too, whose probe met the first "
                + "one again: probes within probes for ever (R20).",
            new SeedPlan
            {
                Seed = 1050,
                Kind = WorkloadKind.Tango,
                Spares = 3,
                Replicas = 3,
                Clients = 4,
                Workers = 4,
                Operations = 314,
                Faults = [FaultKind.Duplication, FaultKind.KillClient, FaultKind.AddCapacity],
                Network = new() { MinLatency = 1_000, Jitter = 50, Duplication = 0.01 },
                Disk = new() { FlushLatency = 20_000, KeepAtCrash = 1 },
                OperationTimeout = TimeSpan.FromMilliseconds(500),
                FaultInterval = 30_000,
                FaultsUntil = 10_000_000,
            }),
        (
            "scout-behind-a-trim",
            "Playback that waits for a decision reads ahead with a second cursor, which stayed where the last wait "
            + "had left it: once playback was past that, and the log "
                + "trimmed up to there, every later wait failed for good (R20, R22).",
            new SeedPlan
            {
                Seed = 7,
                Kind = WorkloadKind.Tango,
                Clients = 2,
                Workers = 3,
                Operations = 400,
                Trims = true,
                Faults = [FaultKind.Reordering, FaultKind.PowerCut],
                Network = new() { MinLatency = 1_000, Jitter = 2_000 },
                Disk = new() { FlushLatency = 1_500, KeepAtCrash = 1 },
                RequestTimeout = 100_000,
                OperationTimeout = TimeSpan.FromMilliseconds(500),
                FaultInterval = 500_000,
                FaultsUntil = 20_000_000,
            }),
        (
            "probe-meets-a-trim",
            "A runtime that waits long for a decision plays the read set from its beginning: where that was "
            + "trimmed, its callers were told that their views could not go on, "
                + "though the hosts were about to publish the decision (R20, R22).",
            new SeedPlan
            {
                Seed = 74,
                Kind = WorkloadKind.Tango,
                Units = 1,
                Spares = 3,
                Replicas = 1,
                Acceptors = 1,
                Clients = 4,
                Workers = 2,
                Operations = 402,
                Trims = true,
                Faults =
                [
                    FaultKind.Loss, FaultKind.Duplication, FaultKind.PartitionOneWay, FaultKind.BrokenConnection,
                    FaultKind.Pause, FaultKind.ClockSkew, FaultKind.Reconfigure,
                    FaultKind.StuckWrites, FaultKind.AddCapacity, FaultKind.Scrub, FaultKind.FullDisk,
                ],
                Network = new() { MinLatency = 200, Jitter = 50, Loss = 0.005, Duplication = 0.1 },
                Disk = new() { FlushLatency = 20_000, KeepAtCrash = 1 },
                RequestTimeout = 30_000,
                FaultInterval = 100_000,
                FaultsUntil = 30_000_000,
                MaxClockSkew = TimeSpan.TicksPerMinute,
            }),
        (
            "marked-for-good",
            "A page that two bad reads in a row had marked as damaged stayed so: where it was the head's, and its "
            + "writer had come no further, no client could complete or fill the "
                + "position, and readers of its stream stood before it for ever (R4, R8).",
            new SeedPlan
            {
                Seed = 2267,
                Kind = WorkloadKind.Tango,
                Clients = 4,
                Workers = 4,
                Operations = 400,
                Faults = [FaultKind.Clog, FaultKind.BrokenConnection, FaultKind.SlowFlush, FaultKind.KillClient,
                    FaultKind.Reconfigure, FaultKind.Misread],
                Network = new() { MinLatency = 1_000, Jitter = 50 },
                Disk = new() { FlushLatency = 20_000, SlowFlush = 0.01, SlowFlushLatency = 500_000, Misread = 0.2,
                    KeepAtCrash = 1 },
                RequestTimeout = 100_000,
            }),
        (
            "killed-before-the-flush",
            "A killed process leaves its last writes in the page cache. The next one took them for durable, and its "
            + "Open record said so: after a power cut the log was damaged (R4).",
            new SeedPlan
            {
                Seed = 6926,
                Clients = 3,
                Operations = 400,
                Faults = [FaultKind.KillUnit, FaultKind.PowerCut, FaultKind.LostWrite],
                Network = new() { MinLatency = 200, Jitter = 50 },
                Disk = new() { FlushLatency = 20_000 },
                RequestTimeout = 100_000,
                FaultInterval = 30_000,
                FaultsUntil = 30_000_000,
            }),
    ];

    public static int Run(TextWriter output)
    {
        int failed = 0;
        foreach ((string name, string bug, SeedPlan plan) in All)
        {
            SeedResult[] results = [.. Enumerable.Range(0, SeedsEach)
                .Select(i => SeedRunner.Run(plan with { Seed = plan.Seed + (ulong)(i * 1000) }, null))];
            SeedResult? bad = Array.Find(results, r => r.Failed);
            output.WriteLine(bad is null ? $"{name}: passed" : $"{name}: FAILED ({bug}) {bad.Violations[0]}");
            if (bad is not null) failed++;
        }

        output.WriteLine($"regressions {All.Length} failed {failed}");
        return failed == 0 ? 0 : 1;
    }
}
