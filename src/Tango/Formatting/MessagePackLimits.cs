namespace Tango.Formatting;

/// <summary>Bounds on what a reader accepts. What is read is never trusted: a log can be damaged or written by another
/// program.</summary>
public sealed record MessagePackLimits
{
    public static MessagePackLimits Default { get; } = new();

    /// <summary>Nesting of arrays, maps and generated types; default 64. Formatters recurse, so this bounds the
    /// stack.</summary>
    public int MaxDepth { get; init; } = 64;

    /// <summary>Bytes of one string or binary value; default 64 MiB.</summary>
    public int MaxBytes { get; init; } = 64 * 1024 * 1024;

    /// <summary>Elements of one array or map; default 16 Mi. A count is also refused when the input left is too short
    /// to hold it.</summary>
    public int MaxCount { get; init; } = 16 * 1024 * 1024;
}
