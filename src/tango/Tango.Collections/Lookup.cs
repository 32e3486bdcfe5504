namespace Tango.Collections;

/// <summary>Makes <see cref="Lookup{T}"/> values.</summary>
public static class Lookup
{
    public static Lookup<T> Of<T>(T value) => new(true, value);
}
