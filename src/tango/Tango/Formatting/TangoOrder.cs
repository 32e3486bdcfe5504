using System.Collections;
using System.Runtime.CompilerServices;

namespace Tango.Formatting;

/// <summary>
/// The order to give to sorted collections in replicated state: ordinal for strings, also in tuples, else the type's
/// own. <c>Comparer&lt;string&gt;.Default</c> follows the culture of the process, so two replicas could order, or
/// even identify, keys differently.
/// </summary>
public static class TangoOrder<T>
{
    public static IComparer<T> Comparer { get; } =
        typeof(T) == typeof(string) ? (IComparer<T>)(object)StringComparer.Ordinal
        : typeof(ITuple).IsAssignableFrom(Nullable.GetUnderlyingType(typeof(T)) ?? typeof(T)) ? new TupleOrder()
        : Comparer<T>.Default;

    // A tuple's own CompareTo gives its strings to their default comparer.
    private sealed class TupleOrder : IComparer<T>, IComparer
    {
        public int Compare(T? x, T? y) => Compare((object?)x, y);

        public int Compare(object? x, object? y) => (x, y) switch
        {
            (string left, string right) => string.CompareOrdinal(left, right),
            (IStructuralComparable left, not null) => left.CompareTo(y, this),
            _ => System.Collections.Comparer.Default.Compare(x, y),
        };
    }
}
