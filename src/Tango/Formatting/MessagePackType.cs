namespace Tango.Formatting;

/// <summary>The kind of the next value in the input.</summary>
public enum MessagePackType
{
    Nil = 0,
    Boolean = 1,
    Integer = 2,
    Float = 3,
    String = 4,
    Binary = 5,
    Array = 6,
    Map = 7,
    Extension = 8,

    /// <summary>0xc1, which the format never uses.</summary>
    Invalid = 9,
}
