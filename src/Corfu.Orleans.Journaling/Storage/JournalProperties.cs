using System.Collections.Immutable;

namespace Corfu.Orleans.Journaling.Storage;

/// <summary>A caller's properties of a journal.</summary>
internal static class JournalProperties
{
    public static readonly ImmutableSortedDictionary<string, string> None =
        ImmutableSortedDictionary.Create<string, string>(StringComparer.Ordinal);

    /// <exception cref="ArgumentException">A name or value is not allowed.</exception>
    public static ImmutableSortedDictionary<string, string> Of(IReadOnlyDictionary<string, string>? properties)
    {
        if (properties is null) return None;
        foreach (var (name, value) in properties)
        {
            Check(name);
            ArgumentNullException.ThrowIfNull(value);
        }

        return None.AddRange(properties);
    }

    // Orleans' rule: names that begin with $ are the providers'.
    private static void Check(string name)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(name);
        if (name.StartsWith('$') || name.Contains('\0', StringComparison.Ordinal))
            throw new ArgumentException($"'{name}' is no name for a property of a journal.", nameof(name));
    }

    /// <summary>Validated once, applied to whatever the journal has.</summary>
    public sealed class Change
    {
        private readonly ImmutableSortedDictionary<string, string> _set;
        private readonly ImmutableArray<string> _remove;

        /// <exception cref="ArgumentException">A name or value is not allowed, or is set and removed.</exception>
        public Change(IReadOnlyDictionary<string, string>? set, IEnumerable<string>? remove)
        {
            _set = Of(set);
            _remove = [.. remove ?? []];
            foreach (string name in _remove)
            {
                Check(name);
                if (_set.ContainsKey(name))
                    throw new ArgumentException($"Property '{name}' is both set and removed.", nameof(remove));
            }
        }

        public ImmutableSortedDictionary<string, string> On(ImmutableSortedDictionary<string, string> properties) =>
            properties.RemoveRange(_remove).SetItems(_set);
    }
}
