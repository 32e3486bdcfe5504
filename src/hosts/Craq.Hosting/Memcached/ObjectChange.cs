namespace Craq.Hosting.Memcached;

/// <summary>A change of one object, in either protocol.</summary>
/// <param name="Verb">Set, Add, Replace, Append, Prepend, Delete, Touch, Increment or Decrement.</param>
/// <param name="Exptime">Seconds, as memcached reads them.</param>
/// <param name="Version">The version that the object must have (<c>cas</c>); null: any.</param>
/// <param name="Delta">The number to add or subtract.</param>
/// <param name="Initial">The number of a counter that is absent; null: it stays absent.</param>
internal readonly record struct ObjectChange(MemcachedVerb Verb, ObjectKey Key, ReadOnlyMemory<byte> Value = default,
    uint Flags = 0, long Exptime = 0, ulong? Version = null, ulong Delta = 0, ulong? Initial = null);

/// <summary>The result of a change.</summary>
/// <param name="Version">The version that was written.</param>
/// <param name="Sum">The number that an increment or decrement has written.</param>
internal readonly record struct ChangeResult(ChangeOutcome Outcome, ObjectVersion Version = default, ulong Sum = 0);

internal enum ChangeOutcome
{
    Done,

    /// <summary>The object is absent.</summary>
    Absent,

    /// <summary>The object has another version, or is there although it should be absent.</summary>
    Exists,

    /// <summary>The value is no decimal number of 64 bits.</summary>
    NotANumber,

    /// <summary>Other clients changed the object at each attempt: nothing was done.</summary>
    Contended,

    /// <summary>The change was applied once, will be, or never is.</summary>
    Unknown,
}
