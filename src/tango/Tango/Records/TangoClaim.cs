using Corfu;

namespace Tango;

/// <summary>History from a position on that something needs.</summary>
/// <param name="Name">The object's (of a group, its first member's), the reader's or the stream's.</param>
/// <param name="Checkpoint">End of an object's newest checkpoint; null if it has none.</param>
public sealed record TangoClaim(TangoClaimKind Kind, string Name, LogPosition Position, LogPosition? Checkpoint)
{
    /// <summary>The group that is claimed for, or null; its claim rises with checkpoints of a program that knows the
    /// types of all members.</summary>
    public string? Group { get; init; }

    /// <summary>Position of the oldest value in the log that the newest checkpoint's state has; null if it has none.
    /// Only an <see cref="ITangoIndex"/> object has one.</summary>
    public LogPosition? OldestValue { get; init; }

    /// <summary>The claim rises when the object's oldest values are written again, replaced or removed. Another
    /// checkpoint alone does not let it rise.</summary>
    public bool IsHeldByValues => OldestValue <= Position;
}

/// <summary>Kinds of claims on history.</summary>
public enum TangoClaimKind
{
    /// <summary>An object or a group; its claim rises with its checkpoints.</summary>
    Object,

    /// <summary>The directory, which has checkpoints like an object.</summary>
    Directory,

    /// <summary>A deleted object, until the others have checkpoints from after its deletion.</summary>
    DeletedObject,

    /// <summary>A reader or a feed that registered; its claim ends when it moves on, or with its lease.</summary>
    Reader,

    /// <summary>A raw stream that was declared to be retained.</summary>
    Stream,
}
