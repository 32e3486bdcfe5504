namespace Tango.Collections;

/// <summary>
/// The value comparer of dictionaries in views. An immutable dictionary does not store a value that its comparer calls
/// equal to the old one, and a user's Equals may look at an id only: the update would be lost.
/// </summary>
internal sealed class AlwaysDifferent<T> : IEqualityComparer<T>
{
    public static AlwaysDifferent<T> Instance { get; } = new();

    public bool Equals(T? x, T? y) => false;

    public int GetHashCode(T obj) => 0;
}
