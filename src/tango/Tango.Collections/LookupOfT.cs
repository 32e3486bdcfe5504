using System.Diagnostics.CodeAnalysis;

namespace Tango.Collections;

/// <summary>Result of a search: a value, or nothing. An async method has no out parameter, and null may be a
/// value.</summary>
[MessagePackObject]
public readonly record struct Lookup<T>([property: Key(0)] bool Found, [property: Key(1)] T? Value)
{
    public static Lookup<T> None => default;

    /// <summary>False if there was nothing.</summary>
    public bool TryGet([MaybeNullWhen(false)] out T value)
    {
        value = Value;
        return Found;
    }

    public override string ToString() => Found ? $"Found({Value})" : "None";
}
