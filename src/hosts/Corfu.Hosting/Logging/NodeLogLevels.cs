using System.Collections.Concurrent;

namespace Corfu.Hosting;

/// <summary>Which events of a process are logged. The levels may change while it runs.</summary>
internal sealed class NodeLogLevels(IReadOnlyDictionary<string, LogLevel> levels)
{
    // Replaced whole. The second is what categories were found to have.
    private volatile Rules _rules = new(levels);

    public void Replace(IReadOnlyDictionary<string, LogLevel> newer) => _rules = new Rules(newer);

    public bool Allows(string? category, LogLevel level) => level >= _rules.Of(category ?? "");

    private sealed class Rules(IReadOnlyDictionary<string, LogLevel> levels)
    {
        private readonly ConcurrentDictionary<string, LogLevel> _found = new(StringComparer.Ordinal);

        public LogLevel Of(string category) => _found.GetOrAdd(category, Find);

        private LogLevel Find(string category)
        {
            var covering = levels.Keys.Where(name => Covers(name, category)).MaxBy(name => name.Length);
            return covering is null ? LogLevel.Information : levels[covering];
        }

        private static bool Covers(string name, string category) =>
            category.StartsWith(name, StringComparison.Ordinal)
            && (category.Length == name.Length || category[name.Length] == '.');
    }
}
