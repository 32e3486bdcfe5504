namespace Craq;

/// <summary>An object as a read found it.</summary>
public readonly record struct StoredObject
{
    internal StoredObject(in ObjectResult found, long age)
    {
        IsFound = found.IsFound;
        Version = found.Version;
        IsDirty = found.IsDirty;
        Flags = found.Flags;
        Expiry = found.Expiry;
        Length = found.Length;
        Value = found.Value;
        Age = age < 0 ? null : TimeSpan.FromMilliseconds(age);
    }

    public bool IsFound { get; }

    /// <summary>The number of the write that made it; of an absent object none, or the write that deleted it.</summary>
    public ObjectVersion Version { get; private init; }

    /// <summary>The version was not known to be committed: bounded and eventual reads show such versions.</summary>
    public bool IsDirty { get; }

    /// <summary>The user's, uninterpreted.</summary>
    public uint Flags { get; }

    /// <summary>Unix time in milliseconds from which the object reads as absent; 0: never.</summary>
    public long Expiry { get; }

    /// <summary>Bytes of the value, also where the value was not asked for.</summary>
    public int Length { get; }

    public ReadOnlyMemory<byte> Value { get; }

    /// <summary>The time since the replica last proved that its epoch is the newest; null: not in this epoch. A version
    /// bound alone bounds no age.</summary>
    public TimeSpan? Age { get; }

    /// <summary>The same object at another version: of a write that kept its value.</summary>
    public StoredObject At(ObjectVersion version) => this with { Version = version };
}
