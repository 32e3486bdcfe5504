namespace Tango.Records;

/// <summary>Bits of a commit record; an unknown one makes it unreadable.</summary>
[Flags]
internal enum CommitFlags
{
    None = 0,

    /// <summary>R20: objects of more than one group, so that a decision record follows.</summary>
    NeedsDecision = 1,
}
