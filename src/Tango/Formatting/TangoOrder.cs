namespace Tango.Formatting;

/// <summary>
/// The order to give to sorted collections in replicated state: ordinal for strings, else the type's own.
/// <c>Comparer&lt;string&gt;.Default</c> follows the culture of the process, so two replicas could order, or even
/// identify, keys differently.
/// </summary>
public static class TangoOrder<T>
{
    public static IComparer<T> Comparer { get; } =
        typeof(T) == typeof(string) ? (IComparer<T>)(object)StringComparer.Ordinal : Comparer<T>.Default;
}
