namespace Tango.Formatting;

/// <summary>Writes and reads values of one type in the MessagePack format.</summary>
/// <remarks>
/// A formatter must be deterministic: the same value gives the same bytes in every process, and the same bytes give
/// equal values. It holds no state besides the formatters of its parts and is called from many threads at once.
/// </remarks>
public interface ITangoFormatter<T>
{
    /// <summary>Writes exactly one MessagePack value; a null is written as nil.</summary>
    void Write(ref MessagePackWriter writer, T value);

    /// <summary>Reads exactly one MessagePack value.</summary>
    /// <exception cref="TangoFormatException">The bytes are not what <see cref="Write"/> writes.</exception>
    T Read(ref MessagePackReader reader);

    /// <summary>
    /// True when values that are equal (<see cref="object.Equals(object)"/>) always have equal bytes, so that the bytes
    /// can stand for the value in the version table of an object (R18). False for <c>decimal</c>, <c>double</c>,
    /// <c>DateTimeOffset</c>, arrays and collections: 1.0m and 1.00m are equal but written differently, and a conflict
    /// between them would be missed.
    /// </summary>
    bool IsVersionKey => false;

    /// <summary>
    /// Called once by <see cref="TangoFormatters"/> before the first use, to fetch the formatters of the parts. A
    /// recursive type meets itself here, so a constructor must not do it.
    /// </summary>
    void Resolve()
    {
    }
}
