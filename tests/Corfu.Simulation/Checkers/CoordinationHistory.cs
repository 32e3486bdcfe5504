using Tango;
using Tango.Collections;

namespace Corfu.Simulation.Checkers;

/// <summary>Actions of coordinating clients and the answers to them, and in the end all that the log has of
/// them.</summary>
public sealed class CoordinationHistory
{
    /// <summary>Tokens of the lock, as their holders were told them.</summary>
    public List<(int Client, long Token)> Acquired { get; } = [];

    /// <summary>Moments, in milliseconds, at which a holder's own clock said that it has the lock.</summary>
    public List<(long Token, long At)> Held { get; } = [];

    /// <summary>Values of items that were acknowledged as added.</summary>
    public HashSet<string> Added { get; } = [];

    /// <summary>Guarded values that were told to be written.</summary>
    public HashSet<string> Written { get; } = [];

    /// <summary>Values of items that were told to be done.</summary>
    public HashSet<string> ToldDone { get; } = [];

    /// <summary>Dead letters in the end.</summary>
    public HashSet<string> Dead { get; } = [];

    /// <summary>In the end: the changes of each object, in the order of the log.</summary>
    public List<TangoChange<TangoLock>> LockChanges { get; } = [];

    public List<TangoChange<TangoRegister<string>>> GuardedChanges { get; } = [];

    public List<TangoChange<TangoWorkQueue<string>>> QueueChanges { get; } = [];

    public List<TangoChange<TangoList<string>>> DoneChanges { get; } = [];

    public List<TangoChange<TangoSortedDictionary<string, string>>> SlotChanges { get; } = [];

    /// <summary>By position: the virtual time, in milliseconds, at which its entry was made. No clock is
    /// skewed.</summary>
    public Dictionary<LogPosition, long> MadeAt { get; } = [];

    /// <summary>The changes were read.</summary>
    public bool IsComplete { get; set; }
}
