namespace Corfu.Protocol;

/// <summary>What an entry holds. Numbers are part of the entry format.</summary>
public enum EntryKind : byte
{
    Data = 1,

    /// <summary>Closes a hole (CORFU 2.1: fill).</summary>
    Junk = 2,
}
