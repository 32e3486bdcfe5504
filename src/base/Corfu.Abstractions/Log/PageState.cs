namespace Corfu;

/// <summary>State of one page (TOCS 2.1, Fig. 4), ordered: unwritten &lt; data | junk &lt; trimmed. Corrupt stands
/// apart.</summary>
public enum PageState : byte
{
    Unwritten = 0,
    Data = 1,
    Junk = 2,
    Trimmed = 3,

    /// <summary>Written once, damaged now: never filled, repaired only with the identical entry.</summary>
    Corrupt = 4,
}
