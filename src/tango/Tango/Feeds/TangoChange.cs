using Tango.Formatting;

namespace Tango;

/// <summary>Kinds of a feed's elements.</summary>
public enum TangoChangeKind
{
    /// <summary>A mutator call took effect.</summary>
    Update,

    /// <summary>History was trimmed before the feed had read it: changes up to the place were missed, and
    /// <see cref="TangoChange{T}.State"/> is what they came to.</summary>
    Reset,

    /// <summary>There was no further change up to the place. It lets the reader resume from there.</summary>
    Progress,
}

/// <summary>An element of <see cref="RuntimeHistory.ChangesAsync{T}(string, ChangePlace?, FeedOptions?,
/// CancellationToken)"/>.</summary>
public sealed class TangoChange<T>
    where T : TangoObject
{
    internal TangoChange(TangoChangeKind kind, ChangePlace place) => (Kind, Place) = (kind, place);

    public TangoChangeKind Kind { get; }

    /// <summary>Place that a reader keeps when it is done with the element, to resume behind it.</summary>
    public ChangePlace Place { get; }

    /// <summary>Mutator of an update's call.</summary>
    public MutatorInfo? Mutator { get; internal init; }

    /// <summary>Commit record of an update in a transaction. All its updates of the object follow each other. Null: the
    /// call was a plain update.</summary>
    public RecordVersion? Transaction { get; internal init; }

    /// <summary>The [VersionKey] parameters of an update, as they stand in the log.</summary>
    public ReadOnlyMemory<byte> Key { get; internal init; }

    /// <summary>The other parameters of an update, as they stand in the log.</summary>
    public ReadOnlyMemory<byte> Arguments { get; internal init; }

    /// <summary>Place of an update's call.</summary>
    internal LogPlace At { get; init; }

    /// <summary>The object's state in a reset, read-only.</summary>
    public T? State { get; internal init; }

    /// <summary>Reads one of the [VersionKey] parameters, in their order.</summary>
    /// <exception cref="TangoFormatException">There are not so many, or it is of another type.</exception>
    public TValue ReadKey<TValue>(int index = 0) => CallArguments.ReadKey<TValue>(Key, index);

    /// <summary>Reads one of the parameters that are no [VersionKey], in their order.</summary>
    /// <exception cref="TangoFormatException">There are not so many, or it is of another type.</exception>
    public TValue ReadArgument<TValue>(int index = 0) => CallArguments.Read<TValue>(Arguments, index);
}
