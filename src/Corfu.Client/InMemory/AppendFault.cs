namespace Corfu.Client.InMemory;

/// <summary>What may go wrong with one append to an <see cref="InMemoryCorfuLog"/>.</summary>
public enum AppendFault
{
    None,

    /// <summary>The granted position is never written; the append succeeds at a later one. Readers meet a hole.</summary>
    LeaveHole,

    /// <summary>The entry is written, but its writer is told <see cref="AppendOutcome.Unknown"/>.</summary>
    WrittenButUnknown,

    /// <summary>The entry is not written, and its writer is told <see cref="AppendOutcome.Unknown"/>. Readers meet a hole.</summary>
    LostAndUnknown,
}
