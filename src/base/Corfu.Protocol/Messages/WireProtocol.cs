namespace Corfu.Protocol;

/// <summary>The protocol versions of one build. The handshake settles on the highest version that both sides know, and
/// <see cref="RequestTable"/> has the rules of a change.</summary>
public sealed class WireProtocol
{
    /// <summary>The version of the baseline, whose bytes are recorded in the tests.</summary>
    public const ushort Baseline = 1;

    /// <summary>Requests may carry their caller's trace.</summary>
    public const ushort Traces = 2;

    /// <summary>Roles of peers: <see cref="Status.Denied"/>, <see cref="Opcode.Deny"/> with the lists in pings, and
    /// <see cref="Opcode.ProcessInfo"/>.</summary>
    public const ushort Version2 = 2;

    /// <summary>Declarations of a <see cref="TokenRequest"/>, and the rulings of its answer.</summary>
    public const ushort Version3 = 3;

    private WireProtocol(ushort lowest, ushort highest)
    {
        Lowest = lowest;
        Highest = highest;
    }

    public static WireProtocol Current { get; } = new(Baseline, Version3);

    public ushort Lowest { get; }

    public ushort Highest { get; }

    /// <summary>The highest version that both sides know, or null when they have none in common.</summary>
    public ushort? Settle(ushort lowest, ushort highest) =>
        lowest <= Highest && highest >= Lowest && lowest <= highest ? Math.Min(highest, Highest) : null;

    /// <summary>This protocol with one more version on top. For tests of what a later build would do.</summary>
    internal WireProtocol Next() => new(Lowest, (ushort)(Highest + 1));
}
