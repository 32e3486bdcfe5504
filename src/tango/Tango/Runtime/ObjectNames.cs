namespace Tango.Runtime;

/// <summary>Names that the directory takes.</summary>
internal static class ObjectNames
{
    public static void Require(string name)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(name.Length, TangoDirectory.MaxNameLength, nameof(name));
    }
}
