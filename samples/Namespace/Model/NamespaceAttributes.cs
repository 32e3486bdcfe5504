using System.Collections.Immutable;

namespace NamespaceSample.Model;

/// <summary>Attributes of a file or directory: names and values, in ordinal order.</summary>
public static class NamespaceAttributes
{
    public static readonly ImmutableSortedDictionary<string, string> None =
        ImmutableSortedDictionary<string, string>.Empty.WithComparers(StringComparer.Ordinal);

    /// <param name="value">Null: it is removed.</param>
    public static ImmutableSortedDictionary<string, string> With(
        ImmutableSortedDictionary<string, string> attributes, string name, string? value) =>
        value is null ? attributes.Remove(name) : attributes.SetItem(name, value);
}
