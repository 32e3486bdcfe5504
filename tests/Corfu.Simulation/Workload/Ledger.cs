using Corfu.Simulation.Kernel;

namespace Corfu.Simulation.Workload;

/// <summary>State shared by the workload's loops: the operations left, unique numbers, and how far the log is known to
/// reach.</summary>
public sealed class Ledger(long operations)
{
    private long _payload;
    private long _known = -1;
    private Epoch _epoch;

    /// <summary>Operations that ended with an answer. What a killed client had begun does not count.</summary>
    public long Acknowledged { get; private set; }

    public bool Exhausted => Acknowledged >= operations;

    public bool AnyGranted => _known >= 0;

    public void Done() => Acknowledged++;

    /// <summary>The highest position that a client was told is granted, with the epoch that told it.</summary>
    public LogPosition Newest => _known < 0 ? default : new LogPosition(_known, _epoch);

    public long NextPayload() => ++_payload;

    public void Learn(long granted, Epoch epoch)
    {
        if (granted <= _known) return;
        _known = granted;
        _epoch = epoch;
    }

    /// <summary>A position that some client knows to be granted, with the epoch in which it learnt that.</summary>
    public LogPosition SomeGranted(SimRandom random) => new(_known < 0 ? 0 : Recent(random), _epoch);

    /// <summary>Mostly granted ones, sometimes a little beyond.</summary>
    public long SomePosition(SimRandom random) =>
        Math.Max(0, Recent(random) + (random.Chance(0.1) ? random.Between(1, 3) : 0));

    private long Recent(SimRandom random)
        => _known <= 0 ? 0 : random.Chance(0.6) ? Math.Max(0, _known - random.Next(8)) : random.Next(_known + 1);
}
