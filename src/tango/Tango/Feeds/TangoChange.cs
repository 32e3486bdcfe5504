using Tango.Formatting;

namespace Tango;

/// <summary>What an element of a feed says.</summary>
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

/// <summary>One element of <see cref="TangoRuntime.ChangesAsync{T}(string, ChangePlace?, FeedOptions?,
/// CancellationToken)"/>.</summary>
public sealed class TangoChange<T>
    where T : TangoObject
{
    internal TangoChange(TangoChangeKind kind, ChangePlace place) => (Kind, Place) = (kind, place);

    public TangoChangeKind Kind { get; }

    /// <summary>What a reader keeps when it is done with the element, to resume behind it.</summary>
    public ChangePlace Place { get; }

    /// <summary>Of an update: the call's mutator.</summary>
    public MutatorInfo? Mutator { get; internal init; }

    /// <summary>Of an update in a transaction: its commit record. All its updates of the object follow each other.
    /// Null: the call was a plain update.</summary>
    public RecordVersion? Transaction { get; internal init; }

    /// <summary>Of an update: the [VersionKey] parameters, as they stand in the log.</summary>
    public ReadOnlyMemory<byte> Key { get; internal init; }

    /// <summary>Of an update: the other parameters, as they stand in the log.</summary>
    public ReadOnlyMemory<byte> Arguments { get; internal init; }

    /// <summary>Of an update: where the call stands.</summary>
    internal LogPlace At { get; init; }

    /// <summary>Of a reset: the object's state, read-only.</summary>
    public T? State { get; internal init; }

    /// <summary>One of the [VersionKey] parameters, in their order.</summary>
    /// <exception cref="TangoFormatException">There are not so many, or it is of another type.</exception>
    public TValue ReadKey<TValue>(int index = 0) => CallArguments.ReadKey<TValue>(Key, index);

    /// <summary>One of the parameters that are no [VersionKey], in their order.</summary>
    /// <exception cref="TangoFormatException">There are not so many, or it is of another type.</exception>
    public TValue ReadArgument<TValue>(int index = 0) => CallArguments.Read<TValue>(Arguments, index);
}
