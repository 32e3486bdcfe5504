namespace Corfu.Simulation.Kernel.Disk;

/// <summary>How one simulated disk behaves; times in ticks of 100 ns.</summary>
public sealed record SimDiskOptions
{
    public long WriteLatency { get; init; } = 100;

    public long FlushLatency { get; init; } = 1_500;

    /// <summary>Chance that a flush takes <see cref="SlowFlushLatency"/> instead.</summary>
    public double SlowFlush { get; init; }

    public long SlowFlushLatency { get; init; } = 300_000;

    /// <summary>Chance that a read of a served page returns a flipped bit; the disk itself keeps what it has.</summary>
    public double Misread { get; init; }

    /// <summary>At a crash, chance for each un-flushed write to be kept (any subset may be).</summary>
    public double KeepAtCrash { get; init; } = 0.5;

    /// <summary>At a crash, chance that a kept write is torn: only some of its bytes or sectors reached the
    /// disk.</summary>
    public double TearAtCrash { get; init; }
}
