namespace Tango.ZooKeeper;

/// <summary>A process that speaks ZooKeeper's protocol, as the log knows it.</summary>
/// <param name="Id">Random, drawn at the start of the process; never used again.</param>
/// <param name="CodeLevel">The highest level that its code knows.</param>
/// <param name="Beat">Number of its last sign of life.</param>
/// <param name="IsDown">The process has ended, or is taken for dead. The row stays while it has sessions.</param>
/// <param name="Sessions">How many are attached to it.</param>
public sealed record FrontEnd(
    long Id, int CodeLevel, string Address, long Beat = 0, bool IsDown = false, int Sessions = 0);
