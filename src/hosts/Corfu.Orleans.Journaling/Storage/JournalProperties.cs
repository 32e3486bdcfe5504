using System.Collections.Immutable;

namespace Corfu.Orleans.Journaling.Storage;

/// <summary>A caller's properties of a journal, sorted by name.</summary>
internal static class JournalProperties
{
    /// <exception cref="ArgumentException">A name or value is not allowed.</exception>
    public static ImmutableArray<JournalProperty> Of(IReadOnlyDictionary<string, string>? properties)
    {
        foreach (var (name, value) in properties ?? ImmutableDictionary<string, string>.Empty)
        {
            Check(name);
            ArgumentNullException.ThrowIfNull(value);
        }

        return Sort((properties ?? ImmutableDictionary<string, string>.Empty)
            .Select(static property => new JournalProperty(property.Key, property.Value)));
    }

    /// <exception cref="ArgumentException">A name is not allowed, or is set and removed.</exception>
    public static ImmutableArray<string> Removed(IEnumerable<string>? names, ImmutableArray<JournalProperty> set)
    {
        ImmutableArray<string> removed = [.. names ?? []];
        foreach (string name in removed)
        {
            Check(name);
            if (set.Any(property => property.Name == name))
                throw new ArgumentException($"Property '{name}' is both set and removed.", nameof(names));
        }

        return removed;
    }

    public static ImmutableArray<JournalProperty> Change(
        ImmutableArray<JournalProperty> properties, ImmutableArray<JournalProperty> set, ImmutableArray<string> remove)
    {
        var gone = remove.Concat(set.Select(static property => property.Name)).ToHashSet(StringComparer.Ordinal);
        return Sort(properties.Where(property => !gone.Contains(property.Name)).Concat(set));
    }

    private static ImmutableArray<JournalProperty> Sort(IEnumerable<JournalProperty> properties) =>
        [.. properties.OrderBy(static property => property.Name, StringComparer.Ordinal)];

    // Orleans' rule: names that begin with $ are the providers'.
    private static void Check(string name)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(name);
        if (name.StartsWith('$') || name.Contains('\0', StringComparison.Ordinal))
            throw new ArgumentException($"'{name}' is no name for a property of a journal.", nameof(name));
    }
}
