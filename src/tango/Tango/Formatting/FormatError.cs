namespace Tango.Formatting;

/// <summary>Fault of the bytes or the value.</summary>
public enum FormatError
{
    /// <summary>The input ends inside a value, or a length field claims more than there is.</summary>
    UnexpectedEnd = 1,

    /// <summary>The next value is of another MessagePack type.</summary>
    WrongType = 2,

    /// <summary>A number, date or count does not fit the type asked for.</summary>
    OutOfRange = 3,

    /// <summary>Nested deeper than <see cref="TangoFormatters.MaxDepth"/>.</summary>
    TooDeep = 4,

    /// <summary>The bytes have the right type but no meaning (bad UTF-8, duplicate key, malformed text of a
    /// GUID...).</summary>
    Invalid = 6,

    /// <summary>No formatter is known for a type.</summary>
    NoFormatter = 7,

    /// <summary>A type cannot be a version key.</summary>
    NotAKey = 8,
}
